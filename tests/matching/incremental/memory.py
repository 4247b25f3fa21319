"""Triples in memory, behind the lookups of gathering."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from pyoxigraph import Triple as RdfTriple

from triplewire.matching.incremental import Key, Triple
from triplewire.model import Term, parse_term


class Memory:
    """Triples in memory, for small graphs."""

    def __init__(self, triples: Iterable[RdfTriple] = ()) -> None:
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = [""]
        self._present: set[Triple] = set()
        self._forward: defaultdict[Key, list[Triple]] = defaultdict(list)
        self._backward: defaultdict[Key, list[Triple]] = defaultdict(list)
        for triple in triples:
            self.add(self.triple(triple))

    def number(self, term: Term) -> int:
        """The number of a term; a new one if it has none."""
        number = self._numbers.setdefault(str(term), len(self._texts))
        if number == len(self._texts):
            self._texts.append(str(term))
        return number

    def term(self, number: int) -> Term:
        """The term of a number."""
        return parse_term(self._texts[number])

    def triple(self, triple: RdfTriple) -> Triple:
        """A triple as numbers, whether it is there or not."""
        subject, predicate, object = triple
        return self.number(subject), self.number(predicate), self.number(object)

    def add(self, triple: Triple) -> None:
        """Put a triple in."""
        if triple in self._present:
            return
        self._present.add(triple)
        subject, predicate, object = triple
        for place in (predicate, 0):
            self._forward[subject, place].append(triple)
            self._backward[place, object].append(triple)
            self._backward[place, 0].append(triple)

    def terms(self, texts: Sequence[str]) -> list[int]:
        return [self._numbers.get(text, 0) for text in texts]

    def forward(self, keys: Sequence[Key]) -> list[list[Triple]]:
        return [self._forward.get(key, []) for key in keys]

    def backward(self, keys: Sequence[Key]) -> list[list[Triple]]:
        return [self._backward.get(key, []) for key in keys]

    def scan(self, predicates: Sequence[int]) -> list[list[Triple]]:
        return [self._backward.get((predicate, 0), []) for predicate in predicates]

    def present(self, triples: Sequence[Triple]) -> list[bool]:
        return [triple in self._present for triple in triples]

    def fanouts(self, keys: Sequence[Key], most: int) -> list[int]:
        return [min(most, len(self._forward.get(key, ()))) for key in keys]

    def degrees(self, keys: Sequence[Key], most: int) -> list[int]:
        return [min(most, len(self._backward.get(key, ()))) for key in keys]
