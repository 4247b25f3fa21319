"""Suggestions: the properties and classes of a query that nothing here has, and what may have been meant (X6).

A query for `dcat:keywrd` is a sentence of its language and waits for ever. That nothing has the property yet may be
what the subscriber wants, so it is told and not refused. What is suggested is in use here, and the viewer sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, islice
from re import split
from typing import Literal as OneOf

from pyoxigraph import NamedNode

from triplewire.algebra.pattern import IS_A, Call, Conjunction, Expression, Pattern
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.engine.inspect.graphs import terms_of
from triplewire.engine.inspect.surveys import MOST_CLASSES, TYPE
from triplewire.model import Term
from triplewire.store import Reader

Role = OneOf["property", "class"]

_MOST_PROPERTIES = 2_000
_MOST_NODES = 5_000
_MOST_LETTERS = 64
"""The time to compare two words grows with the product of their lengths."""
_MOST_SUGGESTED = 3
_ALIKE = 0.72
_KIND = NamedNode(TYPE[1:-1])


@dataclass(frozen=True, slots=True)
class Unheard:
    """A property or a class that nothing here has, and those in use that are spelled like it, the most alike first."""

    term: Term
    role: Role
    suggestions: tuple[Term, ...]

    @property
    def message(self) -> str:
        """In a sentence."""
        nothing = "nothing here has" if self.role == "property" else "nothing here is a"
        meant = " or ".join(map(str, self.suggestions[:1]))
        return f"{nothing} {self.term}" + (f"; did you mean {meant}?" if meant else " yet")


@dataclass(slots=True)
class WordBudget:
    """How much is compared for all terms of a query together: words at a glance, and words letter by letter."""

    words: int = 40_000
    ratios: int = 2_000


def unheard(reader: Reader, taxonomy: Taxonomy, pattern: Pattern) -> list[Unheard]:
    """What a pattern names and nothing has; nothing where nothing is published, because then that says nothing."""
    named = [*dict.fromkeys(chain.from_iterable(map(_named, pattern.branches)))]
    missing = [(term, role) for term, role in named if not _is_there(reader, taxonomy, term, role)]
    if not missing or not reader.surveys.predicates(1):
        return []
    known = {role: _in_use(reader, taxonomy, role) for role in {role for _, role in missing}}
    budget = WordBudget()
    return [Unheard(term, role, tuple(alike(term, known[role], budget)[:_MOST_SUGGESTED])) for term, role in missing]


def _named(branch: Conjunction) -> Iterator[tuple[Term, Role]]:
    for triple in (*branch.triples, *(triple for part in branch.optionals for triple in part.triples)):
        if isinstance(triple.predicate, NamedNode):
            yield triple.predicate, "property"
        if triple.predicate == _KIND and isinstance(triple.object, NamedNode):
            yield triple.object, "class"
    for condition in (*branch.conditions, *(each for part in branch.optionals for each in part.conditions)):
        yield from ((term, "class") for term in _places(condition))


def _places(condition: Expression) -> Iterator[Term]:
    if not isinstance(condition, Call):
        return
    for argument in condition.arguments:
        if condition.function in IS_A and isinstance(argument, NamedNode):
            yield argument
        else:
            yield from _places(argument)


def _is_there(reader: Reader, taxonomy: Taxonomy, term: Term, role: Role) -> bool:
    if role == "class" and (taxonomy.parents(term) or taxonomy.children(term)):
        return True
    number, kind = reader.terms.find([str(term), TYPE])
    if role == "class":
        return bool(number and kind and reader.triples.degrees([(kind, number)], 1)[0])
    return bool(number and reader.surveys.used([number]))


def _in_use(reader: Reader, taxonomy: Taxonomy, role: Role) -> list[Term]:
    if role == "property":
        return [*terms_of(reader, reader.surveys.predicates(_MOST_PROPERTIES)).values()]
    (kind,) = reader.terms.find([TYPE])
    numbers = reader.surveys.values(kind, MOST_CLASSES) if kind else []
    return [*dict.fromkeys([*terms_of(reader, numbers).values(), *islice(taxonomy.nodes(), _MOST_NODES)])]


def alike(term: Term, known: Iterable[Term], budget: WordBudget) -> list[Term]:
    """Those whose last word is spelled like the term's, the most alike first; of one namespace before others.

    Long words are like none, and what the budget has no more for is not looked at.
    """
    namespace, name = _parts(term.value)
    if len(name) > _MOST_LETTERS:
        return []
    matcher = SequenceMatcher(None, "", name)
    scored: list[tuple[float, bool, str, Term]] = []
    for other in islice(known, budget.words):
        budget.words -= 1
        space, own = _parts(other.value)
        if len(own) > _MOST_LETTERS:
            continue
        matcher.set_seq1(own)
        if matcher.real_quick_ratio() < _ALIKE or matcher.quick_ratio() < _ALIKE or not budget.ratios:
            continue
        budget.ratios -= 1
        ratio = matcher.ratio()
        if ratio >= _ALIKE:
            scored.append((-ratio, space != namespace, other.value, other))
    return [found for *_, found in sorted(scored, key=lambda each: each[:3])]


def _parts(iri: str) -> tuple[str, str]:
    """The namespace of an IRI, and its last word in small letters."""
    words: Sequence[str] = split(r"[/#:]", iri.rstrip("/#"))
    return iri.rstrip("/#")[: -len(words[-1]) or None], words[-1].lower()
