"""Findings: matches spelled out for a store or a file, row by row and with the triples that made each.

`Matches` makes Python's terms when the caller asks; a store of answers wants neither terms nor dictionaries, but the
spelling of each term, or the number that it has for it, and a derivation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from triplewire.errors import SubscriptionError
from triplewire.matching.kernel.compiled import Array
from triplewire.matching.layout import EMISSION, H_STEPS, HEADER, M_RECORD, R_PROGRAM, STEP, TEST_NUMBER
from triplewire.matching.matches import Matches, PathMatch, columns_of
from triplewire.matching.registry import Registry
from triplewire.model import Document

Spelled = tuple[str, str, str]
"""A triple, each term in its canonical N-Triples spelling."""


class FoundRow(NamedTuple):
    """A row of a subscription: the terms of its pattern's `answer` in this order, and the triples of one derivation.

    None stands for an optional column without a value.
    """

    subscription: str
    row: tuple[str | None, ...]
    triples: tuple[Spelled, ...]


class DocumentFindings(NamedTuple):
    """What one document gives: findings (a row once for each derivation), and the subscriptions that failed on it."""

    findings: list[FoundRow]
    errors: Mapping[str, SubscriptionError]


class Matcher(Protocol):
    """What finds the rows of documents, each alone; an `Index` is one."""

    def __len__(self) -> int:
        """How many queries there are."""

    def find(self, documents: Sequence[Document]) -> list[DocumentFindings]:
        """The rows of each document."""


class DocumentAnswers(NamedTuple):
    """What one document answers: subscription, the names of its columns and a row, each row once; and who failed."""

    rows: list[tuple[str, tuple[str, ...], tuple[str | None, ...]]]
    errors: Mapping[str, SubscriptionError]


def spell(matches: Sequence[Matches], registry: Registry) -> list[DocumentFindings]:
    """The findings of documents that were just matched."""
    reader = _Reader(registry, matches)
    found: list[DocumentFindings] = []
    for each in matches:
        paths = [FoundRow(subscription, row, ()) for subscription, _, row in _path_answers(each)]
        found.append(DocumentFindings([*map(FoundRow._make, reader.findings(each)), *paths], each.errors))
    return found


def answer(matches: Sequence[Matches], registry: Registry) -> list[DocumentAnswers]:
    """The rows of documents that were just matched, without their derivations."""
    reader = _Reader(registry, matches)
    return [DocumentAnswers([*reader.answers(each), *_path_answers(each)], each.errors) for each in matches]


def _path_answers(matches: Matches) -> Iterable[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The rows of XPath subscriptions: no triple is behind them."""
    if not matches.paths:
        return
    for match in matches:
        if isinstance(match, PathMatch):
            for row in match.rows:
                yield match.subscription, tuple(row), tuple([str(term) for term in row.values()])


def spell_triples(matches: Sequence[Matches], registry: Registry) -> list[list[tuple[str, Spelled]]]:
    """The subscriptions of one triple each that documents match, with the triples, for each document."""
    reader = _Reader(registry, matches)
    return [reader.spelled_triples(each) for each in matches]


class MatchTables:
    """What the kernel wrote for a batch, and the tables of the image that say what it means; each is read once."""

    def __init__(self, registry: Registry, matches: Sequence[Matches]) -> None:
        image = registry.image
        self._terms, self._records, self._code = image.terms, image["records"], registry.code
        self.constants = image["constants"]
        self.out = matches[0].written()[1] if matches else np.zeros(0, dtype=np.int32)  # one for the whole batch
        self.names = MadeOnce(lambda number: image.ids.get(number).decode())
        """The ids of subscriptions."""
        self.texts = MadeOnce(lambda number: self._terms.get(number).decode())
        """The terms of the image, spelled out."""
        self.steps = MadeOnce(self._triple_steps)
        """The places of a program's triples."""
        self.columns = MadeOnce(lambda number: columns_of(self._terms.get(number)))

    def programs(self, told: Array) -> Array:
        """The program that matched, for each subscription that is told."""
        return self._records[self.out[told[:, 1] + M_RECORD], R_PROGRAM]

    def _triple_steps(self, program: int) -> list[list[int]]:
        first = program + HEADER
        steps = self._code[first : first + STEP * int(self._code[program + H_STEPS])].reshape(-1, STEP).tolist()
        return [step[1:] for step in steps if step[0] < TEST_NUMBER]


class _Reader:
    """Reads the matches of a batch, and spells them out."""

    def __init__(self, registry: Registry, matches: Sequence[Matches]) -> None:
        self._tables = tables = MatchTables(registry, matches)
        self._values = tables.out.tolist()
        self._fixed = MadeOnce(lambda place: tables.texts[int(tables.constants[place])])

    def findings(self, matches: Matches) -> list[tuple[str, tuple[Any, ...], tuple[Any, ...]]]:
        """Subscription, row and derivation, for every row of every match of a document.

        Subscriptions with other thresholds, or the same columns, that wait for one match share its rows and derivation.
        """
        names, terms = self._tables.names, self._terms_of(matches)
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
        names, terms = self._tables.names, self._terms_of(matches)
        found: dict[tuple[int, tuple[Any, ...]], tuple[str, ...]] = {}
        last: tuple[int, int] = (-1, -1)
        rows: tuple[tuple[Any, ...], ...] = ()
        for told in matches.written()[0].tolist():
            number, at, columns, constants, _ = told
            if (at, columns) != last:
                terms.at, terms.constants = at + EMISSION, constants - 1
                rows, last = self._rows(matches, told, terms), (at, columns)
                header = tuple(self._tables.columns[columns][0])
            for row in rows:
                found[number, row] = header
        return [(names[number], header, row) for (number, row), header in found.items()]

    def _rows(self, matches: Matches, told: list[int], terms: _Terms) -> tuple[tuple[Any, ...], ...]:
        """The rows of a match under some columns: one, if there are no optional parts."""
        answer, places, optionals = self._tables.columns[told[2]]
        if optionals:
            wide = matches.rows_of(told)
            return tuple([tuple([terms[str(r[name])] if name in r else None for name in answer]) for r in wide])
        if len(places) == len(answer):
            return (tuple([terms[place] for _, place in places]),)
        given = {name: terms[place] for name, place in places}
        return (tuple([given.get(name) for name in answer]),)

    def spelled_triples(self, matches: Matches) -> list[tuple[str, Spelled]]:
        """The first triple of every match in a document, with the subscription."""
        names, told, terms = self._tables.names, matches.written()[0], self._terms_of(matches)
        found = []
        for (number, at, _, constants, _), program in zip(
            told.tolist(), self._tables.programs(told).tolist(), strict=True
        ):
            terms.at, terms.constants = at + EMISSION, constants - 1
            s, p, o = self._tables.steps[program][0]
            found.append((names[number], (terms[s], terms[p], terms[o])))
        return found

    def _derivations(self, matches: Matches, terms: _Terms) -> Iterable[tuple[Any, ...]]:
        """The triples of every match that is told, once for all subscriptions that it is told to."""
        told = matches.written()[0]
        firsts = told[np.flatnonzero(np.diff(told[:, 1], prepend=-1))]
        for (_, at, _, constants, _), program in zip(
            firsts.tolist(), self._tables.programs(firsts).tolist(), strict=True
        ):
            terms.at, terms.constants = at + EMISSION, constants - 1
            yield tuple([(terms[s], terms[p], terms[o]) for s, p, o in self._tables.steps[program]])

    def _terms_of(self, matches: Matches) -> _Terms:
        text, base = matches.document.ntriples, matches.written()[2]
        return _Terms(text, self._values, base, self._fixed)


class MadeOnce(dict[int, Any]):
    """Values by number; each is made when it is first asked for."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, number: int) -> Any:
        made = self[number] = self._make(number)
        return made


class _Terms:
    """The terms of a match: a variable by its number, a constant of the record by -1 and below, or spelled out."""

    __slots__ = ("_base", "_fixed", "_known", "_text", "_values", "at", "constants")

    def __init__(self, text: bytes, values: list[int], base: int, fixed: MadeOnce) -> None:
        self._text, self._values, self._base, self._fixed = text, values, base, fixed
        self._known: dict[int, str] = {}
        self.at = self.constants = 0

    def __getitem__(self, place: int | str) -> Any:
        if isinstance(place, str):
            return place
        if place < 0:
            return self._fixed[self.constants - place]
        at = self.at + 2 * place
        start = self._values[at]
        found = self._known.get(start)
        if found is None:
            first = start - self._base
            found = self._known[start] = self._text[first : first + self._values[at + 1]].decode()
        return found
