"""Watches: what waits for values where elements of a document are, by kind of test.

Equality is a hash table, thresholds are sorted, so that those that a number passes are a slice, and `contains` waits
under one gram of its text. Entries are numbers.
"""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from triplewire.algebra.xpath.conditions import ABOVE, EQUAL, EXISTS, SAME, Condition

Entries: TypeAlias = "array[int]"
"""Numbers of entries."""

_NEAR = 1e-12
"""libxml2 reads decimals by an arithmetic of its own, which may be off by some units in the last place: what is nearer
to a threshold than this, in proportion, is left to it."""
_NUMBER = re.compile(r"[ \t\r\n]*(-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(?:[eE][-+]?)?[ \t\r\n]*\Z")


class Part:
    """A part of a list of entries: not copied, so good only until the list changes."""

    __slots__ = ("_end", "_entries", "_start")

    def __init__(self, entries: Entries, start: int, end: int) -> None:
        self._entries, self._start, self._end = entries, start, end

    def __iter__(self) -> Iterator[int]:
        return iter(self._entries[self._start : self._end])

    def __len__(self) -> int:
        return self._end - self._start


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

    def passed(self, number: float) -> tuple[Part, Part]:
        """Those that a number is above, for sure; and those that are too near to it to say."""
        if self._new:
            self._settle()
        near = abs(number) * _NEAR + 5e-324 if math.isfinite(number) else 0.0
        sure, all_ = bisect_left(self._keys, number - near), bisect_right(self._keys, number + near)
        return Part(self._entries, 0, sure), Part(self._entries, sure, all_)

    @property
    def first(self) -> float:
        """The threshold that is passed first."""
        if self._new:
            self._settle()
        return self._keys[0] if self._keys else math.inf

    def __len__(self) -> int:
        return len(self._keys) + len(self._new)


def _key(number: float, is_inclusive: bool) -> float:
    return math.nextafter(number, -math.inf) if is_inclusive else number


class Watch:
    """What waits for values, of one kind of entries: the sure ones, or those that must be verified."""

    __slots__ = ("above", "below", "equal", "exists", "grams", "has_numbers", "pieces", "same", "short")

    def __init__(self) -> None:
        self.exists = no_entries()
        self.equal: dict[str, Entries] = {}
        self.above, self.below = Thresholds(), Thresholds()
        self.same: dict[float, Entries] = {}
        """By the number, rounded to what is surely told apart."""
        self.has_numbers = False
        self.pieces: dict[int, str] = {}
        self.grams: dict[int, list[int]] = {}
        self.short: list[int] = []

    @property
    def has_values(self) -> bool:
        """True if a value must be looked at."""
        return bool(self.equal or self.pieces or self.has_numbers)

    def add(self, condition: Condition, entry: int) -> None:
        """Wait for a condition."""
        kind, value = condition.kind, condition.value
        if kind == EXISTS:
            self.exists.append(entry)
        elif isinstance(value, str):
            if kind == EQUAL:
                self.equal.setdefault(value, no_entries()).append(entry)
            else:
                self._add_piece(value, entry, condition.gram)
        else:
            self.has_numbers = True
            if kind == SAME:
                self.same.setdefault(_rounded(value), no_entries()).append(entry)
            elif kind == ABOVE:
                self.above.add(value, condition.is_inclusive, entry)
            else:
                self.below.add(-value, condition.is_inclusive, entry)

    def remove(self, condition: Condition, entry: int) -> None:
        """Wait no more."""
        kind, value = condition.kind, condition.value
        if kind == EXISTS:
            self.exists.remove(entry)
        elif isinstance(value, str):
            if kind == EQUAL:
                _drop(self.equal, value, entry)
            else:
                self._remove_piece(entry, condition.gram)
        else:
            if kind == SAME:
                _drop(self.same, _rounded(value), entry)
            elif kind == ABOVE:
                self.above.remove(value, condition.is_inclusive, entry)
            else:
                self.below.remove(-value, condition.is_inclusive, entry)
            self.has_numbers = bool(self.same or len(self.above) or len(self.below))

    def _add_piece(self, piece: str, entry: int, gram: int | None) -> None:
        self.pieces[entry] = piece
        if gram is None:
            self.short.append(entry)
        else:
            self.grams.setdefault(gram, []).append(entry)

    def _remove_piece(self, entry: int, gram: int | None) -> None:
        del self.pieces[entry]
        if gram is None:
            self.short.remove(entry)
        else:
            self.grams[gram].remove(entry)
            if not self.grams[gram]:
                del self.grams[gram]

    def contained_in(self, text: str, grams: Iterable[int]) -> list[int]:
        """The entries whose piece is in a text; these grams hold all of it that some entry waits under."""
        pieces, waiting = self.pieces, self.grams
        found = [entry for entry in self.short if pieces[entry] in text] if self.short else []
        for gram in set(grams):
            if gram in waiting:
                found += [entry for entry in waiting[gram] if pieces[entry] in text]
        return found

    def near(self, number: float) -> Entries:
        """The entries that ask for a number, and may mean this one."""
        found = no_entries()
        for key in {_rounded(number), _rounded(number * (1 + _NEAR)), _rounded(number * (1 - _NEAR))}:
            found += self.same.get(key, no_entries())
        return found

    def everything(self) -> Iterator[int]:
        """All entries that wait for a value."""
        for entries in (*self.equal.values(), *self.same.values(), self.pieces):
            yield from entries
        for thresholds in (self.above, self.below):
            for part in thresholds.passed(math.inf):
                yield from part


def _rounded(number: float) -> float:
    """Twelve digits that count."""
    return float(f"{number:.11e}")


def _drop(table: dict[str, Entries] | dict[float, Entries], key: object, entry: int) -> None:
    entries = table[key]  # type: ignore[index]  # of the table's own kind
    entries.remove(entry)
    if not entries:
        del table[key]  # type: ignore[arg-type]
