"""Moves: what a step does for queries, each found once, and put together for every edge that follows some of them.

What an edge is told of several queries is not what it would be told of each: a node that one query reaches anew may
have been reached by another one before, and then is described only if it differs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple


class QueryMoves(NamedTuple):
    """What a step does for one query."""

    registered: list[str]
    """The resources that come, and that go, as hub and edge spell them."""
    released: list[str]
    going: frozenset[int]
    """Those that go."""
    new: frozenset[int]
    """What its touched resources hold now, and held before."""
    old: frozenset[int]
    differing: frozenset[int]
    """Of the new ones, those of which something else is stated than before."""
    bare: frozenset[int]
    """Of the nodes that it reaches no longer, those of which nothing is stated any more."""


class Moves(NamedTuple):
    """What a step does for some queries, and what all that concerns."""

    queries: Mapping[int, QueryMoves]
    described: list[int]
    """The nodes whose descriptions differ, or that are new."""
    deleted: list[int]
    """Nodes of before of which nothing is stated any more."""


def described_by(moves: Collection[QueryMoves]) -> list[int]:
    """The nodes that are described to an edge for all of the moves: those that differ, or that none has reached."""
    found: set[int] = set().union(*(each.differing for each in moves))
    fresh: set[int] = set().union(*(each.new - each.old for each in moves))
    return sorted(found | fresh.difference(*(each.old for each in moves)) if fresh else found)


def deleted_by(moves: Collection[QueryMoves]) -> list[int]:
    """The nodes that are deleted for an edge by all of the moves: what another one still reaches is not."""
    bare: set[int] = set().union(*(each.bare for each in moves))
    if not bare:
        return []
    going: set[int] = set().union(*(each.going for each in moves))
    reached: set[int] = set().union(*(each.new for each in moves))
    return sorted(node for node in bare if node in going or node not in reached)
