"""Advertisements: what the publishers of a hub will publish, and which subscriptions that could match (P2).

An advertisement is a set of *items*, so that those of many publishers are united, and what is new among them is seen:

    schema S        properties whose IRI begins with S, with any value
    property P      property P, with any value
    value P V       property P with value V; where neither its schema nor the property alone is advertised, only these
    xml             documents that XPath can be asked of

A subscription could be matched if one of its alternatives could: each of its properties is advertised, with a value
that its conditions allow. Properties of the built-in vocabularies exclude nothing, because nobody advertises
them. Invariant: a document that conforms to what is advertised matches no subscription that could not be matched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.expressions import holds
from triplewire.algebra.pattern import Conjunction, TriplePattern, variables_of
from triplewire.algebra.taxonomy import EMPTY
from triplewire.model import RDF, Term
from triplewire.network.routing.reaches import NETWORK

_BUILT_IN = (RDF, "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2002/07/owl#")
_XSD = "http://www.w3.org/2001/XMLSchema#"
_READINGS = tuple(NamedNode(_XSD + name) for name in ("integer", "decimal", "double", "date", "dateTime", "boolean"))


class Advertised(NamedTuple):
    """An item of an advertisement."""

    kind: str
    name: str = ""
    value: str = ""
    reach: int = NETWORK


XML = Advertised("xml")
ANYTHING = Advertised("anything")
"""Documents of built-in vocabulary alone."""


class Advertisement:
    """What a publisher will publish: schemas, properties, or values of properties; IRIs as texts.

    >>> sorted(Advertisement(schemas=["http://purl.org/dc/"]).items)
    [Advertised(kind='schema', name='http://purl.org/dc/', value='', reach=256)]
    """

    __slots__ = ("items",)

    def __init__(
        self,
        *,
        schemas: Iterable[str] = (),
        properties: Iterable[str] = (),
        values: Mapping[str, Iterable[Term | str | int | float]] | None = None,
        reach: int = NETWORK,
    ) -> None:
        found = [Advertised("schema", _text(schema)) for schema in schemas]
        found += [Advertised("property", _text(name)) for name in properties]
        found += [Advertised("value", _text(name), _text(v)) for name, some in (values or {}).items() for v in some]
        self.items = kept_inside(frozenset(found), reach)


def _text(value: object) -> str:
    """A term's text; of one that is spelled as in N-Triples, what is inside."""
    if isinstance(value, NamedNode | Literal):
        return value.value
    text = str(value)
    return text[1:-1] if text.startswith("<") and text.endswith(">") else text


def kept_inside(items: frozenset[Advertised], reach: int) -> frozenset[Advertised]:
    """The same, going so far."""
    return frozenset(item._replace(reach=reach) for item in items)


def named_property(predicate: object) -> str | None:
    """The IRI of a property that advertisements speak of; None for a variable, and for the built-in vocabularies."""
    if not isinstance(predicate, NamedNode) or predicate.value.startswith(_BUILT_IN):
        return None
    return predicate.value


def value_of(term: object) -> str:
    """A term's text, as a value is advertised."""
    return str(getattr(term, "value", term))


@lru_cache(maxsize=100_000)
def fits(value: str, branch: Conjunction, triple: TriplePattern) -> bool:
    """Whether a value could stand where the triple has its object: an advertisement does not say which kind it is."""
    wanted = triple.object
    if not isinstance(wanted, Variable):
        return value_of(wanted) == value
    asked = [condition for condition in branch.conditions if variables_of(condition) == {wanted.value}]
    return not asked or any(
        all(holds(condition, {wanted.value: reading}, EMPTY) for condition in asked) for reading in _readings(value)
    )


def _readings(value: str) -> list[Term]:
    found: list[Term] = [Literal(value), *(Literal(value, datatype=kind) for kind in _READINGS)]
    with suppress(ValueError):  # it may be no IRI
        found.append(NamedNode(value))
    return found
