"""Findings: matches spelled out for those who keep them, row by row and with the triples that made each.

`Matches` makes Python's terms when somebody asks; whoever stores answers wants neither terms nor dictionaries, but the
spelling of each term, or the number that they have for it, and a derivation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np

from triplewire.errors import SubscriptionError
from triplewire.matching.kernel.compiled import Array
from triplewire.matching.layout import EMISSION, H_STEPS, HEADER, M_RECORD, R_PROGRAM, STEP, TEST_NUMBER
from triplewire.matching.matches import Matches, PathMatch, columns_of
from triplewire.matching.registry import Registry
from triplewire.model import Document

Spelled = tuple[str, str, str]
"""A triple, each term in its canonical N-Triples spelling."""


class Finding(NamedTuple):
    """A row of a subscription: the terms of its pattern's `answer` in this order, and the triples of one derivation.

    None stands for an optional column without a value.
    """

    subscription: str
    row: tuple[str | None, ...]
    triples: tuple[Spelled, ...]


class Found(NamedTuple):
    """What one document gives: findings (a row once for each derivation), and the subscriptions that failed on it."""

    findings: list[Finding]
    errors: Mapping[str, SubscriptionError]


class Answers(NamedTuple):
    """What one document answers: subscription, the names of its columns and a row, each row once; and who failed."""

    rows: list[tuple[str, tuple[str, ...], tuple[str | None, ...]]]
    errors: Mapping[str, SubscriptionError]


class Page(NamedTuple):
    """A document of terms that have numbers: which one begins at which byte (in order), and how to number other texts.

    Its lines are in an order of their own: those of a subject together, and of these those of a predicate.
    """

    document: Document
    places: Mapping[int, int]
    number: Callable[[str], int]


Numbers = tuple[int, int, int]
"""A triple, by the numbers of its terms."""


class Numbered(NamedTuple):
    """A finding by numbers: the subscription's id, its row (0 where there is no value), one derivation."""

    subscription: str
    row: tuple[int, ...]
    triples: tuple[Numbers, ...]


def page_of(triples: Iterable[Numbers], texts: Mapping[int, str], number: Callable[[str], int]) -> Page:
    """Write triples down as a document; `texts` has the spellings of their terms."""
    ordered = sorted(triples)
    inside = {term: f"{text} ".encode() for term, text in texts.items()}
    last = {term: f"{texts[term]} .\n".encode() for term in {o for _, _, o in ordered}}
    pieces = [piece for s, p, o in ordered for piece in (inside[s], inside[p], last[o])]
    begins = accumulate(map(len, pieces), initial=0)
    places = dict(zip(begins, chain.from_iterable(ordered), strict=False))  # the last one is the end of the document
    return Page(Document("urn:triplewire:page", b"".join(pieces)), places, number)


def spell(matches: Sequence[Matches], registry: Registry) -> list[Found]:
    """The findings of documents that were just matched."""
    reader = _Reader(registry, matches)
    return [Found([*map(Finding._make, reader.findings(each)), *_path_findings(each)], each.errors) for each in matches]


def answer(matches: Sequence[Matches], registry: Registry) -> list[Answers]:
    """The rows of documents that were just matched, without their derivations."""
    reader = _Reader(registry, matches)
    return [Answers([*reader.answers(each), *_path_answers(each)], each.errors) for each in matches]


def _path_findings(matches: Matches) -> Iterable[Finding]:
    """The rows of XPath subscriptions: no triple is behind them."""
    return [Finding(subscription, row, ()) for subscription, _, row in _path_answers(matches)]


def _path_answers(matches: Matches) -> Iterable[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    if not matches.paths:
        return
    for match in matches:
        if isinstance(match, PathMatch):
            for row in match.rows:
                yield match.subscription, tuple(row), tuple([str(term) for term in row.values()])


def number(matches: Matches, registry: Registry, page: Page) -> list[Numbered]:
    """The findings in a page that was just matched."""
    return list(map(Numbered._make, _Reader(registry, [matches], page).findings(matches)))


def number_triples(matches: Matches, registry: Registry, page: Page) -> list[tuple[str, Numbers]]:
    """The subscriptions of one triple each that a page matches, with the triples."""
    return _Reader(registry, [matches], page).triples(matches)


def spell_triples(matches: Sequence[Matches], registry: Registry) -> list[list[tuple[str, Spelled]]]:
    """The subscriptions of one triple each that documents match, with the triples, for each document."""
    reader = _Reader(registry, matches)
    return [reader.spelled_triples(each) for each in matches]


class _Reader:
    """Reads what the kernel wrote for a batch, with the tables of the image; each thing is made once.

    Terms are spelled out, or numbered if they are those of a page.
    """

    def __init__(self, registry: Registry, matches: Sequence[Matches], page: Page | None = None) -> None:
        image = registry.image
        self._ids, self._terms, self._page = image.ids, image.terms, page
        self._constants, self._records, self._code = image["constants"], image["records"], registry.code
        self._out = matches[0].written()[1] if matches else np.zeros(0, dtype=np.int32)  # one for the whole batch
        self._values = self._out.tolist()
        self._names = _Memory(lambda number: self._ids.get(number).decode())
        self._named = _Memory(self._known)
        self._fixed = _Memory(lambda place: self._named[int(self._constants[place])])
        self._steps = _Memory(self._triple_steps)
        self._columns = _Memory(lambda number: columns_of(self._terms.get(number)))

    def _known(self, number: int) -> str | int:
        """A term of the index, spelled or numbered as the document's are."""
        text = self._terms.get(number).decode()
        return text if self._page is None else self._page.number(text)

    def findings(self, matches: Matches) -> list[tuple[str, tuple[Any, ...], tuple[Any, ...]]]:
        """Subscription, row and derivation, for every row of every match of a document.

        Those who wait for one match with other thresholds, or under the same columns, share its rows and derivation.
        """
        names, terms = self._names, self._terms_of(matches)
        derivations = iter(self._derivations(matches, terms))
        found: list[tuple[str, tuple[Any, ...], tuple[Any, ...]]] = []
        last: tuple[int, int] = (-1, -1)
        triples: tuple[Any, ...] = ()
        rows: tuple[tuple[Any, ...], ...] = ()
        for told in matches.written()[0].tolist():
            number, at, columns, constants, _ = told
            if (at, columns) != last:
                terms.at, terms.constants = at + EMISSION, constants - 1
                if at != last[0]:
                    triples = next(derivations)
                rows, last = self._rows(matches, told, terms), (at, columns)
            name = names[number]
            for row in rows:
                found.append((name, row, triples))
        return found

    def answers(self, matches: Matches) -> list[tuple[str, tuple[str, ...], tuple[Any, ...]]]:
        """Subscription, columns and row, for every distinct row of a document."""
        names, terms = self._names, self._terms_of(matches)
        found: dict[tuple[int, tuple[Any, ...]], tuple[str, ...]] = {}
        last: tuple[int, int] = (-1, -1)
        rows: tuple[tuple[Any, ...], ...] = ()
        for told in matches.written()[0].tolist():
            number, at, columns, constants, _ = told
            if (at, columns) != last:
                terms.at, terms.constants = at + EMISSION, constants - 1
                rows, last = self._rows(matches, told, terms), (at, columns)
                header = tuple(self._columns[columns][0])
            for row in rows:
                found[number, row] = header
        return [(names[number], header, row) for (number, row), header in found.items()]

    def _rows(self, matches: Matches, told: list[int], terms: _Terms) -> tuple[tuple[Any, ...], ...]:
        """The rows of a match under some columns: one, if there are no optional parts."""
        absent = None if self._page is None else 0
        answer, places, optionals = self._columns[told[2]]
        if optionals:
            wide = matches.rows_of(told)
            return tuple([tuple([terms[str(r[name])] if name in r else absent for name in answer]) for r in wide])
        if len(places) == len(answer):
            return (tuple([terms[place] for _, place in places]),)
        given = {name: terms[place] for name, place in places}
        return (tuple([given.get(name, absent) for name in answer]),)

    def triples(self, matches: Matches) -> list[tuple[str, Numbers]]:
        """The first triple of every match in a page, with the subscription."""
        names, told = self._names, matches.written()[0]
        found = self._numbered(told, 1)
        return [(names[number], first) for number, (first,) in zip(told[:, 0].tolist(), found, strict=True)]

    def spelled_triples(self, matches: Matches) -> list[tuple[str, Spelled]]:
        """The first triple of every match in a document, with the subscription."""
        names, told, terms = self._names, matches.written()[0], self._terms_of(matches)
        found = []
        for (number, at, _, constants, _), program in zip(told.tolist(), self._programs(told).tolist(), strict=True):
            terms.at, terms.constants = at + EMISSION, constants - 1
            s, p, o = self._steps[program][0]
            found.append((names[number], (terms[s], terms[p], terms[o])))
        return found

    def _derivations(self, matches: Matches, terms: _Terms) -> Iterable[tuple[Any, ...]]:
        """The triples of every match that somebody is told of; those who are told of one match come together."""
        told = matches.written()[0]
        firsts = told[np.flatnonzero(np.diff(told[:, 1], prepend=-1))]
        if self._page is not None:
            yield from self._numbered(firsts)
            return
        for (_, at, _, constants, _), program in zip(firsts.tolist(), self._programs(firsts).tolist(), strict=True):
            terms.at, terms.constants = at + EMISSION, constants - 1
            yield tuple([(terms[s], terms[p], terms[o]) for s, p, o in self._steps[program]])

    def _numbered(self, told: Array, most: int | None = None) -> list[tuple[Numbers, ...]]:
        """The triples of matches in a page, or so many of each; all at once, because there are many alike."""
        assert self._page is not None
        if not len(told):
            return []
        programs, which = np.unique(self._programs(told), return_inverse=True)
        steps = [self._steps[program][:most] for program in programs.tolist()]
        wide = np.array([3 * len(own) for own in steps])
        begins, lengths = (np.cumsum(wide) - wide)[which], wide[which]
        ends = np.cumsum(lengths)
        owner = np.repeat(np.arange(len(told)), lengths)
        every = np.array([place for own in steps for triple in own for place in triple])
        places = every[np.arange(ends[-1]) + (begins - ends + lengths)[owner]]
        numbers = np.empty(len(places), dtype=np.int64)
        bound = places >= 0
        numbers[bound] = self._in_page(self._out[told[owner[bound], 1] + EMISSION + 2 * places[bound]])
        fixed, same = np.unique(self._constants[told[owner[~bound], 3] - 1 - places[~bound]], return_inverse=True)
        numbers[~bound] = np.array([self._named[term] for term in fixed.tolist()], dtype=np.int64)[same]
        values = numbers.tolist()
        triples = list(zip(values[0::3], values[1::3], values[2::3], strict=True))
        until = (ends // 3).tolist()
        return [tuple(triples[start:end]) for start, end in zip([0, *until], until, strict=False)]

    def _in_page(self, starts: Array) -> Array:
        """The numbers of the page's terms that begin at these bytes."""
        assert self._page is not None
        count, known = len(self._page.places), self._page.places
        numbers = np.fromiter(known.values(), dtype=np.int64, count=count)
        return numbers[np.searchsorted(np.fromiter(known, dtype=np.int64, count=count), starts)]

    def _programs(self, told: Array) -> Array:
        """The program that matched, for each who is told."""
        return self._records[self._out[told[:, 1] + M_RECORD], R_PROGRAM]

    def _terms_of(self, matches: Matches) -> _Terms:
        text, base = matches.document.ntriples, matches.written()[2]
        return _Terms(text, self._values, base, self._fixed, self._page)

    def _triple_steps(self, program: int) -> list[list[int]]:
        """The places of a program's triples."""
        first = program + HEADER
        steps = self._code[first : first + STEP * int(self._code[program + H_STEPS])].reshape(-1, STEP).tolist()
        return [step[1:] for step in steps if step[0] < TEST_NUMBER]


class _Memory(dict[int, Any]):
    """What was made for a number."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, number: int) -> Any:
        made = self[number] = self._make(number)
        return made


class _Terms:
    """The terms of a match: a variable by its number, a constant of the record by -1 and below, or spelled out."""

    __slots__ = ("_base", "_fixed", "_known", "_page", "_text", "_values", "at", "constants")

    def __init__(self, text: bytes, values: list[int], base: int, fixed: _Memory, page: Page | None) -> None:
        self._text, self._values, self._base, self._fixed, self._page = text, values, base, fixed, page
        self._known: dict[int, Any] = {} if page is None else dict(page.places)
        self.at = self.constants = 0

    def __getitem__(self, place: int | str) -> Any:
        if isinstance(place, str):
            return place if self._page is None else self._page.number(place)
        if place < 0:
            return self._fixed[self.constants - place]
        at = self.at + 2 * place
        start = self._values[at]
        found = self._known.get(start)
        if found is None:
            first = start - self._base
            found = self._known[start] = self._text[first : first + self._values[at + 1]].decode()
        return found
