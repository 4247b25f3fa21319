"""What a network sends against its size, next to flooding: messages follow who is concerned, not how many there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.network.traffic import Traffic

_STYLES = {"triplewire": "o-", "flood-events": "s--", "flood-subscriptions": "^--", "no-short-cut": "x:"}


def draw(lines: Sequence[Traffic], path: Path) -> None:
    """With the most subscriptions: messages for each against the number of hubs, and against those concerned."""
    most = max(line.subscriptions for line in lines)
    shown = sorted((line for line in lines if line.subscriptions == most), key=lambda line: line.nodes)
    figure = Figure(figsize=(15, 4.5), layout="constrained")
    FigureCanvasAgg(figure)  # pictures only, whatever display there is
    figure.suptitle(f"{shown[0].topology}, {most:,} subscriptions")
    subscribing, publishing, concerned = figure.subplots(1, 3)
    _curves(subscribing, shown, lambda line: line.nodes, lambda line: line.subscribing / max(1, line.subscriptions))
    subscribing.set(xlabel="hubs", ylabel="messages for a subscription")
    _curves(publishing, shown, lambda line: line.nodes, _for_a_document)
    publishing.set(xlabel="hubs", ylabel="messages for a document")
    _curves(concerned, shown, lambda line: line.concerned, _for_a_document)
    concerned.set(xlabel="hubs that a document concerns, on average", ylabel="messages for a document")
    figure.savefig(path)


def _curves(
    axes: Axes, lines: Sequence[Traffic], across: Callable[[Traffic], float], up: Callable[[Traffic], float]
) -> None:
    for alternative, style in _STYLES.items():
        curve = [line for line in lines if line.alternative == alternative]
        if curve:
            axes.plot([across(line) for line in curve], [up(line) for line in curve], style, label=alternative)
    axes.set(xscale="log", yscale="log")
    axes.legend()


def _for_a_document(line: Traffic) -> float:
    return line.publishing / max(1, line.documents)
