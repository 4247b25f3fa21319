"""Findings: matches spelled out for those who keep them, row by row and with the triples that made each.

`Matches` makes Python's terms when somebody asks; whoever stores answers wants neither terms nor dictionaries, but the
spelling of each term, and a derivation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from triplewire.errors import SubscriptionError
from triplewire.matching.layout import EMISSION, H_STEPS, HEADER, M_RECORD, R_PROGRAM, STEP, TEST_NUMBER
from triplewire.matching.matches import Columns, Matches, columns_of
from triplewire.matching.registry import Registry
from triplewire.model import Term

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


def spell(matches: Sequence[Matches], registry: Registry) -> list[Found]:
    """The findings of documents that were just matched."""
    reader = _Reader(registry)
    values = matches[0].written()[1].tolist() if matches else []  # one array for the whole batch
    return [Found(reader.findings(one, values), one.errors) for one in matches]


class _Reader:
    """Reads what the kernel wrote, with the tables of the image."""

    def __init__(self, registry: Registry) -> None:
        image = registry.image
        self._ids, self._terms = image.ids, image.terms
        self._constants, self._records, self._code = image["constants"], image["records"], registry.code
        self._spellings: dict[int, str] = {}
        self._programs: dict[int, list[list[int]]] = {}
        self._columns: dict[int, Columns] = {}

    def findings(self, matches: Matches, values: list[int]) -> list[Finding]:
        """A finding for every row of every match of a document."""
        told, _, base = matches.written()
        found: list[Finding] = []
        terms = _Terms(matches.document.ntriples, values, base)
        for number, at, columns, constants, entry in told.tolist():
            id = self._ids.get(number).decode()
            steps = self._triple_steps(int(self._records[values[at + M_RECORD], R_PROGRAM]))
            triples = tuple([self._triple(step, terms, at, constants) for step in steps])
            answer, places, optionals = self._columns_of(columns)
            if optionals:
                wide = matches.rows_of([number, at, columns, constants, entry])
                found += [Finding(id, _spelled(row, answer), triples) for row in wide]
            else:
                row = {name: self._value(place, terms, at, constants) for name, place in places}
                found.append(Finding(id, tuple([row.get(name) for name in answer]), triples))
        return found

    def _triple(self, step: list[int], terms: _Terms, at: int, constants: int) -> Spelled:
        s, p, o = [self._value(place, terms, at, constants) for place in step]
        return s, p, o

    def _value(self, place: int | str, terms: _Terms, at: int, constants: int) -> str:
        """A variable by its number, a constant of the record by -1 and below, or a constant that is spelled out."""
        if isinstance(place, str):
            return place
        return terms.bound(at, place) if place >= 0 else self._spelling(int(self._constants[constants - 1 - place]))

    def _spelling(self, number: int) -> str:
        found = self._spellings.get(number)
        if found is None:
            found = self._spellings[number] = self._terms.get(number).decode()
        return found

    def _columns_of(self, number: int) -> Columns:
        found = self._columns.get(number)
        if found is None:
            found = self._columns[number] = columns_of(self._terms.get(number))
        return found

    def _triple_steps(self, program: int) -> list[list[int]]:
        """The places of a program's triples."""
        found = self._programs.get(program)
        if found is None:
            first = program + HEADER
            steps = self._code[first : first + STEP * int(self._code[program + H_STEPS])].reshape(-1, STEP).tolist()
            found = self._programs[program] = [step[1:] for step in steps if step[0] < TEST_NUMBER]
        return found


class _Terms:
    """The terms that matches of one document have bound, each spelled once."""

    __slots__ = ("_base", "_spelled", "_text", "_values")

    def __init__(self, text: bytes, values: list[int], base: int) -> None:
        self._text, self._values, self._base = text, values, base
        self._spelled: dict[int, str] = {}

    def bound(self, at: int, variable: int) -> str:
        """The term that a match bound to one of its variables."""
        place = at + EMISSION + 2 * variable
        start = self._values[place] - self._base
        found = self._spelled.get(start)
        if found is None:
            found = self._spelled[start] = self._text[start : start + self._values[place + 1]].decode()
        return found


def _spelled(row: Mapping[str, Term], answer: Sequence[str]) -> tuple[str | None, ...]:
    return tuple([str(row[name]) if name in row else None for name in answer])
