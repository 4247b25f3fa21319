"""`./run bench core --figures`: measure what the figures of the G-ToPSS paper show, check it, and draw it (G8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.alternatives import Alternative, Indexed, build
from benchmarks.alternatives.isomorphism import Isomorphism
from benchmarks.alternatives.naive import Naive
from benchmarks.gtopss.experiments import FIGURES, SUBSCRIPTIONS, GraphFigure, Series
from benchmarks.measure import measure
from benchmarks.report import Progress, table
from benchmarks.workloads import Workload

CHECKED = 3
"""Documents on which all ways must agree."""

SAMPLE = 100
"""So many subscriptions are looked at by ways that take one after the other."""

_NAMES = {"triplewire": "Triplewire", "naive": "one after the other", "isomorphism": "VF2 (networkx)"}
_LABELS = {"bytes": "MB", "microseconds": "ms for a document"}
_UNITS = {"bytes": 1e6, "microseconds": 1e3}


@dataclass(frozen=True, slots=True)
class GraphPoint:
    """One point of a curve."""

    figure: str
    series: str
    alternative: str
    place: float
    subscriptions: int
    value: float

    def as_dict(self) -> dict[str, object]:
        """JSON-ready."""
        return asdict(self)


def run(
    folder: Path, *, subscriptions: int = SUBSCRIPTIONS, seconds: float, progress: Progress
) -> Iterator[tuple[GraphFigure, list[GraphPoint], Path]]:
    """Measure and draw one figure after the other; `subscriptions` stands for the paper's default number."""
    folder.mkdir(parents=True, exist_ok=True)
    for figure in FIGURES:
        points = [
            point
            for series in figure.series
            for place in series.places
            for point in _measured(figure, series, place, subscriptions, seconds, progress)
        ]
        yield figure, points, draw(figure, points, folder)


def _measured(
    figure: GraphFigure, series: Series, place: float, of: int, seconds: float, progress: Progress
) -> Iterator[GraphPoint]:
    progress(f"figure {figure.name}: {series.name} {place:g} {figure.against}")
    workload = series.workload(place, of)
    ways = _ways(workload, figure.alternatives)
    ours = ways[0]
    assert isinstance(ours, Indexed), "the index comes first"

    def point(alternative: str, value: float) -> GraphPoint:
        return GraphPoint(figure.name, series.name, alternative, place, workload.subscriptions, value)

    if figure.measure == "bytes":
        yield point(ours.name, float(ours.nbytes))
        return
    check(workload, ours, ways[1:])
    for clock in measure(ways, workload.documents, 1, seconds, progress):
        yield point(clock.alternative.name, clock.microseconds)


def _ways(workload: Workload, names: Sequence[str]) -> list[Alternative]:
    sample = range(0, workload.subscriptions, max(1, workload.subscriptions // SAMPLE))
    made = {
        "triplewire": lambda: Indexed(build(workload)),
        "naive": lambda: Naive(workload, sample),
        "isomorphism": lambda: Isomorphism(workload, sample),
    }
    return [made[name]() for name in names]


def check(workload: Workload, ours: Indexed, others: Sequence[Alternative]) -> None:
    """The naive way finds what the index does; isomorphism nothing else, and not where two nodes would be one."""
    for document in workload.documents[:CHECKED]:
        found = ours.matches(document)
        asked = {*sorted(found)[:20], *range(0, workload.subscriptions, max(1, workload.subscriptions // 20))}
        for way in others:
            answers = way.answers(document, asked) or set()
            is_right = answers <= found if isinstance(way, Isomorphism) else answers == found & asked
            if not is_right:
                raise AssertionError(
                    f"{way.name} and the index differ on {document.uri}: {sorted(answers ^ found)[:10]}"
                )


def draw(figure: GraphFigure, points: Sequence[GraphPoint], folder: Path) -> Path:
    """Draw a figure; a curve for each series and each way."""
    picture = Figure(figsize=(6.5, 4.8), layout="constrained")
    FigureCanvasAgg(picture)  # pictures only, whatever display there is
    axes = picture.add_subplot()
    for series, alternative in dict.fromkeys((point.series, point.alternative) for point in points):
        curve = [point for point in points if (point.series, point.alternative) == (series, alternative)]
        label = ", ".join(each for each in (_NAMES[alternative], series) if each)
        values = [point.value / _UNITS[figure.measure] for point in curve]
        axes.plot([_across(figure, point) for point in curve], values, "o-", label=label, markersize=4)
    number, letter = figure.name[:-1], figure.name[-1]
    axes.set(title=f"Figure {number}({letter})", xlabel=figure.against, ylabel=_LABELS[figure.measure])
    if len(figure.alternatives) > 1:
        axes.set(yscale="log")
    else:
        axes.set(ylim=(0, None))
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize="small")
    path = folder / f"graph-figure{figure.name}.png"
    picture.savefig(path, format="png")
    return path


def _across(figure: GraphFigure, point: GraphPoint) -> float:
    """Where a point is: with another number of subscriptions than the paper's, figures against it show that."""
    return point.subscriptions if figure.against == "subscriptions" else point.place


def told(figure: GraphFigure, points: Sequence[GraphPoint]) -> str:
    """What was measured, as a table."""
    rows = [
        (
            figure.name,
            point.series,
            _NAMES[point.alternative],
            f"{point.place:g}",
            f"{point.subscriptions:,}",
            f"{point.value:,.1f}",
        )
        for point in points
    ]
    return table(("figure", "series", "way", figure.against, "subscriptions", figure.measure), rows)
