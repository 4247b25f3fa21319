"""A schema: RDF Schema with what MDV adds to it."""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Quad, Triple

from triplewire.schema.conformance import Conformance, Known, Violation
from triplewire.schema.declarations import Limit, declarations
from triplewire.schema.rules import Rules, below


class Schema:
    """What documents must conform to. Made of triples (`vocabulary` has the words), and saved as these triples.

    A schema says nothing about properties and classes that it does not declare. Two schemas are equal if they declare
    the same, whatever else their triples say.
    """

    __slots__ = ("_below", "_declared", "_rules", "triples")

    triples: tuple[Triple, ...]
    """What it was made of; `Schema.from_triples` makes it again."""

    def __init__(self, triples: Iterable[Triple] = ()) -> None:
        self.triples = tuple(dict.fromkeys(triples))
        self._declared = declarations(self.triples)
        self._below = below(self.triples)
        self._rules = Rules(self._declared, self._below)

    @classmethod
    def from_triples(cls, triples: Iterable[Triple | Quad]) -> Schema:
        """The schema that triples state; SchemaError if they contradict each other, TaxonomyError for a cycle."""
        return cls(t.triple if isinstance(t, Quad) else t for t in triples)

    @property
    def strong(self) -> frozenset[str]:
        """The IRIs of the properties that are strong references (M7); every other reference is weak."""
        return self._rules.strong

    @property
    def properties(self) -> frozenset[str]:
        """The IRIs of the properties that it declares."""
        return frozenset(self._declared.properties)

    @property
    def classes(self) -> frozenset[str]:
        """The IRIs of the classes that it declares."""
        return self._declared.classes

    @property
    def limits(self) -> frozenset[Limit]:
        """How many values there may be."""
        return self._declared.limits

    def check(self, triples: Iterable[Triple], known: Known | None = None, *, closed: bool = False) -> list[Violation]:
        """What is wrong with a document of these triples; nothing if it conforms.

        `known` gives the classes of a resource that other documents describe. A resource that is only referenced here,
        and of which it knows nothing, is not judged: it may come later. Values are counted in this document alone.
        `closed` refuses properties and classes that the schema does not declare.
        """
        return [*Conformance(triples, self._rules, known).violations(closed=closed)]

    def asks(self, triples: Iterable[Triple]) -> frozenset[str]:
        """The resources that `check` would ask `known` about, so that one lookup can answer for all of them.

        Invariant: the answers do not decide what is asked.
        """
        asked: set[str] = set()
        self.check(triples, lambda resource: asked.add(resource))
        return frozenset(asked)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return self._declared == other._declared and self._below == other._below

    def __hash__(self) -> int:
        return hash((self.classes, self.limits, self.strong))

    def __reduce__(self) -> tuple[object, ...]:
        return Schema, (self.triples,)

    def __repr__(self) -> str:
        return f"<Schema of {len(self.properties)} properties and {len(self.classes)} classes>"
