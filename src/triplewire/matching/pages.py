"""Pages: documents of terms that have numbers, and what is found in them, by these numbers.

An engine that keeps its metadata by numbers gathers triples of it, and wants rows and derivations by numbers again,
thousands at a time. So they are read as arrays, where `findings` spells out one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from triplewire.matching.findings import MatchTables
from triplewire.matching.kernel.compiled import Array
from triplewire.matching.layout import EMISSION
from triplewire.matching.matches import Matches
from triplewire.matching.registry import Registry
from triplewire.model import Document

Numbers = tuple[int, int, int]
"""A triple, by the numbers of its terms."""

Terms = tuple[int, ...]
"""A row, by the numbers of its terms; 0 where there is no value."""


class NumberedPage(NamedTuple):
    """A document of terms that have numbers: where each of them begins, in order, which it is; how to number others.

    Its lines are in an order of their own: those of a subject together, and of these those of a predicate.
    """

    document: Document
    starts: Array
    numbers: Array
    number: Callable[[str], int]


class Numbered(NamedTuple):
    """A finding by numbers: the subscription's id, its row, one derivation."""

    subscription: str
    row: Terms
    triples: tuple[Numbers, ...]


def page_of(
    triples: Collection[Numbers], spelled: Callable[[Sequence[int]], Sequence[str]], number: Callable[[str], int]
) -> NumberedPage:
    """Write triples down as a document; `spelled` gives the texts of their terms."""
    ordered, terms = sorted(triples), list({term for triple in triples for term in triple})
    texts = dict(zip(terms, spelled(terms), strict=True))
    text = "".join([f"{texts[s]} {texts[p]} {texts[o]} .\n" for s, p, o in ordered])
    long = {term: len(spelled) if spelled.isascii() else len(spelled.encode()) for term, spelled in texts.items()}
    flat, count = list(chain.from_iterable(ordered)), 3 * len(ordered)
    widths = np.fromiter(map(long.__getitem__, flat), dtype=np.int64, count=count) + 1
    widths[2::3] += 2  # the dot and the end of the line
    starts = np.cumsum(widths) - widths
    document = Document("urn:triplewire:page", text.encode())
    return NumberedPage(document, starts, np.array(flat, dtype=np.int64), number)


def number(matches: Matches, registry: Registry, page: NumberedPage) -> list[Numbered]:
    """The findings in a page that was just matched: a row once for each derivation."""
    return _Reader(registry, matches, page).findings()


def number_triples(matches: Matches, registry: Registry, page: NumberedPage) -> list[tuple[str, Numbers]]:
    """The subscriptions of one triple each that a page matches, with the triples."""
    return _Reader(registry, matches, page).triples()


class _Reader:
    """Reads the matches of a page; a line of `told` is a subscription and where the kernel wrote its match."""

    def __init__(self, registry: Registry, matches: Matches, page: NumberedPage) -> None:
        self._tables, self._matches, self._page = MatchTables(registry, [matches]), matches, page
        self._told = matches.written()[0]

    def findings(self) -> list[Numbered]:
        """Subscription, row and derivation, for every row of every match."""
        told, names = self._told, self._tables.names
        is_first = np.diff(told[:, 1], prepend=-1) != 0  # subscriptions that are told of one match come together
        derivations = self._derivations(told[is_first])
        which = (np.cumsum(is_first) - 1).tolist()
        return [
            Numbered(names[id], row, derivations[place])
            for id, rows, place in zip(told[:, 0].tolist(), self._rows(), which, strict=True)
            for row in rows
        ]

    def triples(self) -> list[tuple[str, Numbers]]:
        """The first triple of every match, with the subscription."""
        names, found = self._tables.names, self._derivations(self._told, 1)
        return [(names[id], first) for id, (first,) in zip(self._told[:, 0].tolist(), found, strict=True)]

    def _rows(self) -> list[Sequence[Terms]]:
        """The rows of each match: one, if there are no optional parts; those with the same columns at once."""
        told = self._told
        found: list[Sequence[Terms]] = [()] * len(told)
        kinds, which = np.unique(told[:, 2], return_inverse=True)
        alike = np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1]) if len(kinds) else []
        for columns, own in zip(kinds.tolist(), alike, strict=True):
            answer, places, optionals = self._tables.columns[columns]
            if optionals:
                rows = [self._wide_rows(line, answer) for line in told[own].tolist()]
            else:
                where = dict(places)
                values = [self._column(told[own], where.get(name)) for name in answer]
                rows = [(row,) for row in zip(*values, strict=True)] if values else [((),)] * len(own)
            for place, row in zip(own.tolist(), rows, strict=True):
                found[place] = row
        return found

    def _wide_rows(self, told: list[int], answer: Sequence[str]) -> Sequence[Terms]:
        number = self._page.number
        wide = self._matches.rows_of(told)
        return [tuple([number(str(row[name])) if name in row else 0 for name in answer]) for row in wide]

    def _column(self, told: Array, place: int | str | None) -> list[int]:
        """The values of a column: a variable by its number, a constant by -1 and below, or spelled out; or none."""
        if place is None or isinstance(place, str):
            return [0 if place is None else self._page.number(place)] * len(told)
        at = self._at(told, place) if place >= 0 else told[:, 3] - 1 - place
        found: list[int] = (self._bound(at) if place >= 0 else self._fixed(at)).tolist()
        return found

    def _derivations(self, told: Array, most: int | None = None) -> list[tuple[Numbers, ...]]:
        """The triples of matches, or so many of each."""
        if not len(told):
            return []
        programs, which = np.unique(self._tables.programs(told), return_inverse=True)
        steps = [self._tables.steps[program][:most] for program in programs.tolist()]
        wide = np.array([3 * len(own) for own in steps])
        begins, lengths = (np.cumsum(wide) - wide)[which], wide[which]
        ends = np.cumsum(lengths)
        owner = np.repeat(np.arange(len(told)), lengths)
        every = np.array([place for own in steps for triple in own for place in triple])
        places = every[np.arange(ends[-1]) + (begins - ends + lengths)[owner]]
        numbers = np.empty(len(places), dtype=np.int64)
        bound = places >= 0
        numbers[bound] = self._bound(self._at(told[owner[bound]], places[bound]))
        numbers[~bound] = self._fixed(told[owner[~bound], 3] - 1 - places[~bound])
        values = numbers.tolist()
        triples = list(zip(values[0::3], values[1::3], values[2::3], strict=True))
        until = (ends // 3).tolist()
        return [tuple(triples[start:end]) for start, end in zip([0, *until], until, strict=False)]

    def _at(self, told: Array, place: int | Array) -> Array:
        return told[:, 1] + EMISSION + 2 * place

    def _bound(self, at: Array) -> Array:
        """The numbers of the page's terms that were written there, by the byte at which they begin."""
        return self._page.numbers[np.searchsorted(self._page.starts, self._tables.out[at])]

    def _fixed(self, at: Array) -> Array:
        distinct, same = np.unique(self._tables.constants[at], return_inverse=True)
        texts = self._tables.texts
        known = [self._page.number(texts[term]) for term in distinct.tolist()]
        return np.array(known, dtype=np.int64)[same]
