"""What a network sends against its size, next to flooding: messages follow who is concerned, not how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.network.traffic import Traffic

_STYLES = {"triplewire": "o-", "flood-events": "s--", "flood-subscriptions": "^--", "no-short-cut": "x:"}


def draw(lines: Sequence[Traffic], path: Path) -> None:
    """Messages for a subscription and for a document against the number of hubs, with the most subscriptions."""
    most = max(line.subscriptions for line in lines)
    shown = [line for line in lines if line.subscriptions == most and line.alternative in _STYLES]
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    FigureCanvasAgg(figure)  # pictures only, whatever display there is
    figure.suptitle(f"{shown[0].topology}, {most:,} subscriptions")
    for axes, what in zip(figure.subplots(1, 2), ("subscribing", "publishing"), strict=True):
        for alternative, style in _STYLES.items():
            curve = sorted((line for line in shown if line.alternative == alternative), key=lambda line: line.nodes)
            if curve:
                each = [getattr(line, what) / _count(line, what) for line in curve]
                axes.plot([line.nodes for line in curve], each, style, label=alternative)
        axes.set(xscale="log", yscale="log", xlabel="hubs", ylabel=f"messages for each, {what}")
        axes.legend()
    figure.savefig(path)


def _count(line: Traffic, what: str) -> int:
    return max(1, line.subscriptions if what == "subscribing" else line.documents)
