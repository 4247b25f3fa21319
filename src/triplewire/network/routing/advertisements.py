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
from triplewire.algebra.pattern import Conjunction, Pattern, TriplePattern, variables_of
from triplewire.algebra.taxonomy import EMPTY
from triplewire.model import RDF, Document, Term
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


@lru_cache(maxsize=10_000)
def seen_from(items: frozenset[Advertised], height: int) -> frozenset[Advertised]:
    """What goes so far among what is advertised, without saying how far."""
    if all(item.reach == NETWORK for item in items):
        return items
    return kept_inside(frozenset(item for item in items if item.reach >= height), NETWORK)


def missing(items: frozenset[Advertised], document: Document) -> frozenset[Advertised]:
    """What must be advertised besides, so that a document conforms to it."""
    found: set[Advertised] = set()
    is_said = False
    for triple in document.triples:
        name = triple.predicate.value
        if name.startswith(_BUILT_IN):
            continue
        is_said = True
        if not _has_any(items, name) and Advertised("value", name, _value_of(triple.object)) not in items:
            found.add(Advertised("property", name))
    if not is_said and len(document):
        found.add(ANYTHING)
    if document.xml:
        found.add(XML)
    return frozenset(found - items)


def _value_of(term: object) -> str:
    return str(getattr(term, "value", term))


@lru_cache(maxsize=100_000)
def _has_any(items: frozenset[Advertised], name: str) -> bool:
    """Whether a property is advertised with any value."""
    return Advertised("property", name) in items or any(
        item.kind == "schema" and name.startswith(item.name) for item in items
    )


@lru_cache(maxsize=200_000)
def could_match(items: frozenset[Advertised], pattern: Pattern) -> bool:
    """Whether a document that conforms to what is advertised could match."""
    if not items:
        return False
    if pattern.asks_xml:
        return XML in items
    return any(_branch_could_match(items, branch) for branch in pattern.branches)


def _branch_could_match(items: frozenset[Advertised], branch: Conjunction) -> bool:
    return all(_triple_could_match(items, branch, triple) for triple in branch.triples)


def _triple_could_match(items: frozenset[Advertised], branch: Conjunction, triple: TriplePattern) -> bool:
    predicate = triple.predicate
    if isinstance(predicate, Variable) or predicate.value.startswith(_BUILT_IN):
        return True
    if _has_any(items, predicate.value):
        return True
    values = [item.value for item in items if item.kind == "value" and item.name == predicate.value]
    return any(_fits(value, branch, triple) for value in values)


def _fits(value: str, branch: Conjunction, triple: TriplePattern) -> bool:
    """Whether a value could stand where the triple has its object: an advertisement does not say which kind it is."""
    wanted = triple.object
    if not isinstance(wanted, Variable):
        return _value_of(wanted) == value
    asked = [condition for condition in branch.conditions if variables_of(condition) == {wanted.value}]
    return not asked or any(
        all(holds(condition, {wanted.value: reading}, EMPTY) for condition in asked) for reading in _readings(value)
    )


def _readings(value: str) -> list[Term]:
    found: list[Term] = [Literal(value), *(Literal(value, datatype=kind) for kind in _READINGS)]
    with suppress(ValueError):  # it may be no IRI
        found.append(NamedNode(value))
    return found
