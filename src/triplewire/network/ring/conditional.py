"""Queries of a group that have conditions on its triple: many of them are found by an `Index`, and not one by one."""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import BlankNode, Triple

from triplewire.algebra.pattern import Conjunction, Pattern, TriplePattern, variables_of
from triplewire.algebra.substitution import replace_variables
from triplewire.matching import Index
from triplewire.model import Document, Term
from triplewire.network.ring.members import MemberKey, key_of_member
from triplewire.network.ring.messages import Member
from triplewire.network.ring.queries import RingQuery


class ConditionalMembers:
    """The queries of a group that have conditions on its triple, with the values that they wait with, as an index."""

    def __init__(
        self, pattern: TriplePattern, binding: tuple[tuple[str, Term], ...], members: Iterable[Member]
    ) -> None:
        self._index = Index()
        self._members: dict[str, MemberKey] = {}
        self._others: set[MemberKey] = set()
        self._looked_at: dict[MemberKey, RingQuery] = {}
        """Those with conditions on what has no name, which no pattern can say."""
        self._bound = dict(binding)
        nameless = {name for name, term in self._bound.items() if isinstance(term, BlankNode)}
        known = self._bound.keys() | {*pattern.variables}
        for number, member in enumerate(members):
            query, key = member[0], key_of_member(member)
            decided = query.decided(self._bound.keys(), known)
            if any(not nameless.isdisjoint(variables_of(each)) for each in decided):
                self._looked_at[key] = query
            elif decided:
                conditions = tuple(replace_variables(each, self._bound) for each in decided)
                self._members[str(number)] = key
                self._index.add(str(number), Pattern((), (Conjunction((pattern,), conditions),)))
            else:
                self._others.add(key)

    def passing(self, triple: Triple, wider: dict[str, Term]) -> set[MemberKey]:
        """Those whose conditions hold for a triple, with which these values are known."""
        found = self._index.match(Document.from_triples("urn:triple", [triple]))
        looked_at = {key for key, query in self._looked_at.items() if query.passes(self._bound, wider)}
        return {self._members[match.subscription] for match in found} | self._others | looked_at
