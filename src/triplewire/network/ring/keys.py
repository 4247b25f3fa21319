"""What a peer keeps under one key: triples, and the subqueries that wait for them (sections 4 and 5).

The paper has a query table (QT), a triple table (TT) and a table of intermediate results (IRT) for each node. Here they
are kept by key, because one peer may be responsible for several positions of a chain. A subquery that nothing is known
for yet (QT) and one that was rewritten with an intermediate result (IRT) are the same: a pattern of one triple that
waits, for a group of queries, with the values so far and what they stand on.

A group is found by the values of a triple, not by going through the groups; queries with conditions on the triple are
found by an `Index` where there are many. An intermediate result is kept also when no triple extends it yet, and a
triple when no query waits for it yet: each may overtake the other.

Invariant: what is kept is the same in whatever order, and however often, it is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pyoxigraph import Triple, Variable

from triplewire.algebra.evaluate import unify
from triplewire.algebra.pattern import Conjunction, Pattern, TriplePattern
from triplewire.matching import Index
from triplewire.model import Document, Term
from triplewire.network.ring.messages import Extension, Member
from triplewire.network.ring.statements import (
    NEVER,
    KeyStatement,
    Origin,
    Said,
    Sources,
    Support,
    latest,
    newest,
    stands_for,
    united,
)

MANY = 16
"""From so many queries of one group with conditions on, an index finds those that hold."""

MemberKey = tuple[str, tuple[int, ...]]
GroupKey = tuple[TriplePattern, tuple[tuple[str, Term], ...], frozenset[Triple]]
Found = tuple["WaitingGroup", list[Member], Triple, dict[str, Term]]
"""Queries whose subquery a triple satisfies, and the values then."""


@dataclass(slots=True)
class WaitingGroup:
    """Queries that wait for the same pattern of a triple, with the same values."""

    pattern: TriplePattern
    binding: tuple[tuple[str, Term], ...]
    support: Support
    members: dict[MemberKey, Member] = field(default_factory=dict)

    @property
    def key(self) -> GroupKey:
        """What tells it from other groups."""
        return self.pattern, self.binding, frozenset(self.support)

    def copy(self) -> WaitingGroup:
        """Another one like it; what is in it does not change."""
        return WaitingGroup(self.pattern, self.binding, self.support, dict(self.members))


@dataclass(slots=True)
class KeyState:
    """All that is kept under one key."""

    documents: dict[Origin, KeyStatement] = field(default_factory=dict)
    groups: dict[GroupKey, WaitingGroup] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    watchers: dict[str, Term] = field(default_factory=dict)
    _triples: dict[Triple, Sources] = field(default_factory=dict)
    _by_values: dict[tuple[int, ...], dict[tuple[Term, ...], dict[GroupKey, None]]] = field(default_factory=dict)
    _triples_by: dict[tuple[int, ...], dict[tuple[Term, ...], dict[Triple, None]]] = field(default_factory=dict)
    _conditional: dict[GroupKey, ConditionalMembers] = field(default_factory=dict)

    def copy(self) -> KeyState:
        """A copy, for another peer."""
        found = KeyState(dict(self.documents), {}, set(self.ended), dict(self.watchers), dict(self._triples))
        for group in self.groups.values():
            found._add(group.copy())
        return found

    @property
    def is_empty(self) -> bool:
        """Whether nothing is kept here."""
        return not (self.documents or self.groups or self.ended or self.watchers)

    # -- triples

    def state(self, origin: Origin, statement: KeyStatement) -> list[tuple[Triple, Said | None, Said]]:
        """A version of a document states these triples here; gives those of which something else is said now."""
        before = self.documents.get(origin)
        if before is not None and before.version >= statement.version:
            return []
        self.documents[origin] = statement
        gone = before.triples - statement.triples if before is not None else frozenset[Triple]()
        changes = []
        for triple, is_there in [
            *((t, False) for t in _in_order(gone)),
            *((t, True) for t in _in_order(statement.triples)),
        ]:
            sources = self._triples.get(triple, {})
            said = Said(statement.version, statement.time, is_there)
            changes.append((triple, sources.get(origin), said))
            self._learn(triple, {**sources, origin: said})
        return changes

    def _learn(self, triple: Triple, sources: Sources) -> None:
        if triple not in self._triples:
            for places, by in self._triples_by.items():
                by.setdefault(_at(places, triple), {})[triple] = None
        self._triples[triple] = sources

    def _candidates(self, pattern: TriplePattern) -> Iterable[Triple]:
        """The triples that have the values of a pattern."""
        places = _places(pattern)
        if places not in self._triples_by:
            by = self._triples_by[places] = {}
            for triple in self._triples:
                by.setdefault(_at(places, triple), {})[triple] = None
        return self._triples_by[places].get(_at(places, pattern), ())

    def sources(self, triple: Triple) -> Sources:
        """The documents that state a triple, or did."""
        return self._triples[triple]

    # -- what waits

    def wait(self, extension: Extension) -> tuple[WaitingGroup, list[Member], Support] | None:
        """Queries wait; gives those for which that is news, and what their group stood on before. None: no news."""
        fresh = WaitingGroup(extension.pattern, extension.binding, extension.support)
        group = self.groups.get(fresh.key)
        if group is None:
            group = fresh
            self._add(group)
        before, group.support = group.support, united(group.support, extension.support)
        added = []
        for query, path in extension.members:
            if (query.key, path) not in group.members and query.key not in self.ended:
                group.members[query.key, path] = query, path
                added.append((query, path))
        if added:
            self._conditional.pop(group.key, None)
        if group.support is not before:
            return group, [*group.members.values()], before
        return (group, added, {}) if added else None

    def _add(self, group: WaitingGroup) -> None:
        self.groups[group.key] = group
        places = _places(group.pattern)
        self._by_values.setdefault(places, {}).setdefault(_at(places, group.pattern), {})[group.key] = None

    def end(self, query: str) -> list[tuple[WaitingGroup, list[Member]]]:
        """A query is not asked any more; gives where it waited."""
        self.ended.add(query)
        found = []
        for key, group in [*self.groups.items()]:
            members = [each for each in group.members.values() if each[0].key == query]
            if members:
                found.append((group, members))
                for each in members:
                    del group.members[query, each[1]]
                self._conditional.pop(key, None)
            if members and not group.members:
                del self.groups[key]
                places = _places(group.pattern)
                del self._by_values[places][_at(places, group.pattern)][key]
        return found

    # -- what they make together

    def met_by(self, triple: Triple, before: Said | None, after: Said) -> Iterator[Found]:
        """The groups that a triple satisfies of which a document says something else now."""
        for places, by in self._by_values.items():
            for key in [*by.get(_at(places, triple), ())]:
                group = self.groups[key]
                until = before.until if before is not None else NEVER
                low, high = sorted((until, after.until))
                high = min(high, stands_for(group.support))
                if low < high:
                    yield from self._satisfied(group, triple, low, high)

    def _satisfied(self, group: WaitingGroup, triple: Triple, low: float, high: float) -> Iterator[Found]:
        """The queries of these times that a triple satisfies."""
        values = dict(group.binding)
        wider = unify(group.pattern, triple, values)
        if wider is None:
            return
        members = [each for each in group.members.values() if low <= each[0].since < high]
        conditional = [each for each in members if each[0].conditions]
        if len(conditional) >= MANY and not group.binding:
            index = self._conditional.get(group.key)
            if index is None:
                index = self._conditional[group.key] = ConditionalMembers(group)
            passing = index.passing(triple)
            members = [each for each in members if not each[0].conditions or (each[0].key, each[1]) in passing]
        elif conditional:
            members = [each for each in members if each[0].passes(values, wider)]
        if members:
            yield group, members, triple, wider

    def met_with(self, group: WaitingGroup, members: list[Member], before: Support) -> Iterator[Found]:
        """The triples here that satisfy a group of which something is new; `before` is what it stood on."""
        until = max(stands_for(group.support), stands_for(before) if before else NEVER)
        values = dict(group.binding)
        for triple in [*self._candidates(group.pattern)]:
            high = min(until, latest(self._triples[triple]))
            wider = unify(group.pattern, triple, values) if high > NEVER else None
            if wider is not None:
                found = [each for each in members if each[0].since < high and each[0].passes(values, wider)]
                if found:
                    yield group, found, triple, wider

    def everything(self) -> Iterator[Found]:
        """All that groups and triples make together, and what they do not make any more."""
        for group in [*self.groups.values()]:
            values = dict(group.binding)
            for triple in [*self._candidates(group.pattern)]:
                wider = unify(group.pattern, triple, values)
                members = [] if wider is None else [*self._told_of(group, triple, values, wider)]
                if wider is not None and members:
                    yield group, members, triple, wider

    def ever_met(self, group: WaitingGroup) -> Iterator[tuple[Triple, dict[str, Term]]]:
        """The triples that have satisfied a group, perhaps long ago, and the values then."""
        for triple in [*self._candidates(group.pattern)]:
            wider = unify(group.pattern, triple, dict(group.binding))
            if wider is not None:
                yield triple, wider

    def _told_of(
        self, group: WaitingGroup, triple: Triple, before: dict[str, Term], after: dict[str, Term]
    ) -> Iterator[Member]:
        """The queries of a group that were told of a triple, or should be."""
        until = max(stands_for(group.support), latest(self._triples[triple]))
        for query, path in group.members.values():
            if query.since < until and query.passes(before, after):
                yield query, path

    # -- another peer's

    def merge(self, other: KeyState) -> Iterator[Found]:
        """Take in what another peer has kept under this key; gives what that makes together with what is here."""
        self.watchers |= other.watchers
        for query in _missing(other.ended, self.ended):
            self.end(query)
        for origin, statement in other.documents.items():
            for triple, before, after in self.state(origin, statement):
                yield from self.met_by(triple, before, after)
        for triple, sources in other._triples.items():
            self._learn(triple, newest(self._triples.get(triple, {}), sources.items()))
        for group in other.groups.values():
            members = tuple(group.members.values())
            news = self.wait(Extension(group.pattern, group.binding, group.support, members))
            if news is not None:
                yield from self.met_with(*news)


class ConditionalMembers:
    """The queries of a group that have conditions on its triple, as an index."""

    def __init__(self, group: WaitingGroup) -> None:
        self._index = Index()
        self._members: dict[str, MemberKey] = {}
        self._others: set[MemberKey] = set()
        for number, (key, (query, path)) in enumerate(group.members.items()):
            conditions = query.conditions_on(path[-1])
            if conditions:
                self._members[str(number)] = key
                self._index.add(str(number), Pattern((), (Conjunction((group.pattern,), conditions),)))
            else:
                self._others.add(key)

    def passing(self, triple: Triple) -> set[MemberKey]:
        """Those whose conditions hold for a triple."""
        found = self._index.match(Document.from_triples("urn:triple", [triple]))
        return {self._members[match.subscription] for match in found} | self._others


def _missing(wanted: Iterable[str], known: set[str]) -> list[str]:
    return sorted(each for each in wanted if each not in known)


def _in_order(triples: Iterable[Triple]) -> list[Triple]:
    """Sets of terms have another order in every process."""
    return sorted(triples, key=str)


def _places(pattern: TriplePattern) -> tuple[int, ...]:
    return tuple(place for place, node in enumerate(pattern) if not isinstance(node, Variable))


def _at(places: tuple[int, ...], triple: Triple | TriplePattern) -> tuple[Term, ...]:
    terms = tuple(triple)
    return tuple(terms[place] for place in places)
