"""What was promised for networks, and whether a run keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.network.deciding import Deciding
from benchmarks.network.forwarding import Forwarding
from benchmarks.network.traffic import Traffic
from benchmarks.targets import Verdict

PROMISED_NODES = 256
PROMISED_PROFILES = 100_000
TIMES_FEWER = {"hypercube": 10.0, "hierarchy": 20.0}
"""Than flooding, at PROMISED_NODES; in a hypercube for advertisements, subscriptions and documents together."""

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
    for other in lines:
        is_flood = isinstance(other, Traffic) and other.alternative.startswith("flood-")
        if not is_flood or _network(other) != _network(ours):
            continue
        all_of = _messages if ours.topology == "hypercube" else _publishing
        what = f"{ours.topology} of {ours.nodes}, {ours.levels} levels: {other.alternative} / ours"
        yield Verdict(what, all_of(other) / max(1, all_of(ours)), TIMES_FEWER[ours.topology], is_at_most=False)


def _network(line: Traffic) -> tuple[str, int, int, int]:
    return line.topology, line.nodes, line.levels, line.subscriptions


def _publishing(line: Traffic) -> int:
    return line.publishing


def _messages(line: Traffic) -> int:
    return line.messages
