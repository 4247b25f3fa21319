"""Figures 2 and 3 of the brokering paper, with our curves (N9).

Figure 2: one document against many profiles, with and without the short-cut by destinations. Figure 3: one query
against many stored documents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter_ns

from lxml import etree
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.measure import undisturbed
from benchmarks.report import Progress
from benchmarks.xml.contenders import Destinations, IndexedXml, LxmlEach, build
from benchmarks.xml.menu import menu, profiles
from triplewire import Index, compile

SIZES = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
ROUNDS = 7
Curve = tuple[str, list[float]]


def draw(folder: Path, *, quick: bool, progress: Progress) -> Iterator[Path]:
    """Measure and draw both figures."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes = SIZES[:3] if quick else SIZES
    title, found = "Figure 2: matching profiles", _profiles(sizes, progress)
    written = _lines("2", sizes, found)
    yield _drawn(folder / "xml-figure2.png", title, "profiles", sizes, found)
    title, found = "Figure 3: matching stored XML events with one query", _events(sizes, progress)
    written += _lines("3", sizes, found)
    yield _drawn(folder / "xml-figure3.png", title, "stored documents", sizes, found)
    (folder / "xml.jsonl").write_text("".join(written), encoding="utf-8")


def _profiles(sizes: Sequence[int], progress: Progress) -> list[Curve]:
    curves: list[Curve] = [("one XPath each", []), ("with the paper's destinations", []), ("Triplewire", [])]
    for size in sizes:
        progress(f"figure 2: {size:,} profiles")
        workload = profiles(size, 1)
        ways = (LxmlEach(workload, size), Destinations(workload), IndexedXml(build(workload, lambda done: None)))
        for (_, times), way in zip(curves, ways, strict=True):
            times.append(_milliseconds([way.ready([document]) for document in workload.documents[:ROUNDS]]))
    return curves


def _events(sizes: Sequence[int], progress: Progress) -> list[Curve]:
    rng = Random(1)
    text = "/menu/softdrinks[price>1.80]"
    query, index = etree.XPath(text), Index()
    index.add("asked", compile(text, language="xpath"))
    curves: list[Curve] = [("parse, then XPath, one by one", []), ("Triplewire", [])]
    for size in sizes:
        progress(f"figure 3: {size:,} documents")
        documents = [menu(rng, number) for number in range(size)]
        texts = [document.xml for document in documents]
        curves[0][1].append(_milliseconds([lambda texts=texts: [query(etree.fromstring(one)) for one in texts]] * 3))
        curves[1][1].append(_milliseconds([lambda of=documents: [bool(index.match(one)) for one in of]] * 3))
    return curves


def _lines(figure: str, sizes: Sequence[int], curves: Sequence[Curve]) -> list[str]:
    """The points of the curves as JSON lines."""
    return [
        json.dumps({"figure": figure, "series": label, "place": size, "milliseconds": round(time, 4)}) + "\n"
        for label, times in curves
        for size, time in zip(sizes, times, strict=True)
    ]


def _milliseconds(calls: Sequence[Callable[[], object]]) -> float:
    calls[0]()
    times = []
    with undisturbed():
        for call in calls:
            before = perf_counter_ns()
            call()
            times.append((perf_counter_ns() - before) / 1e6)
    return median(times)


def _drawn(path: Path, title: str, what: str, sizes: Sequence[int], curves: Sequence[Curve]) -> Path:
    figure = Figure(figsize=(7, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for (label, times), mark in zip(curves, ("o", "s", "^"), strict=False):
        axes.plot(sizes, times, label=label, marker=mark, markersize=4)
    axes.set(xscale="log", yscale="log", title=title, xlabel=what, ylabel="matching time (ms)")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend()
    figure.savefig(path, format="png")
    return path
