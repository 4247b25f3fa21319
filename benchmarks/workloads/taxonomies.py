"""A taxonomy for W1-ISA: classes below each other, and the nodes of graphs as their instances."""

from __future__ import annotations

import random
from collections.abc import Iterable

from pyoxigraph import NamedNode

from triplewire.algebra.taxonomy import Taxonomy

CLASSES = 1000


def class_node(number: int) -> NamedNode:
    """The class of a number; 0 is the root."""
    return NamedNode(f"http://classes.example/c{number}")


def taxonomy(nodes: Iterable[NamedNode], seed: int) -> Taxonomy:
    """CLASSES classes, a tenth of them with two parents, and every node an instance of one of them."""
    chance = random.Random(f"taxonomy {seed}")
    below = [(class_node(i), class_node(chance.randrange(i))) for i in range(1, CLASSES)]
    below += [(class_node(i), class_node(chance.randrange(i))) for i in range(2, CLASSES) if chance.random() < 0.1]
    types = [(node, class_node(chance.randrange(CLASSES // 2, CLASSES))) for node in nodes]
    return Taxonomy(below, types)
