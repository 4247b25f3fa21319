"""Watches: what waits for values at one place, by kind of test.

Equality is a hash table, thresholds are sorted, so that those that a number passes are a slice, and `contains` waits
under one piece of its text. Entries are numbers.
"""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from triplewire.algebra.xpath.conditions import ABOVE, BELOW, CONTAINS, EQUAL, EXISTS, SAME, Condition

Entries: TypeAlias = "array[int]"
"""Numbers of entries."""

GRAM = 4
_NEAR = 1e-12
"""libxml2 reads decimals by an arithmetic of its own, which may be off by some units in the last place: what is nearer
to a threshold than this, in proportion, is left to it."""
_NUMBER = re.compile(r"[ \t\r\n]*(-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(?:[eE][-+]?)?[ \t\r\n]*\Z")


def no_entries() -> Entries:
    """An empty list of entries."""
    return array("q")


def number_of(text: str) -> float | None:
    """The number that a text is for XPath, None if it is none.

    libxml2 takes an exponent too, which XPath does not: it decides, so it is followed here.
    """
    found = _NUMBER.match(text)
    return float(found[1]) if found else None


class Thresholds:
    """Entries that wait for a number above theirs; negated numbers make them those that wait for one below."""

    __slots__ = ("_entries", "_keys", "_new")

    def __init__(self) -> None:
        self._keys, self._entries = array("d"), no_entries()
        self._new: list[tuple[float, int]] = []

    def add(self, number: float, is_inclusive: bool, entry: int) -> None:
        """Wait for a number above this one, or this one too."""
        self._new.append((_key(number, is_inclusive), entry))

    def remove(self, number: float, is_inclusive: bool, entry: int) -> None:
        """Wait no more."""
        self._settle()
        key = _key(number, is_inclusive)
        at = self._entries.index(entry, bisect_left(self._keys, key))
        del self._keys[at], self._entries[at]

    def _settle(self) -> None:
        """Sort new ones in: one by one if they are few."""
        new, self._new = self._new, []
        if len(new) < 16:
            for key, entry in new:
                at = bisect_right(self._keys, key)
                self._keys.insert(at, key)
                self._entries.insert(at, entry)
        else:
            both = sorted([*zip(self._keys, self._entries, strict=True), *new])
            self._keys = array("d", [key for key, _ in both])
            self._entries = array("q", [entry for _, entry in both])

    def passed(self, number: float) -> tuple[Entries, Entries]:
        """Those that a number is above, for sure; and those that are too near to it to say."""
        if self._new:
            self._settle()
        near = abs(number) * _NEAR + 5e-324 if math.isfinite(number) else 0.0
        sure, all_ = bisect_left(self._keys, number - near), bisect_right(self._keys, number + near)
        return self._entries[:sure], self._entries[sure:all_]

    def __len__(self) -> int:
        return len(self._keys) + len(self._new)


def _key(number: float, is_inclusive: bool) -> float:
    return math.nextafter(number, -math.inf) if is_inclusive else number


class Watch:
    """What waits at one place."""

    __slots__ = ("above", "below", "equal", "exists", "grams", "pieces", "same", "short")

    def __init__(self) -> None:
        self.exists = no_entries()
        self.equal: dict[str, Entries] = {}
        self.above, self.below = Thresholds(), Thresholds()
        self.same: dict[float, Entries] = {}
        """By the number, rounded to what is surely told apart."""
        self.pieces: dict[int, str] = {}
        self.grams: dict[str, list[int]] = {}
        self.short: list[int] = []

    def add(self, condition: Condition, entry: int) -> bool:
        """Wait for a condition; True if this changes what must be looked at in a document."""
        was = self.kinds
        kind, value = condition.kind, condition.value
        if kind == EXISTS:
            self.exists.append(entry)
            return True
        if isinstance(value, str):
            if kind == EQUAL:
                self.equal.setdefault(value, no_entries()).append(entry)
            else:
                self._add_piece(value, entry)
        elif kind == SAME:
            self.same.setdefault(_rounded(value), no_entries()).append(entry)
        elif kind == ABOVE:
            self.above.add(value, condition.is_inclusive, entry)
        else:
            self.below.add(-value, condition.is_inclusive, entry)
        return was != self.kinds

    def remove(self, condition: Condition, entry: int) -> bool:
        """Wait no more; True if this changes what must be looked at in a document."""
        was = self.kinds
        kind, value = condition.kind, condition.value
        if kind == EXISTS:
            self.exists.remove(entry)
            return True
        if isinstance(value, str):
            if kind == EQUAL:
                _drop(self.equal, value, entry)
            else:
                self._remove_piece(value, entry)
        elif kind == SAME:
            _drop(self.same, _rounded(value), entry)
        elif kind == ABOVE:
            self.above.remove(value, condition.is_inclusive, entry)
        else:
            self.below.remove(-value, condition.is_inclusive, entry)
        return was != self.kinds

    @property
    def kinds(self) -> tuple[bool, bool, bool]:
        """Whether texts, numbers and pieces of texts must be looked at."""
        return bool(self.equal), bool(self.same or len(self.above) or len(self.below)), bool(self.pieces)

    @property
    def is_empty(self) -> bool:
        """True if nothing waits."""
        return not self.exists and not any(self.kinds)

    def count(self, condition: Condition) -> int:
        """How many wait by the same kind of test: fewer is better to wait with."""
        if condition.kind == EQUAL:
            return len(self.equal.get(str(condition.value), ()))
        if condition.kind == SAME:
            return len(self.same.get(_rounded(float(condition.value)), ()))
        if condition.kind == CONTAINS:
            return len(self.grams.get(str(condition.value)[:GRAM], ()))
        return len(self.exists) + len(self.above) + len(self.below)

    # -- pieces of text

    def _add_piece(self, piece: str, entry: int) -> None:
        self.pieces[entry] = piece
        if len(piece) < GRAM:
            self.short.append(entry)
        else:
            self.grams.setdefault(self._gram(piece), []).append(entry)

    def _remove_piece(self, piece: str, entry: int) -> None:
        del self.pieces[entry]
        if len(piece) < GRAM:
            self.short.remove(entry)
            return
        for gram in _grams(piece):
            if entry in self.grams.get(gram, ()):
                self.grams[gram].remove(entry)
                if not self.grams[gram]:
                    del self.grams[gram]
                return

    def _gram(self, piece: str) -> str:
        """The gram under which the fewest others wait."""
        return min(_grams(piece), key=lambda gram: len(self.grams.get(gram, ())))

    def contained_in(self, text: str) -> Iterator[int]:
        """The entries whose piece is in a text."""
        pieces, grams = self.pieces, self.grams
        waiting: Iterable[int] = self.short
        if len(text) < len(grams):
            waiting = [*self.short, *(e for gram in set(_grams(text)) for e in grams.get(gram, ()))]
        else:
            waiting = [*self.short, *(e for gram, entries in grams.items() if gram in text for e in entries)]
        return (entry for entry in waiting if pieces[entry] in text)

    def near(self, number: float) -> Entries:
        """The entries that ask for a number, and may mean this one."""
        found = no_entries()
        rounded = _rounded(number)
        for key in {rounded, _rounded(number * (1 + _NEAR)), _rounded(number * (1 - _NEAR))}:
            found += self.same.get(key, no_entries())
        return found


def _grams(text: str) -> list[str]:
    return [text[i : i + GRAM] for i in range(len(text) - GRAM + 1)]


def _rounded(number: float) -> float:
    """Twelve digits that count."""
    return float(f"{number:.11e}")


def _drop(table: dict[str, Entries] | dict[float, Entries], key: object, entry: int) -> None:
    entries = table[key]  # type: ignore[index]  # of the table's own kind
    entries.remove(entry)
    if not entries:
        del table[key]  # type: ignore[arg-type]
