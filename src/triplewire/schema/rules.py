"""A schema laid out for checking: for each property what its statements must satisfy, for each class what is above."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pyoxigraph import NamedNode, Triple

from triplewire.algebra.taxonomy import Taxonomy
from triplewire.model import RDF, RDFS
from triplewire.schema import vocabulary as v
from triplewire.schema.datatypes import broader, is_datatype
from triplewire.schema.declarations import Declarations, Limit

_BUILT_IN = (RDF, RDFS)
_RESOURCE = RDFS + "Resource"


@dataclass(frozen=True, slots=True)
class PropertyDemand:
    """What a statement of a property must satisfy, because of this property or one above it."""

    domains: tuple[str, ...]
    ranges: tuple[str, ...]
    counted: tuple[str, ...]
    """The limited properties that the value is a value of."""


NOTHING = PropertyDemand((), (), ())


class Rules:
    """The declarations, with everything that follows from what is below what already drawn."""

    __slots__ = ("_above", "_declared", "_literal", "demands", "maxima", "minima", "strong")

    def __init__(self, declared: Declarations, taxonomy: Taxonomy) -> None:
        self._declared = declared
        self._above: dict[str, frozenset[str]] = {}
        for node in taxonomy.nodes():
            if isinstance(node, NamedNode):
                self._above[node.value] = frozenset(_lineage(node, taxonomy))
        limited = {limit.property for limit in declared.limits}
        lines = {name: _lineage(NamedNode(name), taxonomy) for name in declared.properties}
        ordered = sorted(declared.limits, key=_order)
        self.maxima = _by(lambda limit: limit.property, [x for x in ordered if x.maximum is not None])
        """Limits by their property: only what has values can have too many."""
        self.minima = _by(lambda limit: min(limit.classes), [x for x in ordered if x.minimum])
        """Limits by one of their classes: only what is in it can have too few."""
        self.demands = {name: _demand(line, declared, limited) for name, line in lines.items()}
        ranges = {range for demand in self.demands.values() for range in demand.ranges}
        self._literal = frozenset(range for range in ranges if self._holds_literals(range))
        self.strong = frozenset(name for name, line in lines.items() if _is_strong(line, declared))

    def above(self, types: Iterable[str]) -> frozenset[str]:
        """The classes or datatypes, with all that are above them."""
        found = {high for low in types for high in self._above.get(low, (low,))}
        return frozenset(base for high in found for base in broader(high)) | v.ANYTHING

    def is_datatype(self, iri: str) -> bool:
        """True if the values of this range are literals."""
        return iri in self._literal

    def _holds_literals(self, iri: str) -> bool:
        return any(base in self._declared.datatypes or is_datatype(base) for base in self.above([iri]))

    def knows_property(self, iri: str) -> bool:
        """True if the property is declared, or one of RDF's own."""
        return iri in self.demands or iri.startswith(_BUILT_IN)

    def knows_class(self, iri: str) -> bool:
        """True if the class is declared, or one of RDF's own."""
        return iri in self._declared.classes or iri.startswith(_BUILT_IN) or iri in v.ANYTHING


def below(triples: Iterable[Triple]) -> Taxonomy:
    """Which class and property is below which; TaxonomyError if there is a cycle."""
    words = (v.SUB_CLASS, v.SUB_PROPERTY)
    return Taxonomy((t.subject, t.object) for t in triples if t.predicate.value in words)  # type: ignore[misc]


def _lineage(node: NamedNode, taxonomy: Taxonomy) -> list[str]:
    """The node and those above it, nearest first."""
    return [node.value, *(high.value for high in taxonomy.broader(node) if isinstance(high, NamedNode))]


def _demand(line: list[str], declared: Declarations, limited: set[str]) -> PropertyDemand:
    found = [declared.properties[name] for name in line if name in declared.properties]
    domains = {iri for property in found for iri in property.domains} - v.ANYTHING
    ranges = {iri for property in found for iri in property.ranges} - {_RESOURCE}
    bounded = tuple(name for name in line if name in limited)
    return PropertyDemand(tuple(sorted(domains)), tuple(sorted(ranges)), bounded)


def _is_strong(line: list[str], declared: Declarations) -> bool:
    """The nearest property that says something decides: what is below a strong reference is one, unless it is weak."""
    said: Mapping[str, bool | None] = {name: p.is_strong for name, p in declared.properties.items()}
    return next((strong for name in line if (strong := said.get(name)) is not None), False)


def _by(key: Callable[[Limit], str], limits: list[Limit]) -> dict[str, list[Limit]]:
    groups: dict[str, list[Limit]] = {}
    for limit in limits:
        groups.setdefault(key(limit), []).append(limit)
    return groups


def _order(limit: Limit) -> tuple[object, ...]:
    return limit.property, sorted(limit.classes), limit.minimum, -1 if limit.maximum is None else limit.maximum
