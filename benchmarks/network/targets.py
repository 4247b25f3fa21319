"""What was promised for networks, and whether a run keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.network.deciding import Deciding
from benchmarks.network.forwarding import Forwarding
from benchmarks.network.traffic import Traffic
from benchmarks.targets import Verdict

PROMISED_NODES = 256
PROMISED_PROFILES = 100_000
TIMES_FEWER = {"hypercube": 10.0, "hierarchy": 20.0}
"""Than flooding, at PROMISED_NODES."""

COUNTED: dict[str, dict[str, Callable[[Traffic], int]]] = {
    "hypercube": {
        "subscriptions and documents": lambda line: line.subscribing + line.publishing,
        "with advertisements": lambda line: line.advertising + line.subscribing + line.publishing,
        "with advertisements, one hub after the other": (
            lambda line: (line.in_turn or 0) + line.subscribing + line.publishing
        ),
    },
    "hierarchy": {"documents": lambda line: line.publishing},
}
"""Which messages are compared with those of flooding, which needs no advertisements."""

PROMISED_SUBSCRIPTIONS = 10_000
DECIDING_TO_FINDING = 1 / 10
FORWARDING_TO_MATCHING = 2.0


def verdicts(lines: Sequence[Traffic | Deciding | Forwarding]) -> Iterator[Verdict]:
    """What the lines say of the promises."""
    for line in lines:
        if isinstance(line, Deciding):
            if line.profiles == PROMISED_PROFILES:
                what = f"{line.workload}: deciding where / finding all"
                yield Verdict(what, line.deciding / line.finding, DECIDING_TO_FINDING)
        elif isinstance(line, Forwarding):
            what = f"{line.interests:,} interests: forwarding / matching"
            yield Verdict(what, line.forwarding / line.matching, FORWARDING_TO_MATCHING)
        elif line.alternative == "triplewire":
            if line.idle is not None and line.topology == "hierarchy":
                yield Verdict(f"{line.nodes} brokers, {line.levels} levels: messages to bystanders", line.idle, 0)
            if line.nodes == PROMISED_NODES and line.subscriptions >= PROMISED_SUBSCRIPTIONS:
                yield from _against_floods(line, lines)


def _against_floods(ours: Traffic, lines: Sequence[Traffic | Deciding | Forwarding]) -> Iterator[Verdict]:
    floods = [each for each in lines if isinstance(each, Traffic) and each.alternative.startswith("flood-")]
    for other in floods:
        for what, count in COUNTED[ours.topology].items() if _network(other) == _network(ours) else ():
            about = f"{ours.topology} of {ours.nodes}, {ours.levels} levels, {what}: {other.alternative} / ours"
            yield Verdict(about, count(other) / max(1, count(ours)), TIMES_FEWER[ours.topology], is_at_most=False)


def _network(line: Traffic) -> tuple[str, int, int, int]:
    return line.topology, line.nodes, line.levels, line.subscriptions
