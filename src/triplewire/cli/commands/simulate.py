"""`triplewire simulate`: a network of hubs in virtual time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from triplewire.cli.plots import plotter
from triplewire.cli.problems import Problems, usage_for
from triplewire.cli.tables import plain_table
from triplewire.cli.terminal import Screen, print_json

if TYPE_CHECKING:
    from triplewire.network.ring import Algorithm
    from triplewire.network.simulation import AnswerCount, Played, Sight, SimulatedNetwork, Simulation


_ASSUMED = {"--trace": "0", "--plot": "network.png"}
"""What is meant by these without a value."""


class WithAssumed(TyperCommand):
    """A command whose options `--trace` and `--plot` may stand alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, with the values that are assumed."""
        return super().parse_args(ctx, with_assumed(args))


def with_assumed(arguments: Sequence[str]) -> list[str]:
    """The arguments, with a value after each option that may stand alone.

    >>> with_assumed(["hypercube", "--plot", "--trace", "3", "--trace"])
    ['hypercube', '--plot', 'network.png', '--trace', '3', '--trace', '0']
    """
    found: list[str] = []
    for argument, following in zip_longest(arguments, arguments[1:], fillvalue="-"):
        found.append(argument)
        if argument in _ASSUMED and following.startswith("-"):
            found.append(_ASSUMED[argument])
    return found


app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)


@app.command(cls=WithAssumed)
def run(
    topology: Annotated[Literal["hypercube", "hierarchy", "ring"], typer.Argument(help="How the hubs are connected.")],
    nodes: Annotated[int, typer.Option("--nodes", "-n", min=1, help="How many hubs a hypercube or a ring has.")] = 16,
    clusters: Annotated[
        str, typer.Option("--clusters", help="Sub-units of each unit of a hierarchy, from the widest level down.")
    ] = "4,4",
    seed: Annotated[int, typer.Option("--seed", help="One seed is one run, message for message.")] = 0,
    subscriptions: Annotated[int, typer.Option("--subscriptions", min=0, help="How many clients subscribe.")] = 100,
    documents: Annotated[int, typer.Option("--documents", min=0, help="How many documents are published.")] = 100,
    publishers: Annotated[float, typer.Option("--publishers", help="The share of hubs that publish.")] = 0.25,
    covered: Annotated[float, typer.Option("--covered", help="The share of narrower subscriptions.")] = 0.5,
    uncovered: Annotated[float, typer.Option("--uncovered", help="The share that nobody advertises for.")] = 0.1,
    loss: Annotated[float, typer.Option("--loss", help="The share of messages that are lost.")] = 0.0,
    duplication: Annotated[float, typer.Option("--duplication", help="The share that arrives twice.")] = 0.0,
    links: Annotated[
        int | None,
        typer.Option(
            "--links", min=0, metavar="N", help="Draw N links; only hubs that are linked speak to each other."
        ),
    ] = None,
    queries: Annotated[
        int, typer.Option("--queries", min=0, help="How many queries look for documents, in a hierarchy.")
    ] = 0,
    algorithm: Annotated[Literal["sqc", "mqc"], typer.Option("--algorithm", help="How a ring answers.")] = "mqc",
    trace: Annotated[
        int | None,
        typer.Option(
            "--trace", min=0, metavar="[N]", help="Tell the way of document N, or the first, through the network."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="[FILE]", help="Draw messages, hops and loads, as PNG, SVG or PDF; into network.png."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Simulate a network of hubs, and count what it takes to tell everybody.

    Clients advertise, subscribe and publish. The same seed gives the same run. Faults do not change what clients are
    told, only what it takes.

    [bold]Examples[/bold]

    \b
      triplewire simulate hypercube --nodes 64 --seed 7 --subscriptions 1000
      triplewire simulate ring --nodes 1000 --algorithm sqc
      triplewire simulate hypercube --nodes 11 --loss 0.05 --duplication 0.02 --json
      triplewire simulate hierarchy --clusters 4,4,4 --subscriptions 1000
      triplewire simulate hierarchy --clusters 3,3 --links 12 --queries 50
      triplewire simulate hypercube --nodes 16 --trace 3
      triplewire simulate hypercube --nodes 64 --plot cube.svg --trace
    """
    from random import Random

    from triplewire.errors import UnitFull
    from triplewire.network.simulation import HierarchyNetwork, Simulation, Workload, document_uri, play

    if trace is not None and trace >= documents:
        raise typer.BadParameter(f"there are documents 0 to {documents - 1}, and no {trace}", param_hint="--trace")
    with usage_for(ValueError, UnitFull, ImportError):
        draw = plotter(plot) if plot is not None else None
        sim = Simulation(seed, loss=loss, duplication=duplication)
        workload = Workload(subscriptions, documents, publishers, covered, uncovered, queries=queries)
        net = _network(sim, topology, nodes, clusters, algorithm, links, seed)
        traced = sim.trace(document_uri(trace)) if trace is not None else None
        played = play(sim, net, workload, Random(seed))
    if draw is not None:
        draw(f"{topology}, {len(net.nodes):,} nodes", played, [sim.loads[node] for node in net.nodes])
        Problems().note(f"drawn: {plot}")
    story = traced.story(played.events) if traced is not None else []
    answers = net.answers if isinstance(net, HierarchyNetwork) and queries else None
    if json:
        loads = sorted(sim.loads.values(), reverse=True)
        told = {"nodes": len(net.nodes), "seed": seed, "told": played.told, "stages": played.stages, "loads": loads}
        way = {"trace": [sight._asdict() for sight in story]} if traced is not None else {}
        kept = {"found": played.found, "answers": answers._asdict()} if answers is not None else {}
        print_json(told | {"hops": Counter(played.hops), "seconds": played.seconds} | kept | way)
    else:
        _print(sim, played, len(net.nodes))
        if answers is not None:
            _print_answers(played, answers)
        if traced is not None:
            _print_story(traced.uri, story)


def _network(
    sim: Simulation, topology: str, nodes: int, clusters: str, algorithm: Algorithm, links: int | None, seed: int
) -> SimulatedNetwork:
    from math import prod
    from random import Random

    from triplewire.network.simulation import drawn_links

    if topology == "ring":
        if links is not None:
            raise ValueError("peers of a ring speak to each other as the ring needs it; it has no links of its own")
        return sim.ring(nodes, algorithm=algorithm)
    sizes = _numbers(clusters)
    count = nodes if topology == "hypercube" else prod(sizes)
    drawn = None if links is None else drawn_links(count, links, Random(seed))
    return sim.hypercube(nodes, links=drawn) if topology == "hypercube" else sim.hierarchy(sizes, links=drawn)


def _numbers(clusters: str) -> list[int]:
    try:
        return [int(number) for number in clusters.split(",")]
    except ValueError:
        raise ValueError(
            f"clusters are numbers with commas between them, such as 4,4,4, and not {clusters!r}"
        ) from None


def _print(sim: Simulation, played: Played, nodes: int) -> None:
    screen = Screen()
    kinds = sorted({kind for stage in played.stages.values() for kind in stage})
    table = plain_table("messages", *kinds)
    for stage, counted in played.stages.items():
        table.add_row(stage, *(f"{counted.get(kind, 0):,}" for kind in kinds))
    table.add_row("together", *(f"{Counter(sim.messages)[kind]:,}" for kind in kinds))
    screen.print(table)
    loads = [sim.loads[node] for node in range(nodes)]
    hops = played.hops
    screen.print(
        f"{played.told:,} events were told. At rest after {played.seconds:.2f} seconds of virtual time."
        f" The load of a node is {min(loads):,} to {max(loads):,}, {sum(loads) / nodes:,.1f} on average."
        + (f" It took {sum(hops) / len(hops):.1f} hops on average, at most {max(hops)}." if hops else "")
    )


def _print_answers(played: Played, answers: AnswerCount) -> None:
    Screen().print(
        f"Queries found {played.found:,} documents. Of {answers.hits + answers.misses:,} times that a hub was asked"
        f" it had the answer {answers.hits:,} times ({answers.rate:.0%}); {answers.kept:,} answers are kept now."
    )


def _print_story(uri: str, story: Sequence[Sight]) -> None:
    screen = Screen()
    screen.print(f"\nThe way of {uri}:" if story else f"\n{uri} went nowhere: no hub had asked for it.")
    for sight in story:
        screen.print(f"  {sight.time:8.3f} s  {sight.sentence}", markup=False, highlight=False, soft_wrap=True)
