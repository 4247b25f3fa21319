"""One document against the rules of a schema: what is wrong with it, and what to do about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from triplewire.model import RDF, Term
from triplewire.schema import vocabulary as v
from triplewire.schema.datatypes import is_plain, is_spelled
from triplewire.schema.declarations import Limit
from triplewire.schema.rules import NOTHING, Rules

Known = Callable[[str], Iterable[str] | None]
"""The classes that are known of a resource from elsewhere; none, or None, where nothing is."""

Counts = Mapping[tuple[object, str], Mapping[object, Triple]]
"""For a resource and a property: the statement of each value."""

_LANG_STRING = RDF + "langString"


@dataclass(frozen=True, slots=True)
class Violation:
    """One statement that breaks the schema; `reason` is a sentence that says what to do.

    `triple` is the statement; for a value that is missing, the one that gives the resource its class.
    """

    resource: Term
    property: NamedNode
    value: Term | None
    reason: str
    triple: Triple

    def __str__(self) -> str:
        return self.reason


class Conformance:
    """The statements of a document, with the classes of its resources."""

    __slots__ = ("_by_subject", "_elsewhere", "_known", "_rules", "_triples", "_types")

    def __init__(self, triples: Iterable[Triple], rules: Rules, known: Known | None) -> None:
        self._triples = tuple(triples)
        self._rules = rules
        self._known = known
        self._by_subject: defaultdict[object, list[Triple]] = defaultdict(list)
        self._types: dict[object, frozenset[str]] = {}
        self._elsewhere: dict[object, frozenset[str]] = {}
        for triple in self._triples:
            self._by_subject[triple.subject].append(triple)

    def violations(self, *, closed: bool) -> Iterator[Violation]:
        """Everything that breaks the rules: statement by statement, then what is too few or too many."""
        for triple in self._triples:
            if closed:
                yield from self._unknown(triple)
            demand = self._rules.demands.get(triple.predicate.value, NOTHING)
            for domain in demand.domains:
                yield from self._outside_domain(triple, domain)
            for range in demand.ranges:
                yield from self._outside_range(triple, range)
        yield from self._miscounted()

    def _unknown(self, triple: Triple) -> Iterator[Violation]:
        if not self._rules.knows_property(triple.predicate.value):
            reason = f"{triple.predicate} is not in the schema; declare it there, or leave it out"
            yield _violation(triple, reason)
        elif triple.predicate.value == v.TYPE and not self._rules.knows_class(getattr(triple.object, "value", "")):
            yield _violation(triple, f"the class {triple.object} is not in the schema; declare it, or name another")

    def _outside_domain(self, triple: Triple, domain: str) -> Iterator[Violation]:
        if not self._is_in(triple.subject, frozenset([domain])):
            reason = (
                f"{triple.subject} has {triple.predicate}, which only a <{domain}> has; "
                f"state that it is one, or leave the property out"
            )
            yield _violation(triple, reason)

    def _outside_range(self, triple: Triple, range: str) -> Iterator[Violation]:
        value = triple.object
        if isinstance(value, Literal):
            advice = self._literal_advice(value, range)
        elif self._rules.is_datatype(range):
            advice = f"is a resource; write a literal of <{range}>"
        else:
            is_fine = self._may_be_in(value, frozenset([range]))
            advice = None if is_fine else f"is not known as a <{range}>; state that it is one, or reference another"
        if advice:
            yield _violation(triple, f"{value}, a value of {triple.predicate} of {triple.subject}, {advice}")

    def _literal_advice(self, value: Literal, range: str) -> str | None:
        """What to do about a literal in this range; None if it is fine."""
        if not self._rules.is_datatype(range):
            return f"is a literal; reference a resource that is a <{range}>"
        if range == v.LITERAL:
            return None
        if is_plain(value):
            if range == _LANG_STRING:
                return 'has no language; add one, as in "text"@en'
            own, bases = range, self._rules.above([range])
        else:
            own, bases = value.datatype.value, self._rules.above([value.datatype.value])
            if range not in bases:
                return f"is a <{own}>; write a literal of <{range}>"
        is_fine = all(is_spelled(value.value, base) for base in bases)
        return None if is_fine else f"is not spelled as a <{own}>; correct the value"

    def _miscounted(self) -> Iterator[Violation]:
        """The values of each resource for each limited property, those of properties below it included."""
        counts: defaultdict[tuple[object, str], dict[object, Triple]] = defaultdict(dict)
        for triple in self._triples:
            for name in self._rules.demands.get(triple.predicate.value, NOTHING).counted:
                counts[triple.subject, name].setdefault(triple.object, triple)
        yield from self._too_few(counts)
        yield from self._too_many(counts)

    def _too_few(self, counts: Counts) -> Iterator[Violation]:
        """Only where this document says what the resource is: another one may just add to it."""
        if not self._rules.minima:
            return
        for subject, statements in self._by_subject.items():
            classes = self._stated_classes(subject)
            for limit in (limit for name in sorted(classes) for limit in self._rules.minima.get(name, ())):
                count = len(counts.get((subject, limit.property), ()))
                if count < limit.minimum and limit.classes <= classes:
                    yield _missing(statements, limit, count)

    def _too_many(self, counts: Counts) -> Iterator[Violation]:
        for (subject, name), values in counts.items():
            for limit in self._rules.maxima.get(name, ()):
                surplus = [*values.values()][limit.maximum :]
                if surplus and self._is_in(subject, limit.classes):
                    reason = (
                        f"{subject} has {len(values)} values of <{name}>, and may have {limit.maximum}; "
                        f"take {len(surplus)} out"
                    )
                    yield _violation(surplus[0], reason)

    def _stated_classes(self, resource: object) -> frozenset[str]:
        """The classes that the document itself gives to a resource, and those above."""
        found = self._types.get(resource)
        if found is None:
            stated = (t.object for t in self._by_subject.get(resource, ()) if t.predicate.value == v.TYPE)
            found = self._rules.above(kind.value for kind in stated if isinstance(kind, NamedNode))
            self._types[resource] = found
        return found

    def _is_in(self, resource: object, classes: frozenset[str]) -> bool:
        """True if the resource is in all of the classes; others are asked only where the document does not say it."""
        missing = classes - self._stated_classes(resource)
        return not missing or missing <= self._known_classes(resource)

    def _may_be_in(self, resource: object, classes: frozenset[str]) -> bool:
        """The same for a resource that is perhaps described elsewhere: it may be in them if nobody knows it."""
        if resource in self._by_subject or isinstance(resource, BlankNode):
            return self._is_in(resource, classes)
        known = self._known_classes(resource)
        return not known or classes <= known

    def _known_classes(self, resource: object) -> frozenset[str]:
        if self._known is None or not isinstance(resource, NamedNode):
            return frozenset()
        found = self._elsewhere.get(resource)
        if found is None:
            types = frozenset(self._known(resource.value) or ())
            found = self._elsewhere[resource] = self._rules.above(types) if types else types
        return found


def _violation(triple: Triple, reason: str) -> Violation:
    subject, value = _term(triple.subject), _term(triple.object)
    return Violation(subject, triple.predicate, value, reason, triple)


def _term(node: object) -> Term:
    assert isinstance(node, NamedNode | BlankNode | Literal), "documents hold no triple terms"
    return node


def _missing(statements: list[Triple], limit: Limit, count: int) -> Violation:
    cause = next((t for t in statements if t.predicate.value == v.TYPE), statements[0])
    reason = (
        f"{cause.subject} has {count} values of <{limit.property}>, and needs {limit.minimum}; "
        f"add {limit.minimum - count}"
    )
    return Violation(_term(cause.subject), NamedNode(limit.property), None, reason, cause)
