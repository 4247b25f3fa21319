"""Members of a group: queries that wait for the same triple with the same values, each with its way so far.

There are many more of these than of anything else that a ring keeps. Most groups are made by one message, and get no
more members: they keep those of the message as they came, in no place of their own. The others keep theirs by key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from triplewire.network.ring.messages import Member
from triplewire.network.ring.queries import RingQuery

MemberKey = tuple[str, tuple[int, ...]]


def key_of_member(member: Member) -> MemberKey:
    """What tells a member from others."""
    return member[0].key, member[1]


@lru_cache(maxsize=1 << 18)
def next_member(query: RingQuery, path: tuple[int, ...], number: int) -> Member:
    """A query that goes on to one more of its subqueries: the same value in all groups that it comes to."""
    return query, (*path, number)


class WaitingMembers:
    """The members of one group, each once."""

    __slots__ = ("_by_key", "_told")

    def __init__(self, told: tuple[Member, ...] = ()) -> None:
        self._told = told
        self._by_key: dict[MemberKey, Member] | None = None

    def __iter__(self) -> Iterator[Member]:
        return iter(self._told if self._by_key is None else self._by_key.values())

    def __len__(self) -> int:
        return len(self._told if self._by_key is None else self._by_key)

    def copy(self) -> WaitingMembers:
        """Another one like it."""
        found = WaitingMembers(self._told)
        found._by_key = None if self._by_key is None else dict(self._by_key)
        return found

    def add(self, members: tuple[Member, ...]) -> list[Member]:
        """More members, none of them twice; gives those that are new."""
        if not len(self):
            self._told, self._by_key = members, None
            return [*members]
        known = self._keyed()
        added = []
        for member in members:
            key = key_of_member(member)
            if key not in known:
                known[key] = member
                added.append(member)
        return added

    def end(self, query: str) -> list[Member]:
        """A query is a member no more; gives what it was."""
        gone = [member for member in self if member[0].key == query]
        if gone:
            known = self._keyed()
            for member in gone:
                del known[key_of_member(member)]
        return gone

    def _keyed(self) -> dict[MemberKey, Member]:
        if self._by_key is None:
            self._by_key = {key_of_member(member): member for member in self._told}
            self._told = ()
        return self._by_key


def members_except(members: Iterable[Member], ended: set[str]) -> tuple[Member, ...]:
    """Members whose queries have not ended."""
    return tuple(member for member in members if member[0].key not in ended)
