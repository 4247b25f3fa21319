"""Figures 5(a) to (c) as PNG, beside what the paper says; and how skew, churn and retraction share out the load."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.ring.experiment import RingPoint

_COLOURS = {"sqc": "tab:blue", "mqc": "tab:orange"}
_FIGURES = {
    "5a": ("hops", "overlay hops", "The paper: SQC about a third of MQC; without learnt links both about 4 times SQC"),
    "5b": ("load", "query processing load", "The paper: linear in the triples; MQC slightly more than SQC"),
}
_SHARES = "The paper: 850 of 1,000 nodes at work in MQC, 250 in SQC"


def draw(points: Sequence[RingPoint], folder: Path) -> list[Path]:
    """Draw what was run: the paper's figures, and one with the shares of the load in all runs that it has not."""
    folder.mkdir(parents=True, exist_ok=True)
    paper = [point for point in points if point.run in ("paper", "without links")]
    found = [_growth(paper, name, *what, folder) for name, what in _FIGURES.items()] if paper else []
    last = {(point.run, point.algorithm): point for point in points}.values()
    shown = [point for point in last if point.run == "paper"]
    if shown:
        found.append(_shares(shown, "Figure 5(c)", _SHARES, folder / "figure5c.png"))
    others = [point for point in last if point.run not in ("paper", "without links")]
    if others:
        title, note = "Beyond the paper", "Skew, churn, size, constants and retraction: the paper has none of these"
        found.append(_shares(others, title, note, folder / "ring-beyond.png"))
    return found


def _axes() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7, 5), layout="constrained")
    FigureCanvasAgg(figure)  # pictures only, whatever display there is
    return figure, figure.add_subplot()


def _growth(points: Sequence[RingPoint], name: str, field: str, label: str, note: str, folder: Path) -> Path:
    figure, axes = _axes()
    for series in dict.fromkeys((point.algorithm, point.learns) for point in points):
        curve = [point for point in points if (point.algorithm, point.learns) == series]
        style = "o-" if series[1] else "s--"
        text = series[0].upper() + ("" if series[1] else ", without learnt links")
        values = [getattr(point, field) for point in curve]
        axes.plot([point.triples for point in curve], values, style, label=text, color=_COLOURS[series[0]])
    axes.set(title=f"Figure {name[0]}({name[1]})\n{note}", xlabel="triples", ylabel=label, ylim=(0, None))
    axes.title.set_fontsize(9)
    axes.legend()
    path = folder / f"figure{name}.png"
    figure.savefig(path, format="png")
    return path


def _shares(points: Sequence[RingPoint], title: str, note: str, path: Path) -> Path:
    """The load of the busiest nodes together, as a part of all."""
    figure, axes = _axes()
    for point in points:
        name = point.algorithm.upper() + ("" if point.run == "paper" else f", {point.run}")
        shares = [each / max(point.load, 1) for each in accumulate(point.loads)]
        style = "--" if point.hot is not None else "-"
        axes.plot(shares, style, label=f"{name}: {point.at_work} at work", color=_COLOURS[point.algorithm])
    axes.set(title=f"{title}\n{note}", xlabel="nodes, the busiest first", ylabel="part of the load", ylim=(0, None))
    axes.title.set_fontsize(9)
    axes.legend(fontsize=7)
    figure.savefig(path, format="png")
    return path
