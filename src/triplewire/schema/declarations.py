"""From triples to what they declare: properties, classes, and how many values there may be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from triplewire.errors import SchemaError
from triplewire.schema import vocabulary as v
from triplewire.schema.datatypes import is_datatype

Statements = Mapping[object, Mapping[str, list[object]]]
"""Subject, predicate, objects."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How many values of a property the resources of all these classes have; without classes: every resource."""

    property: str
    classes: frozenset[str]
    minimum: int = 0
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class Property:
    """What is declared of a property: the classes of its subjects, and the classes and datatypes of its values."""

    domains: frozenset[str] = frozenset()
    ranges: frozenset[str] = frozenset()
    is_strong: bool | None = None
    """None: nothing is said, so a property that this one is below decides."""


@dataclass(frozen=True, slots=True)
class Declarations:
    """All that a schema declares, but for what is below what."""

    properties: Mapping[str, Property]
    classes: frozenset[str]
    datatypes: frozenset[str]
    limits: frozenset[Limit]


def declarations(triples: Iterable[Triple]) -> Declarations:
    """What the triples declare; SchemaError where they contradict each other or make no sense."""
    stated = _grouped(triples)
    properties: dict[str, Property] = {}
    limits: set[Limit] = set()
    for subject, statements in stated.items():
        if isinstance(subject, NamedNode) and _is_property(statements):
            found = _property(subject.value, statements)
            properties[subject.value] = found
            limits |= _own_limits(subject.value, statements, found)
    limits |= {limit for statement in stated.items() for limit in _restrictions(*statement, stated)}
    broader = {iri for statements in stated.values() for iri in _iris(statements.get(v.SUB_PROPERTY, ()))}
    for name in {limit.property for limit in limits} | broader:
        properties.setdefault(name, Property())
    named = {iri for found in properties.values() for iri in found.domains | found.ranges}
    declared, datatypes = _classes(stated)
    types = frozenset(datatypes | {iri for iri in named if is_datatype(iri)})
    return Declarations(properties, frozenset(declared | named) - types, types, frozenset(limits))


def _grouped(triples: Iterable[Triple]) -> Statements:
    stated: defaultdict[object, defaultdict[str, list[object]]] = defaultdict(lambda: defaultdict(list))
    for triple in triples:
        stated[triple.subject][triple.predicate.value].append(triple.object)
    return stated


def _iris(values: Iterable[object]) -> frozenset[str]:
    return frozenset(value.value for value in values if isinstance(value, NamedNode))


_ABOUT_PROPERTIES = v.OWN | {v.DOMAIN, v.RANGE, v.SUB_PROPERTY}


def _is_property(statements: Mapping[str, list[object]]) -> bool:
    return bool(_ABOUT_PROPERTIES & statements.keys() or v.PROPERTIES & _iris(statements.get(v.TYPE, ())))


def _classes(stated: Statements) -> tuple[set[str], set[str]]:
    classes: set[str] = set()
    datatypes: set[str] = set()
    for subject, statements in stated.items():
        if isinstance(subject, NamedNode):
            types = _iris(statements.get(v.TYPE, ()))
            if types & v.DATATYPES:
                datatypes.add(subject.value)
            elif types & v.CLASSES or v.SUB_CLASS in statements:
                classes |= {subject.value, *_iris(statements.get(v.SUB_CLASS, ()))}
    return classes, datatypes


def _property(name: str, statements: Mapping[str, list[object]]) -> Property:
    found = Property(_iris(statements.get(v.DOMAIN, ())), _iris(statements.get(v.RANGE, ())))
    types = _iris(statements.get(v.TYPE, ()))
    strong = v.STRONG in types or _flag(name, statements, v.STRONG_REFERENCE) is True
    weak = v.WEAK in types or _flag(name, statements, v.WEAK_REFERENCE) is True
    weak = weak or _flag(name, statements, v.STRONG_REFERENCE) is False
    strong = strong or _flag(name, statements, v.WEAK_REFERENCE) is False
    for domain in filter(is_datatype, found.domains):
        raise SchemaError(f"<{name}> has the domain <{domain}>, and a literal has no properties; name a class")
    if strong and weak:
        raise SchemaError(f"<{name}> is declared as a strong and as a weak reference; take one of them out")
    return replace(found, is_strong=strong) if strong or weak else found


def _own_limits(name: str, statements: Mapping[str, list[object]], found: Property) -> set[Limit]:
    """The limits that a property has by itself: a minimum for its domain, a maximum for everybody."""
    minimum = max(_numbers(name, statements, v.MINIMUM), default=0)
    maxima = _numbers(name, statements, v.MAXIMUM)
    several = _flag(name, statements, v.SET_VALUED)
    if several is False or v.FUNCTIONAL in _iris(statements.get(v.TYPE, ())):
        maxima.append(1)
    maximum = min(maxima, default=None)
    if several and maximum is not None and maximum <= 1:
        raise SchemaError(f"<{name}> is declared as set-valued, and with at most {maximum} value; take one of them out")
    if minimum and not found.domains:
        raise SchemaError(f"<{name}> has a minimum, but nothing says who must have it; give it an rdfs:domain")
    _refuse_crossed(name, minimum, maximum)
    limits = set()
    if minimum:
        limits.add(Limit(name, found.domains, minimum))
    if maximum is not None:
        limits.add(Limit(name, frozenset(), 0, maximum))
    return limits


def _restrictions(subject: object, statements: Mapping[str, list[object]], stated: Statements) -> Iterable[Limit]:
    """The limits of a class that is below OWL's cardinality restrictions."""
    if not isinstance(subject, NamedNode):
        return
    for above in statements.get(v.SUB_CLASS, ()):
        restriction = stated.get(above, {}) if isinstance(above, BlankNode | NamedNode) else {}
        for name in _iris(restriction.get(v.ON_PROPERTY, ())):
            exact = _numbers(name, restriction, v.EXACTLY)
            minimum = max(_numbers(name, restriction, v.LEAST) + exact, default=0)
            maximum = min(_numbers(name, restriction, v.MOST) + exact, default=None)
            _refuse_crossed(name, minimum, maximum)
            if minimum or maximum is not None:
                yield Limit(name, frozenset([subject.value]), minimum, maximum)


def _refuse_crossed(name: str, minimum: int, maximum: int | None) -> None:
    if maximum is not None and minimum > maximum:
        raise SchemaError(
            f"<{name}> needs at least {minimum} values and may have at most {maximum}; change one of them"
        )


def _numbers(name: str, statements: Mapping[str, list[object]], word: str) -> list[int]:
    return [_number(name, value, word) for value in statements.get(word, ())]


def _number(name: str, value: object, word: str) -> int:
    if isinstance(value, Literal) and value.value.isascii() and value.value.isdigit() and len(value.value) < 10:
        return int(value.value)
    raise SchemaError(f"<{word}> of <{name}> is {value}; write a number such as 1")


def _flag(name: str, statements: Mapping[str, list[object]], word: str) -> bool | None:
    values = {_truth(name, value, word) for value in statements.get(word, ())}
    if len(values) > 1:
        raise SchemaError(f"<{word}> of <{name}> is both true and false; take one of them out")
    return values.pop() if values else None


def _truth(name: str, value: object, word: str) -> bool:
    if isinstance(value, Literal) and value.value in ("true", "1", "false", "0"):
        return value.value in ("true", "1")
    raise SchemaError(f"<{word}> of <{name}> is {value}; write true or false")
