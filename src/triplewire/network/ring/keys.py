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

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pyoxigraph import Triple, Variable

from triplewire.algebra.evaluate import unify
from triplewire.algebra.pattern import TriplePattern
from triplewire.model import Term
from triplewire.network.ring.conditional import ConditionalMembers
from triplewire.network.ring.loads import FadingWork
from triplewire.network.ring.members import WaitingMembers, key_of_member, members_except
from triplewire.network.ring.messages import Extension, Member
from triplewire.network.ring.splits import FAN, KeySplit
from triplewire.network.ring.statements import (
    NEVER,
    KeyStatement,
    Origin,
    Said,
    Sources,
    Support,
    ever_stood,
    latest,
    stands_for,
    united,
)

MANY = 16
"""From so many queries of one group with conditions on, an index finds those that hold."""

SELDOM = 4
"""For queries that wait with values, there is no index before triples have come so often: it would cost too much."""

GroupKey = tuple[TriplePattern, tuple[tuple[str, Term], ...], frozenset[Triple]]
Found = tuple["WaitingGroup", list[Member], Triple, dict[str, Term]]
"""Queries whose subquery a triple satisfies, and the values then."""


@dataclass(slots=True)
class WaitingGroup:
    """Queries that wait for the same pattern of a triple, with the same values."""

    pattern: TriplePattern
    binding: tuple[tuple[str, Term], ...]
    support: Support
    members: WaitingMembers = field(default_factory=WaitingMembers)
    met: int = 0
    """How often triples came to queries with conditions."""
    until: float = 0.0
    """Queries that were asked before this time may use what it stands on."""

    def __post_init__(self) -> None:
        self.until = stands_for(self.support)

    @property
    def key(self) -> GroupKey:
        """What tells it from other groups: what it stands on decides the values, too."""
        return self.pattern, self.binding, frozenset(self.support)

    def learn(self, support: Support) -> Support:
        """More is known of what it stands on; gives what was before, itself if nothing is new."""
        before, self.support = self.support, united(self.support, support)
        if self.support is not before:
            self.until = stands_for(self.support)
        return before

    def copy(self) -> WaitingGroup:
        """Another one like it; what is in it does not change."""
        return WaitingGroup(self.pattern, self.binding, self.support, self.members.copy())


class HomeWatch(NamedTuple):
    """What a home has said last of a resource: that it is to be told what is stated of it, or not any more."""

    number: int
    resource: Term
    is_wanted: bool


@dataclass(slots=True)
class KeyState:
    """All that is kept under one key.

    `is_by_document`: it counts which documents state a triple, and not only that one does. `is_split`: what comes goes
    to the shares of this key, and what is still here is on its way to them; `is_settled`: nothing is.
    """

    documents: dict[Origin, KeyStatement] = field(default_factory=dict)
    groups: dict[GroupKey, WaitingGroup] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    watches: dict[str, HomeWatch] = field(default_factory=dict)
    is_by_document: bool = False
    is_split: bool = False
    is_settled: bool = False
    work: FadingWork = field(default_factory=FadingWork)
    _triples: dict[Triple, Sources] = field(default_factory=dict)
    _by_values: dict[tuple[int, ...], dict[tuple[Term, ...], dict[GroupKey, WaitingGroup]]] = field(
        default_factory=dict
    )
    _triples_by: dict[tuple[int, ...], dict[tuple[Term, ...], dict[Triple, None]]] = field(default_factory=dict)
    _conditional: dict[GroupKey, ConditionalMembers] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        documents: Mapping[Origin, KeyStatement],
        groups: Iterable[WaitingGroup],
        ended: Iterable[str],
        watches: Mapping[str, HomeWatch],
        said: Support,
        *,
        is_by_document: bool,
        is_split: bool,
        is_settled: bool,
    ) -> KeyState:
        """What another peer has kept under a key; the groups are its own from now on."""
        flags = is_by_document, is_split, is_settled
        found = cls(dict(documents), {}, set(ended), dict(watches), *flags, _triples=dict(said))
        for group in groups:
            found._add(group)
        return found

    def copy(self) -> KeyState:
        """A copy, for another peer."""
        return self.of(
            self.documents,
            [group.copy() for group in self.groups.values()],
            self.ended,
            self.watches,
            self._triples,
            is_by_document=self.is_by_document,
            is_split=self.is_split,
            is_settled=self.is_settled,
        )

    @property
    def said(self) -> Support:
        """What documents say of each triple, also of those that none states any more."""
        return self._triples

    @property
    def size(self) -> int:
        """How much is kept here: triples, queries that wait or have ended, documents."""
        waiting = sum(len(group.members) for group in self.groups.values())
        return len(self._triples) + len(self.documents) + len(self.ended) + waiting

    @property
    def is_empty(self) -> bool:
        """Whether nothing is kept here."""
        return not (self.documents or self.groups or self.ended or self.watches)

    @property
    def watchers(self) -> dict[str, Term]:
        """The homes that are told what is stated of a resource, which is that of this key."""
        return {home: watch.resource for home, watch in self.watches.items() if watch.is_wanted}

    def watch(self, home: str, watch: HomeWatch) -> None:
        """A home says whether it is to be told; what it has said last counts."""
        known = self.watches.get(home)
        if known is None or known.number < watch.number:
            self.watches[home] = watch

    def clear(self) -> None:
        """Nothing is kept here any more: all of it is in the shares of this key."""
        for each in (self.documents, self.groups, self.ended, self.watches):
            each.clear()
        for kept in (self._triples, self._by_values, self._triples_by, self._conditional):
            kept.clear()

    # -- triples

    def state(
        self, origin: Origin, statement: KeyStatement, ended: frozenset[Triple] = frozenset()
    ) -> list[tuple[Triple, float, float]]:
        """A version of a document states these triples here, and not those that have `ended`.

        Gives those of which something else is said now, and the times before which queries had to be asked to use them:
        before, and now.
        """
        before = self.documents.get(origin)
        if before is not None and before.version == statement.version:
            return []
        known = before if before is not None and before.version > statement.version else statement
        self.documents[origin] = known
        gone = ended | statement.triples | (before.triples if before is not None else frozenset())
        changes = [self._say(t, origin, known, statement.time) for t in _in_order(gone - known.triples)]
        changes += [self._say(t, origin, known, statement.time) for t in _in_order(known.triples & statement.triples)]
        return [each for each in changes if each is not None]

    def _say(
        self, triple: Triple, origin: Origin, known: KeyStatement, spoken: float
    ) -> tuple[Triple, float, float] | None:
        """What a document says of a triple now: see `state`; None if that was known.

        What has ended, and was never known here, another peer may have passed on to queries from before it was `spoken`
        of.
        """
        sources = self._triples.get(triple, {})
        before = sources.get(origin)
        if before is not None and before.version >= known.version:
            return None
        said = Said(known.version, known.time, triple in known.triples)
        told = {**sources, origin: said}
        self.learn(triple, told)
        elsewhere = spoken if before is None and not said.is_stated else NEVER
        if self.is_by_document:
            return triple, before.until if before is not None else elsewhere, said.until
        return triple, max(latest(sources), elsewhere), latest(told)

    def learn(self, triple: Triple, sources: Sources) -> None:
        """So much is known of a triple."""
        if triple not in self._triples:
            for places, by in self._triples_by.items():
                by.setdefault(_at(places, triple), {})[triple] = None
        self._triples[triple] = sources

    def candidates(self, pattern: TriplePattern) -> Iterable[Triple]:
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

    def wait(self, extension: Extension) -> tuple[WaitingGroup, list[Member], float] | None:
        """Queries wait; gives those for which that is news, and the time before which they had to be asked to have been
        told already of what their group stands on, by this peer or another. None: no news.
        """
        key = extension.pattern, extension.binding, frozenset(extension.support)
        group = self.groups.get(key)
        if group is None:
            group = WaitingGroup(extension.pattern, extension.binding, extension.support)
            self._add(group, key)
        before = group.learn(extension.support)
        members = members_except(extension.members, self.ended) if self.ended else extension.members
        added = group.members.add(members)
        if added:
            self._conditional.pop(key, None)
        if group.support is not before:
            return group, [*group.members], max(stands_for(before), ever_stood(group.support) if added else NEVER)
        return (group, added, ever_stood(group.support)) if added else None

    def _add(self, group: WaitingGroup, key: GroupKey | None = None) -> None:
        key = key or group.key
        self.groups[key] = group
        places = _places(group.pattern)
        self._by_values.setdefault(places, {}).setdefault(_at(places, group.pattern), {})[key] = group

    def end(self, query: str) -> list[tuple[WaitingGroup, list[Member]]]:
        """A query is not asked any more; gives where it waited."""
        self.ended.add(query)
        found = []
        for key, group in [*self.groups.items()]:
            members = group.members.end(query)
            if members:
                found.append((group, members))
                self._conditional.pop(key, None)
            if members and not group.members:
                del self.groups[key]
                places = _places(group.pattern)
                del self._by_values[places][_at(places, group.pattern)][key]
        return found

    def waiting_for(self, triple: Triple) -> Iterator[GroupKey]:
        """The groups that have the values of a triple."""
        for places, by in self._by_values.items():
            yield from by.get(_at(places, triple), ())

    # -- what they make together

    def met_by(self, triple: Triple, before: float, after: float) -> Iterator[Found]:
        """The groups that a triple satisfies that queries of other times may use than before."""
        low, most = sorted((before, after))
        if low == most:
            return
        for places, by in self._by_values.items():
            for group in [*by.get(_at(places, triple), {}).values()]:
                high = min(most, group.until)
                if low < high:
                    yield from self._satisfied(group, triple, low, high)

    def _satisfied(self, group: WaitingGroup, triple: Triple, low: float, high: float) -> Iterator[Found]:
        """The queries of these times that a triple satisfies."""
        values = dict(group.binding)
        wider = unify(group.pattern, triple, values)
        if wider is None:
            return
        members = [each for each in group.members if low <= each[0].since < high]
        conditional = [each for each in members if each[0].conditions]
        group.met += bool(conditional)
        if len(conditional) >= MANY and (group.met > SELDOM or not group.binding):
            index = self._conditional.get(group.key)
            if index is None:
                index = self._conditional[group.key] = ConditionalMembers(group.pattern, group.binding, group.members)
            passing = index.passing(triple, wider)
            members = [each for each in members if not each[0].conditions or key_of_member(each) in passing]
        elif conditional:
            members = [each for each in members if each[0].passes(values, wider)]
        if members:
            yield group, members, triple, wider

    def met_with(self, group: WaitingGroup, members: list[Member], until: float) -> Iterator[Found]:
        """The triples here that satisfy a group of which something is new: see `wait`."""
        until = max(group.until, until)
        values = dict(group.binding)
        for triple in [*self.candidates(group.pattern)]:
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
            for triple in [*self.candidates(group.pattern)]:
                wider = unify(group.pattern, triple, values)
                members = [] if wider is None else [*self._told_of(group, triple, values, wider)]
                if wider is not None and members:
                    yield group, members, triple, wider

    def ever_met(self, group: WaitingGroup) -> Iterator[tuple[Triple, dict[str, Term]]]:
        """The triples that have satisfied a group, perhaps long ago, and the values then."""
        for triple in [*self.candidates(group.pattern)]:
            wider = unify(group.pattern, triple, dict(group.binding))
            if wider is not None:
                yield triple, wider

    def _told_of(
        self, group: WaitingGroup, triple: Triple, before: dict[str, Term], after: dict[str, Term]
    ) -> Iterator[Member]:
        """The queries of a group that were told of a triple, or should be."""
        until = max(group.until, latest(self._triples[triple]))
        for query, path in group.members:
            if query.since < until and query.passes(before, after):
                yield query, path

    # -- shares

    def divided(self, split: KeySplit) -> dict[int, KeyState]:
        """What is kept here, as the shares of this key keep it, by their numbers."""
        found = {number: KeyState(is_by_document=self.is_by_document) for number in range(FAN)}
        for triple, sources in self._triples.items():
            decided = split.of_triple(triple)
            if decided is not None:
                found[decided].learn(triple, sources)
                continue
            by: dict[int, dict[Origin, Said]] = {}
            for origin, said in sources.items():
                for number in split.of_document(origin):
                    by.setdefault(number, {})[origin] = said
            for number, some in by.items():
                found[number].learn(triple, some)
        for share in found.values():
            share._restate()
        for group in self.groups.values():
            for number, members in split.of_members(group.pattern, group.members).items():
                part = WaitingGroup(group.pattern, group.binding, group.support)
                part.members.add(tuple(members))
                found[number]._add(part)
        for query in self.ended:
            for number in split.of_query(query):
                found[number].ended.add(query)
        for share in found.values():
            share.watches.update(self.watches)
        return {number: share for number, share in found.items() if not share.is_empty}

    def _restate(self) -> None:
        """Make out what documents state from what is known of each triple."""
        stated: dict[Origin, dict[Triple, Said]] = {}
        for triple, sources in self._triples.items():
            for origin, said in sources.items():
                stated.setdefault(origin, {})[triple] = said
        for origin, told in stated.items():
            newest_said = max(told.values(), key=lambda said: said.version)
            triples = frozenset(triple for triple, said in told.items() if said.is_stated)
            self.documents[origin] = KeyStatement(newest_said.version, newest_said.time, triples)


def _in_order(triples: Iterable[Triple]) -> list[Triple]:
    """Sets of terms have another order in every process."""
    return sorted(triples, key=str)


def _places(pattern: TriplePattern) -> tuple[int, ...]:
    return tuple(place for place, node in enumerate(pattern) if not isinstance(node, Variable))


def _at(places: tuple[int, ...], triple: Triple | TriplePattern) -> tuple[Term, ...]:
    terms = tuple(triple)
    return tuple(terms[place] for place in places)
