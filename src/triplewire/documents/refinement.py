"""An order of blank nodes by colour refinement: about linear, and enough for whatever is not symmetric in cycles.

Nodes start with the colour of their digest; nodes of one colour whose neighbours have different colours are parted,
until nothing parts any more (Hopcroft's way: of a class that falls apart, the largest part keeps its colour, so that
a node changes colour at most log n times). A node that is alone in its colour is then told apart. The others, if the
edges among them form no cycle, are told apart by any choice: in a forest, nodes of one stable colour can be exchanged
by an automorphism (colour refinement finds the orbits of trees), so every choice gives the same graph.
"""

from __future__ import annotations

from collections import defaultdict

from triplewire.documents.surroundings import Surroundings


def order_of(graph: Surroundings) -> list[int] | None:
    """The nodes in an order that depends on the graph alone, or None where colours do not tell enough."""
    colours, classes = _stable_colours(graph)
    alone = sorted((node for node in range(len(graph)) if len(classes[colours[node]]) == 1), key=colours.__getitem__)
    rest = sorted(set(range(len(graph))).difference(alone), key=colours.__getitem__)
    neighbours = _neighbours(graph, set(rest))
    order = list(alone)
    reached: set[int] = set()
    for node in rest:
        if node not in reached:
            tree = _tree(node, neighbours, colours)
            if tree is None:
                return None
            reached.update(tree)
            order += tree
    return order


def _stable_colours(graph: Surroundings) -> tuple[list[int], list[set[int]]]:
    ranks = {digest: rank for rank, digest in enumerate(sorted(set(graph.digests)))}
    colours = [ranks[digest] for digest in graph.digests]
    classes: list[set[int]] = [set() for _ in ranks]
    for node, colour in enumerate(colours):
        classes[colour].add(node)
    changed: list[int] = list(range(len(graph)))
    while changed:
        changed = _part(graph, colours, classes, changed)
    return colours, classes


def _part(graph: Surroundings, colours: list[int], classes: list[set[int]], changed: list[int]) -> list[int]:
    """Part each class by its edges to the nodes that have changed; the nodes that change thereby.

    Only edges to changed nodes need comparing: the others were equal within the class before, and still are.
    """
    views: defaultdict[int, list[tuple[bytes, int]]] = defaultdict(list)
    for node in changed:
        for label, other in graph.edges[node]:
            views[other].append((label, colours[node]))
    touched: defaultdict[int, defaultdict[tuple[tuple[bytes, int], ...], set[int]]] = defaultdict(
        lambda: defaultdict(set)
    )
    for node, view in views.items():
        if len(classes[colours[node]]) > 1:
            touched[colours[node]][tuple(sorted(view))].add(node)
    moved: list[int] = []
    for colour in sorted(touched):
        for part in _leaving(classes[colour], touched[colour]):
            classes[colour] -= part
            for node in part:
                colours[node] = len(classes)
            classes.append(part)
            moved += part
    return moved


def _leaving(members: set[int], parts_by_view: dict[tuple[tuple[bytes, int], ...], set[int]]) -> list[set[int]]:
    """All parts of a class but the largest, in the order of what they see; the part that sees no change comes first."""
    parts = [parts_by_view[view] for view in sorted(parts_by_view)]
    unseeing = len(members) - sum(map(len, parts))
    if unseeing > max(map(len, parts)):
        return parts
    if unseeing:
        parts.insert(0, members.difference(*parts))
    largest = max(range(len(parts)), key=lambda at: (len(parts[at]), -at))
    return parts[:largest] + parts[largest + 1 :]


def _neighbours(graph: Surroundings, among: set[int]) -> dict[int, dict[int, list[bytes]]]:
    """For each of these nodes its neighbours among them, with all that connects the two."""
    neighbours: dict[int, dict[int, list[bytes]]] = {node: {} for node in among}
    for node in among:
        for label, other in graph.edges[node]:
            if other in among:
                neighbours[node].setdefault(other, []).append(label)
    return neighbours


def _tree(root: int, neighbours: dict[int, dict[int, list[bytes]]], colours: list[int]) -> list[int] | None:
    """The nodes connected with this one, nearest first; None if they have a cycle."""
    tree, parents = [root], {root: root}
    for node in tree:
        children = [
            (sorted(labels), colours[other], other)
            for other, labels in neighbours[node].items()
            if other != parents[node]
        ]
        for _, _, child in sorted(children):
            if child in parents:
                return None
            parents[child] = node
            tree.append(child)
    return tree
