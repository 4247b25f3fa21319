"""What figures 9(a) to (f), 10(a) and 10(b) vary, and what the paper says of each; all else is as in its table 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.workloads import Workload, graphs
from benchmarks.workloads.graphs import Shape

SUBSCRIPTIONS = 30_000
"""The paper's default."""

NUMBERS = (5_000, 10_000, 20_000, 30_000, 40_000, 50_000)
FEW = (100, 200, 500, 1_000, 2_000)
"""For ways that take one subscription after the other."""

OVERLAPS = (0.0, 0.25, 0.5, 0.75, 1.0)
EDGES = (4, 8, 12, 16)
NODES = (3, 4, 5, 6, 7)
RATIOS = (0.0001, 0.0005, 0.001, 0.005, 0.01)


@dataclass(frozen=True, slots=True)
class Series:
    """One curve: its name, where it has points, and the workload at each, of so many subscriptions by default."""

    name: str
    places: Sequence[float]
    workload: Callable[[float, int], Workload]


@dataclass(frozen=True, slots=True)
class GraphFigure:
    """A figure: what is drawn against what, the ways that are measured, and what the paper says."""

    name: str
    against: str
    measure: str
    """"bytes" of the index, or "microseconds" for a document."""
    series: Sequence[Series]
    says: str
    alternatives: Sequence[str] = ("triplewire",)


def _numbered(number: float, of: int) -> Workload:
    return graphs.generate("W1", max(10, round(number * of / SUBSCRIPTIONS)), 1)


def _overlapping(overlap: float, of: int) -> Workload:
    return graphs.generate("W1", of, 1, shape=Shape(overlap=overlap))


def _edged(edges: float, of: int) -> Workload:
    return graphs.generate("W1", of, 1, shape=Shape(edges=round(edges), is_strict=True))


def _noded(nodes: float, of: int) -> Workload:
    return graphs.generate("W1", of, 1, shape=Shape(nodes=round(nodes), is_strict=True))


def _rated(ratio: float, of: int) -> Workload:
    return graphs.generate("W1", of, 1, max(1, round(ratio * of)))


_NUMBER = (Series("", NUMBERS, _numbered),)
_SIZE = (Series("edges, with 5 nodes", EDGES, _edged), Series("nodes, with 8 edges", NODES, _noded))
_LITTLE = (Series("", FEW, _numbered),)

FIGURES = (
    GraphFigure("9a", "subscriptions", "bytes", _NUMBER, "Memory grows linearly with the number of subscriptions."),
    GraphFigure(
        "9b",
        "subscriptions",
        "microseconds",
        _NUMBER,
        "Time grows with the number of subscriptions, because the number of matches does.",
    ),
    GraphFigure(
        "9c",
        "overlap",
        "bytes",
        (Series("", OVERLAPS, _overlapping),),
        "The more subscriptions overlap, the less memory they take.",
    ),
    GraphFigure("9d", "nodes or edges", "bytes", _SIZE, "Memory grows with the size of subscriptions."),
    GraphFigure(
        "9e",
        "nodes or edges",
        "microseconds",
        _SIZE,
        "Time follows the edges (from 4 to 8 it almost doubles), and not the nodes.",
    ),
    GraphFigure(
        "9f",
        "match ratio",
        "microseconds",
        (Series("", RATIOS, _rated),),
        "Time grows very rapidly with the match ratio: bindings are found for each subscription that matches.",
    ),
    GraphFigure(
        "10a",
        "subscriptions",
        "microseconds",
        _LITTLE,
        "Subgraph isomorphism (OPS) grows very rapidly with the number of subscriptions, and G-ToPSS does not.",
        ("triplewire", "isomorphism"),
    ),
    GraphFigure(
        "10b",
        "subscriptions",
        "microseconds",
        _LITTLE,
        "OPS is still far better than the naive way, which goes through all subscriptions.",
        ("triplewire", "naive", "isomorphism"),
    ),
)
