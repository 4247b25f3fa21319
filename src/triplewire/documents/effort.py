"""What RDFC-1.0 would cost on a graph, reckoned by walking as it does without hashing as it does.

The algorithm (https://www.w3.org/TR/rdf-canon/#hash-nd-quads) walks from each blank node that its digest does not
tell apart, and at each step tries all orders of the neighbours that look alike. Which steps it takes depends only on
the *sets* of nodes already named, not on the hashes, except that a hash may cut an order short. So the walk here
takes every step and never cuts: an upper bound, and one that costs little, since it stops at the ceiling.

The prices are pyoxigraph 0.5.13's, in about microseconds. It copies the names issued so far at each step, and hashes
the triples of a neighbour anew each time it looks at it.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations

from triplewire.documents.surroundings import Surroundings

_STEP = 4.0
_COPIED_NAME = 0.1
_NEIGHBOUR = 1.0
_HASHED_BYTE = 0.01
# Frames of the recursion, here and in Rust, whose stack may be a small one of a thread.
_DEEPEST = 250


class TooMuchEffort(Exception):
    """The walk is over the ceiling."""


def is_within(graph: Surroundings, ceiling: float) -> bool:
    """Whether RDFC-1.0 names this graph's blank nodes for at most about `ceiling` microseconds."""
    try:
        _Walk(graph, ceiling).run()
    except TooMuchEffort:
        return False
    return True


class _Walk:
    def __init__(self, graph: Surroundings, ceiling: float) -> None:
        self.graph = graph
        self.ceiling = ceiling
        self.spent = 0.0
        self.named: set[int] = set()

    def run(self) -> None:
        alike = defaultdict(list)
        for node, digest in enumerate(self.graph.digests):
            alike[digest].append(node)
        self.named.update(nodes[0] for nodes in alike.values() if len(nodes) == 1)
        for digest in sorted(digest for digest, nodes in alike.items() if len(nodes) > 1):
            found: set[int] = set()
            for node in alike[digest]:
                if node not in self.named:
                    found |= self.walk(node, {node}, 0)
            self.named |= found

    def spend(self, cost: float) -> None:
        self.spent += cost
        if self.spent > self.ceiling:
            raise TooMuchEffort

    def walk(self, node: int, issued: set[int], depth: int) -> set[int]:
        """All nodes that have a name after a walk from this one, given those that have one before."""
        if depth > _DEEPEST:
            raise TooMuchEffort
        for group in self.groups(node, issued):
            new = [member for member in group if member not in self.named and member not in issued]
            if not new:
                continue
            # Only nodes without a name can look alike, so a group is all new or a single node.
            after = issued
            for order in permutations(new):
                after = issued | group
                self.spend(_STEP + _NEIGHBOUR * len(new) + _COPIED_NAME * len(after))
                for member in order:
                    after = self.walk(member, after, depth + 1)
            issued = after
        return issued

    def groups(self, node: int, issued: set[int]) -> list[set[int]]:
        """The neighbours, those together that look alike from here."""
        groups: defaultdict[tuple[bytes, int | str], set[int]] = defaultdict(set)
        cost = _STEP
        for label, other in self.graph.edges[node]:
            if other in self.named or other in issued:
                groups[label, other].add(other)
                cost += _NEIGHBOUR
            else:
                groups[label, self.graph.digests[other]].add(other)
                cost += _NEIGHBOUR + _HASHED_BYTE * self.graph.weights[other]
        self.spend(cost)
        return list(groups.values())
