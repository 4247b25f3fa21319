"""Figures 5(a) to (c) as PNG: hops and load against triples, and how the load is shared out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.ring.experiment import RingPoint

_COLOURS = {"sqc": "tab:blue", "mqc": "tab:orange"}
_FIGURES = {"5a": ("hops", "overlay hops"), "5b": ("load", "query processing load")}


def draw(points: Sequence[RingPoint], folder: Path) -> list[Path]:
    """Draw what the runs of the paper's size give."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = [point for point in points if point.run in ("paper", "without links")]
    found = [_growth(shown, name, *what, folder) for name, what in _FIGURES.items()]
    return [*found, _shares([point for point in shown if point.run == "paper"], folder)]


def _growth(points: Sequence[RingPoint], name: str, field: str, label: str, folder: Path) -> Path:
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    FigureCanvasAgg(figure)  # pictures only, whatever display there is
    axes = figure.add_subplot()
    for series in dict.fromkeys((point.algorithm, point.learns) for point in points):
        curve = [point for point in points if (point.algorithm, point.learns) == series]
        style = "o-" if series[1] else "s--"
        text = series[0].upper() + ("" if series[1] else ", without learnt links")
        values = [getattr(point, field) for point in curve]
        axes.plot([point.triples for point in curve], values, style, label=text, color=_COLOURS[series[0]])
    axes.set(title=f"Figure {name[0]}({name[1]})", xlabel="triples", ylabel=label, ylim=(0, None))
    axes.legend()
    path = folder / f"figure{name}.png"
    figure.savefig(path, format="png")
    return path


def _shares(points: Sequence[RingPoint], folder: Path) -> Path:
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for algorithm, colour in _COLOURS.items():
        last = [point for point in points if point.algorithm == algorithm][-1:]
        for point in last:
            axes.plot([*accumulate(point.loads)], label=f"{algorithm.upper()}: {point.at_work} at work", color=colour)
    axes.set(title="Figure 5(c)", xlabel="nodes, the busiest first", ylabel="cumulative load", ylim=(0, None))
    axes.legend()
    path = folder / "figure5c.png"
    figure.savefig(path, format="png")
    return path
