"""Triples in flat sorted arrays: what gathering asks of a graph that is whole and does not change.

Two orders of the same triples, each as three columns of numbers: by subject, predicate, object; and by predicate,
object, subject. Every question is a beginning of one of them, found by binary search. The arrays may lie in files
that are mapped into memory, so that many processes on one machine have them once, and one that looks at a few
triples reads a few pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from triplewire.matching.incremental.fans import Fan, Piece
from triplewire.matching.incremental.lookups import Key, Triple
from triplewire.matching.incremental.plans import FORWARD, SCAN
from triplewire.matching.kernel.compiled import Array, compiled

_NONE = np.zeros(0, dtype=np.int64)


class Columns(NamedTuple):
    """Rows of three numbers in ascending order, by column."""

    first: Array
    second: Array
    third: Array

    def ranges(self, keys: Sequence[Sequence[int]], width: int) -> Array:
        """For each key of `width` numbers the first row that begins with it, and the one after the last."""
        found = np.zeros((len(keys), 2), dtype=np.int64)
        if keys:
            find_ranges(*self, np.array(keys, dtype=np.int64).reshape(len(keys), width), width, found)
        return found

    def rows(self, ranges: Array) -> list[list[tuple[int, int, int]]]:
        """The rows of each range."""
        sizes = ranges[:, 1] - ranges[:, 0]
        ends = np.cumsum(sizes)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(ranges[:, 0] - ends + sizes, sizes)
        rows = list(zip(*(column[places].tolist() for column in self), strict=True))
        return [rows[end - size : end] for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)]


@dataclass(frozen=True, slots=True)
class Numbering:
    """A way to number texts by a digest, without a table: `salt` tells ways apart, `bits` is how long numbers are.

    A job that numbers terms on many machines would have to sort and join them for numbers in a row. A digest is known
    where the text is. Two texts may have one number, if hardly ever (a hundred million terms: one chance in two
    thousand), so the job that makes a table of texts looks for that and, if it is so, begins again with another salt.
    """

    salt: int = 0
    bits: int = 63

    def number(self, text: str) -> int:
        """The number of a text; never 0, which is no term."""
        digest = blake2b(text.encode(), digest_size=8, salt=self.salt.to_bytes(8, "little")).digest()
        return int.from_bytes(digest, "little") >> (64 - self.bits) or 1

    def next(self) -> Numbering:
        """Another way to number them."""
        return Numbering(self.salt + 1, self.bits)


FIRST = Numbering()
"""The way that is tried first."""


class Numbers(dict[str, int]):
    """The numbers of texts, each digested once."""

    def __init__(self, numbering: Numbering) -> None:
        super().__init__()
        self._digest = numbering.number

    def __missing__(self, text: str) -> int:
        number = self[text] = self._digest(text)
        return number


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of terms by their numbers, which ascend; text `i` is `text[starts[i]:starts[i + 1]]`."""

    numbers: Array
    starts: Array
    text: Array
    numbering: Numbering

    def of(self, numbers: Sequence[int]) -> list[str]:
        """The texts of numbers that are there."""
        places = np.searchsorted(self.numbers, np.array(numbers, dtype=np.int64))
        starts, ends = self.starts[places].tolist(), self.starts[places + 1].tolist()
        return [self.text[start:end].tobytes().decode() for start, end in zip(starts, ends, strict=True)]

    def find(self, texts: Sequence[str]) -> list[int]:
        """The numbers of texts, 0 for one that is not there, even if one that is has the same number."""
        numbers = np.array([self.numbering.number(text) for text in texts], dtype=np.int64)
        places = np.searchsorted(self.numbers, numbers)
        known = [i for i, place in enumerate(places) if place < len(self.numbers) and self.numbers[place] == numbers[i]]
        found = [0] * len(texts)
        for i, text in zip(known, self.of(numbers[known].tolist()), strict=True):
            if text == texts[i]:
                found[i] = int(numbers[i])
        return found


class NumberLists(NamedTuple):
    """Lists of numbers, one after the other: list `i` is `values[starts[i]:starts[i + 1]]`."""

    starts: Array
    values: Array

    def __call__(self, number: int) -> list[int]:
        """The list of this number."""
        return self.values[self.starts[number] : self.starts[number + 1]].tolist()

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> NumberLists:
        """These lists."""
        values = np.array([number for one in lists for number in one], dtype=np.int64)
        return cls(_starts([len(one) for one in lists]), values)


class FlatTriples:
    """Answers the `Lookups` of gathering."""

    def __init__(self, by_subject: Columns, by_predicate: Columns, texts: Texts, stating: NumberLists) -> None:
        """`by_subject` has columns subject, predicate, object; `by_predicate` has predicate, object, subject.

        `stating` are the documents that state each triple of `by_subject`.
        """
        self._spo, self._pos, self._stating = by_subject, by_predicate, stating
        self.texts = texts
        self._predicates = _distinct(by_predicate.first)

    def __len__(self) -> int:
        """How many triples there are."""
        return len(self._spo.first)

    def terms(self, texts: Sequence[str]) -> list[int]:
        """The numbers of terms, 0 for one that is not known."""
        return self.texts.find(texts)

    def spelled(self, numbers: Sequence[int]) -> list[str]:
        """The texts of terms that are there."""
        return self.texts.of(numbers)

    def forward(self, keys: Sequence[Key]) -> list[list[Triple]]:
        """The triples of each (subject, predicate)."""
        return self._spo.rows(self._forward(keys))

    def backward(self, keys: Sequence[Key]) -> list[list[Triple]]:
        """The triples of each (predicate, object); without a predicate it costs a search for each one in use."""
        expanded = self._expanded(keys)
        found = iter(self._turned(self._pos.ranges([key for some in expanded for key in some], 2)))
        return [[triple for _ in some for triple in next(found)] for some in expanded]

    def scan(self, predicates: Sequence[int]) -> list[list[Triple]]:
        """The triples of each predicate."""
        return self._turned(self._scanned(predicates))

    def present(self, triples: Sequence[Triple]) -> list[bool]:
        """Which of the triples there are."""
        ranges = self._spo.ranges(triples, 3)
        return (ranges[:, 1] > ranges[:, 0]).tolist()

    def fanouts(self, keys: Sequence[Key], most: int) -> list[int]:
        """How many triples each (subject, predicate) has, up to `most`."""
        return _sizes(self._forward(keys), most)

    def degrees(self, keys: Sequence[Key], most: int) -> list[int]:
        """How many triples each (predicate, object) has, up to `most`; with object 0, how many the predicate has."""
        scanned = [i for i, key in enumerate(keys) if not key[1]]
        counted = dict(zip(scanned, _sizes(self._scanned([keys[i][0] for i in scanned]), most), strict=True))
        expanded = self._expanded([key for key in keys if key[1]])
        sizes = iter(_sizes(self._pos.ranges([key for some in expanded for key in some], 2), most))
        others = iter([min(most, sum(next(sizes) for _ in some)) for some in expanded])
        return [counted[i] if i in counted else next(others) for i in range(len(keys))]

    def size(self, fan: Fan) -> int:
        """How many triples a fan has."""
        _, ranges = self._ranges(fan)
        return int((ranges[:, 1] - ranges[:, 0]).sum())

    def piece(self, piece: Piece) -> list[Triple]:
        """The triples of a piece of a fan: those in its part of the fan's places."""
        fan, number, of = piece
        columns, ranges = self._ranges(fan)
        ends = np.cumsum(ranges[:, 1] - ranges[:, 0])
        total = int(ends[-1]) if len(ends) else 0
        first, last = total * number // of, total * (number + 1) // of
        shift = ranges[:, 1] - ends
        cut = np.column_stack([np.maximum(ranges[:, 0], first + shift), np.minimum(ranges[:, 1], last + shift)])
        cut = cut[cut[:, 1] > cut[:, 0]]
        found = self._turned(cut) if columns is self._pos else columns.rows(cut)
        return [triple for some in found for triple in some]

    def _ranges(self, fan: Fan) -> tuple[Columns, Array]:
        key = (fan.key[0], fan.key[1])
        if fan.kind == FORWARD:
            return self._spo, self._forward([key])
        if fan.kind == SCAN:
            return self._pos, self._scanned([key[0]])
        return self._pos, self._pos.ranges(self._expanded([key])[0], 2)

    def documents(self, triples: Sequence[Triple], most: int) -> list[list[int]]:
        """The numbers of documents that state each of these triples, at most so many."""
        places = self._spo.ranges(triples, 3)[:, 0]
        starts = self._stating.starts[places]
        ends = np.minimum(self._stating.starts[places + 1], starts + most)
        ranges = zip(starts.tolist(), ends.tolist(), strict=True)
        return [self._stating.values[start:end].tolist() for start, end in ranges]

    def _forward(self, keys: Sequence[Key]) -> Array:
        ranges = np.zeros((len(keys), 2), dtype=np.int64)
        for width in (1, 2):
            places = [i for i, key in enumerate(keys) if bool(key[1]) == (width == 2)]
            ranges[places] = self._spo.ranges([keys[i][:width] for i in places], width)
        return ranges

    def _scanned(self, predicates: Sequence[int]) -> Array:
        ranges = self._pos.ranges([(predicate,) for predicate in predicates], 1)
        for i, predicate in enumerate(predicates):
            if not predicate:
                ranges[i] = 0, len(self)
        return ranges

    def _expanded(self, keys: Sequence[Key]) -> list[list[Key]]:
        return [[key] if key[0] else [(predicate, key[1]) for predicate in self._predicates] for key in keys]

    def _turned(self, ranges: Array) -> list[list[Triple]]:
        """The rows of ranges of (p, o, s) as triples."""
        return [[(s, p, o) for p, o, s in rows] for rows in self._pos.rows(ranges)]


def _distinct(column: Array) -> list[int]:
    """The values of a sorted column; found by leaps, because a few values fill millions of rows."""
    found, at = [], 0
    while at < len(column):
        found.append(int(column[at]))
        at = int(np.searchsorted(column, column[at], side="right"))
    return found


def _sizes(ranges: Array, most: int) -> list[int]:
    return np.minimum(ranges[:, 1] - ranges[:, 0], most).tolist()


def flat_triples(
    statements: Mapping[tuple[str, str, str], Iterable[str]], numbering: Numbering, also: Iterable[str] = ()
) -> FlatTriples:
    """Triples in memory, from their spellings and the uris of the documents that state each.

    `also` are terms that need a number though no triple has them.
    """
    texts = {text for triple, uris in statements.items() for text in (*triple, *uris)} | set(also)
    numbers = {text: numbering.number(text) for text in texts}
    ordered = sorted(texts, key=numbers.__getitem__)
    encoded = [text.encode() for text in ordered]
    stated = sorted(
        (tuple(map(numbers.__getitem__, t)), sorted({numbers[u] for u in us})) for t, us in statements.items()
    )
    by_subject = _columns([triple for triple, _ in stated])
    by_predicate = _columns(sorted((p, o, s) for (s, p, o), _ in stated))
    return FlatTriples(
        by_subject,
        by_predicate,
        Texts(
            np.array([numbers[text] for text in ordered], dtype=np.int64),
            _starts([len(text) for text in encoded]),
            np.frombuffer(b"".join(encoded), dtype=np.uint8),
            numbering,
        ),
        NumberLists.of([uris for _, uris in stated]),
    )


def _columns(rows: Sequence[tuple[int, ...]]) -> Columns:
    if not rows:
        return Columns(_NONE, _NONE, _NONE)
    array = np.array(rows, dtype=np.int64)
    return Columns(*(np.ascontiguousarray(array[:, place]) for place in range(3)))


def _starts(sizes: Sequence[int]) -> Array:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


@compiled
def find_ranges(first: Array, second: Array, third: Array, keys: Array, width: int, ranges: Array) -> None:
    """Write the first row of each key and the row after its last; a key is `width` values of the columns, in order."""
    for number in range(keys.shape[0]):
        low = 0
        for side in range(2):  # the first row that is not before the key, then the first that is behind it
            high = first.size
            while low < high:
                middle = (low + high) >> 1
                order = 0
                for place in range(width):
                    if place == 0:
                        value = first[middle]
                    elif place == 1:
                        value = second[middle]
                    else:
                        value = third[middle]
                    if value != keys[number, place]:
                        order = -1 if value < keys[number, place] else 1
                        break
                if order < side:
                    low = middle + 1
                else:
                    high = middle
            ranges[number, side] = low
