"""Plots of a simulation: messages by stage and kind, hops, and the loads of nodes, in one picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triplewire.network.simulation import Played

FORMATS = (".png", ".svg", ".pdf")

Plotter = Callable[[str, "Played", Sequence[int]], None]
"""Draws what a workload led to: a title, what was played, and the load of each node."""


def plotter(path: Path) -> Plotter:
    """What draws into a file; ImportError or ValueError, before anything is simulated, where that cannot be."""
    if path.suffix not in FORMATS:
        raise ValueError(f"a plot is a file that ends with {', '.join(FORMATS)}, and not {path.name!r}")
    if find_spec("matplotlib") is None:
        raise ImportError("drawing needs the package matplotlib: pip install 'triplewire[plot]'")
    return lambda title, played, loads: _draw(path, title, played, loads)


def _draw(path: Path, title: str, played: Played, loads: Sequence[int]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.5), layout="constrained")
    FigureCanvasAgg(figure)  # pictures only, whatever display there is
    figure.suptitle(title)
    messages, hops, work = figure.subplots(1, 3)
    _draw_messages(messages, played)
    counts = Counter(played.hops)
    hops.bar([*counts], [*counts.values()])
    hops.set(title="hops", xlabel="links on the way", ylabel="documents and hubs")
    work.plot(sorted(loads, reverse=True))
    work.set(title="load", xlabel="nodes, the busiest first", ylabel="messages taken in", ylim=(0, None))
    figure.savefig(path)


def _draw_messages(axes: Any, played: Played) -> None:
    below = Counter[str]()
    for kind in sorted({kind for stage in played.stages.values() for kind in stage}):
        counts = [stage.get(kind, 0) for stage in played.stages.values()]
        axes.bar([*played.stages], counts, bottom=[below[stage] for stage in played.stages], label=kind)
        below.update(dict(zip(played.stages, counts, strict=True)))
    axes.set(title="messages", ylabel="sent between nodes")
    axes.legend(fontsize="small")
