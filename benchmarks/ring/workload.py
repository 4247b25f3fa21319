"""Triples and queries of the paper's experiment (section 6), with a schema of our own.

The paper's schema is a picture without numbers that can be read off, and it does not say how many objects of queries
are constants. Here both are parameters: classes in a tree, each with properties of its own, which its subclasses have,
too; subjects are shared out among the classes, objects among the properties.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from pyoxigraph import NamedNode, Triple

_NAME = "urn:{}/{}"


@dataclass(frozen=True, slots=True)
class RingWorkload:
    """How many of each there are; `constants` is the share of objects of queries that are constants.

    With `zipf` above 0, the n-th property, subject and object is chosen with a weight of 1 / n ** zipf.
    """

    queries: int = 10_000
    classes: int = 15
    properties: int = 4
    subjects: int = 1000
    objects: int = 1000
    constants: float = 0.5
    zipf: float = 0.0


class RingSchema:
    """A schema, and what is drawn from it."""

    def __init__(self, workload: RingWorkload, seed: int) -> None:
        self._workload, self._chance = workload, Random(seed)
        count = workload.classes * workload.properties
        self._subjects = [self._chance.randrange(workload.classes) for _ in range(workload.subjects)]
        ranges = [self._chance.randrange(count) for _ in range(workload.objects)]
        self._instances = [[s for s, of in enumerate(self._subjects) if of == c] for c in range(workload.classes)]
        self._values = [[o for o, of in enumerate(ranges) if of == p] or [p] for p in range(count)]

    def _properties(self, of: int) -> list[int]:
        """The properties of a class and of those above it; class n is below class (n - 1) // 2."""
        own = [of * self._workload.properties + number for number in range(self._workload.properties)]
        return own if of == 0 else own + self._properties((of - 1) // 2)

    def _pick(self, among: Sequence[int]) -> int:
        if not self._workload.zipf:
            return self._chance.choice(among)
        weights = [*accumulate(1 / rank**self._workload.zipf for rank in range(1, len(among) + 1))]
        return among[bisect_left(weights, self._chance.random() * weights[-1])]

    def _class(self) -> int:
        return self._pick([number for number in range(self._workload.classes) if self._instances[number]])

    def triple(self) -> Triple:
        """A triple of a class: one of its instances, a property, and a value of the property's range."""
        of = self._class()
        property = self._pick(self._properties(of))
        names = (
            ("subject", self._pick(self._instances[of])),
            ("property", property),
            ("object", self._pick(self._values[property])),
        )
        return Triple(*(NamedNode(_NAME.format(*name)) for name in names))

    def query(self) -> str:
        """A query of three distinct properties of a class, in the language of the paper."""
        properties = self._chance.sample(self._properties(self._class()), 3)
        head, triples = ["?s"], []
        for number, property in enumerate(properties):
            object = f"?o{number}"
            if self._chance.random() < self._workload.constants:
                object = f"<{_NAME.format('object', self._pick(self._values[property]))}>"
            else:
                head.append(object)
            triples.append(f"(?s, <{_NAME.format('property', property)}>, {object})")
        return f"{', '.join(head)} : " + " ∧ ".join(triples)
