"""Figures as PNG: batch size to the right, the average cost of registering a document upwards, as in the paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from benchmarks.mdv.experiments import Experiment, Point

_LINES = {"triplewire": "-", "sql-filter": "--"}
_NAMES = {"triplewire": "Triplewire", "sql-filter": "the paper's filter tables in SQLite"}
_COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:red")
_MARKS = ("o", "s", "^", "D")


def draw(experiment: Experiment, points: Sequence[Point], folder: Path) -> Path:
    """Draw one figure; a curve for each size or percentage (a colour) and each contender (a kind of line).

    Both axes are logarithmic: batches grow by a thousand, and so may the cost.
    """
    figure = Figure(figsize=(7, 5), layout="constrained")
    FigureCanvasAgg(figure)  # pictures only, whatever display there is
    axes = figure.add_subplot()
    for i, series in enumerate(dict.fromkeys(_series(point) for point in points)):
        for contender, style in _LINES.items():
            curve = [point for point in points if (_series(point), point.alternative) == (series, contender)]
            if curve:
                sizes, costs = [point.batch for point in curve], [point.microseconds / 1000 for point in curve]
                colour, mark = _COLOURS[i % len(_COLOURS)], _MARKS[i % len(_MARKS)]
                label = f"{series}, {_NAMES[contender]}"
                axes.plot(sizes, costs, style, label=label, color=colour, marker=mark, markersize=4)
    axes.set(xscale="log", yscale="log", title=f"Figure {experiment.figure}: {experiment.title}")
    axes.set(xlabel="batch size (documents)", ylabel="average registration cost (ms for a document)")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:,g}"))
    axes.grid(visible=True, which="major", alpha=0.3)
    figure.legend(fontsize="small", loc="outside lower center", ncols=2)
    path = folder / f"figure{experiment.figure}.png"
    figure.savefig(path, format="png")
    return path


def _series(point: Point) -> str:
    if point.percentage is not None:
        return f"{point.percentage:g} %"
    return f"{point.subscriptions:,} rules"
