"""Watches: what waits for values where elements of a document are, by kind of test.

Equality is a hash table, thresholds are sorted, so that those that a number passes are a slice, and `contains` waits
under one gram of its text. Entries are numbers.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from typing import TypeAlias

from triplewire.algebra.xpath.conditions import ABOVE, EQUAL, EXISTS, SAME, Condition
from triplewire.algebra.xpath.numbers import NEAR

Entries: TypeAlias = "array[int]"
"""Numbers of entries."""


_LEAST = 1e-300
"""Numbers nearer to zero are not even known nearly."""


class EntryPart:
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

    def passed(self, number: float) -> EntryPart:
        """The entries whose threshold is below a number."""
        if self._new:
            self._settle()
        return EntryPart(self._entries, 0, bisect_left(self._keys, number))

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

    __slots__ = ("above", "alike", "below", "equal", "exists", "grams", "has_numbers", "pieces", "same", "short")

    def __init__(self) -> None:
        self.exists = no_entries()
        self.equal: dict[str, Entries] = {}
        self.above, self.below = Thresholds(), Thresholds()
        self.same: dict[float, Entries] = {}
        self.alike: dict[float, set[float]] = {}
        """The numbers of `same`, by what they are when they are rounded."""
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
                self.same.setdefault(value, no_entries()).append(entry)
                self.alike.setdefault(_rounded(value), set()).add(value)
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
                _drop(self.same, value, entry)
                if value not in self.same:
                    self.alike[_rounded(value)].discard(value)
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

    def contained_in(self, text: str, grams: Collection[int]) -> Entries:
        """The entries whose piece is in a text; these grams hold all of it that some entry waits under."""
        pieces, waiting = self.pieces, self.grams
        found = array("q", [entry for entry in self.short if pieces[entry] in text])
        for gram in waiting.keys() & grams if len(grams) > 1 else grams:
            found.extend(entry for entry in waiting.get(gram, ()) if pieces[entry] in text)
        return found

    def near(self, number: float) -> Iterator[Entries | EntryPart]:
        """The entries that wait for a number, and may get it from one that is known only nearly."""
        slack = abs(number) * NEAR + _LEAST
        lower, upper = number - slack, number + slack
        yield self.above.passed(upper)
        yield self.below.passed(-lower)
        for key in {_rounded(number), _rounded(lower), _rounded(upper)}:
            for value in self.alike.get(key, ()):
                yield self.same[value]

    def everything(self) -> Iterator[int]:
        """All entries that wait for a value."""
        for entries in (*self.equal.values(), *self.same.values(), self.pieces):
            yield from entries
        for thresholds in (self.above, self.below):
            yield from thresholds.passed(math.inf)


def _rounded(number: float) -> float:
    return float(f"{number:.11e}")


def _drop(table: dict[str, Entries] | dict[float, Entries], key: object, entry: int) -> None:
    entries = table[key]  # type: ignore[index]  # of the table's own kind
    entries.remove(entry)
    if not entries:
        del table[key]  # type: ignore[arg-type]
