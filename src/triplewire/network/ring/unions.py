"""Unions: what two peers have kept under one key, put together.

Both were responsible for it, one after the other or at the same time. What each knows adds up, whichever is newer. But
each has passed on what it made of less than both know, and does not take back what it never made: a document states a
triple, a peer that stands in for another passes on what that makes, and the next version, which does not state it,
comes to the other one, which is back and has never heard of the triple. So whatever a triple and a query make together
that one of the two may have made without knowing all of it is passed on with all that is known.

Invariant: what both have passed on adds up, further on, to no less than what is known of it here.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import Triple

from triplewire.algebra.evaluate import unify
from triplewire.network.ring.keys import Found, GroupKey, KeyState
from triplewire.network.ring.members import MemberKey, key_of_member
from triplewire.network.ring.messages import Extension
from triplewire.network.ring.statements import (
    NEVER,
    Origin,
    Said,
    ever,
    ever_stood,
    has_all,
    knows,
    newest,
)


class KeyUnion:
    """What is kept under a key here, and what another peer has kept `there`; `found` puts it together, once."""

    def __init__(self, here: KeyState, there: KeyState) -> None:
        self._here, self._there = here, there
        self._triples: dict[Triple, None] = {}
        """Those of which the other peer knows more."""
        self._groups: set[GroupKey] = set()
        """Those of which the other peer knows more."""
        self._added: dict[GroupKey, set[MemberKey]] = {}
        """The queries that only the other peer had."""

    def found(self) -> list[Found]:
        """Take in what the other peer has; gives what is to be passed on because of that."""
        here, there = self._here, self._there
        here.is_split = here.is_split or there.is_split
        here.is_settled = here.is_settled and here.is_empty and there.is_empty
        for home, watch in there.watches.items():
            here.watch(home, watch)
        for query in sorted(there.ended - here.ended):
            here.end(query)
        self._take_triples()
        self._take_groups()
        pairs = {(key, triple): None for triple in self._triples for key in here.waiting_for(triple)}
        for key in there.groups:
            pairs |= {(key, triple): None for triple in here.candidates(here.groups[key].pattern)}
        return [found for pair in pairs for found in self._made_of_less(*pair)]

    def _take_triples(self) -> None:
        here, there = self._here, self._there
        self._triples |= {t: None for t, sources in there.said.items() if not has_all(here.said.get(t), sources)}
        for origin, statement in there.documents.items():
            self._triples |= {triple: None for triple, _, _ in here.state(origin, statement)}
        for triple, sources in there.said.items():
            told = ((origin, self._said_now(triple, origin, said)) for origin, said in sources.items())
            here.learn(triple, newest(here.said.get(triple, {}), told))

    def _said_now(self, triple: Triple, origin: Origin, said: Said) -> Said:
        """What a document says of a triple, if it said this once: versions that do not speak of it do not state it."""
        known = self._here.documents.get(origin)
        if known is None or known.version <= said.version:
            return said
        return Said(known.version, known.time, triple in known.triples)

    def _take_groups(self) -> None:
        for key, group in self._there.groups.items():
            known = self._here.groups.get(key)
            if known is not None and not knows(known.support, group.support):
                self._groups.add(key)
            before = {key_of_member(each) for each in known.members} if known is not None else set()
            self._here.wait(Extension(group.pattern, group.binding, group.support, tuple(group.members)))
            self._added[key] = {key_of_member(each) for each in self._here.groups[key].members} - before

    def _made_of_less(self, key: GroupKey, triple: Triple) -> Iterator[Found]:
        """What a triple makes with the queries of a group, for those that a peer kept that knew less.

        Also where the other peer knew all: it may have passed nothing on of what had stood before already.
        """
        group, sources = self._here.groups[key], self._here.said[triple]
        knew_here = key not in self._groups and triple not in self._triples
        knew_there = self._knew_there(key, triple)
        until = min(ever_stood(group.support), ever(sources))
        wider = unify(group.pattern, triple, dict(group.binding))
        if wider is None or until == NEVER or (knew_here and knew_there):
            return
        theirs = self._there.groups.get(key)
        there = {key_of_member(each) for each in theirs.members} if theirs is not None else set()
        added, values, members = self._added.get(key, set()), dict(group.binding), []
        for each in group.members:
            name = key_of_member(each)
            knew_all = (knew_here or name in added) and (knew_there or name not in there)
            if not knew_all and each[0].since < until and each[0].passes(values, wider):
                members.append(each)
        if members:
            yield group, members, triple, wider

    def _knew_there(self, key: GroupKey, triple: Triple) -> bool:
        theirs = self._there.groups.get(key)
        is_new = theirs is None or not knows(theirs.support, self._here.groups[key].support)
        return not is_new and has_all(self._there.said.get(triple), self._here.said[triple])
