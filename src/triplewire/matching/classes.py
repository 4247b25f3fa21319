"""The taxonomy in the image: for each term of the index, the terms one step above it.

A class that a term is an instance of is written as its complement, so that the kinds of steps are told apart.
"""

from __future__ import annotations

import numpy as np

from triplewire.algebra.taxonomy import Taxonomy
from triplewire.matching.image import Image
from triplewire.model import Term, parse_term


def install_taxonomy(image: Image, taxonomy: Taxonomy) -> None:
    """Enter the taxonomy's nodes as terms, and for each the nodes above it."""
    below, types = list(taxonomy.below()), list(taxonomy.types())
    nodes = list(dict.fromkeys(node for pair in (*below, *types) for node in pair))
    numbers = dict(zip(nodes, image.terms.intern([str(node).encode() for node in nodes]).tolist(), strict=True))
    image.reserve("numbers", image.terms.count)
    image.reserve("flags", image.terms.count)
    pairs = [(numbers[c], ~numbers[p]) for c, p in types] + [(numbers[c], numbers[p]) for c, p in below]
    count = max(numbers.values(), default=-1) + 1
    children = np.array([child for child, _ in pairs], dtype=np.int32)
    order = np.argsort(children, kind="stable")
    starts = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(np.bincount(children, minlength=count) if pairs else np.zeros(count, dtype=np.int64), out=starts[1:])
    image.arrays["parent_starts"] = starts
    image.arrays["parents"] = np.array([parent for _, parent in pairs], dtype=np.int32)[order]


def read_taxonomy(image: Image) -> Taxonomy:
    """The taxonomy of an image."""
    starts, parents = image["parent_starts"], image["parents"].tolist()
    below: list[tuple[Term, Term]] = []
    types: list[tuple[Term, Term]] = []

    def term(number: int) -> Term:
        return parse_term(image.terms.get(number).decode())

    for child in np.flatnonzero(np.diff(starts)).tolist():
        for i in range(int(starts[child]), int(starts[child + 1])):
            pairs = types if parents[i] < 0 else below
            pairs.append((term(child), term(max(parents[i], ~parents[i]))))
    return Taxonomy(below, types)
