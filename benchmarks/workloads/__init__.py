"""Subscriptions and documents, generated from a seed: the same for the same arguments, on any machine."""

from __future__ import annotations

from benchmarks.workloads import graphs, phrases, rules
from benchmarks.workloads.workload import Query, Workload

WORKLOADS = ("W1", "W1-ISA", *rules.KINDS, *phrases.KINDS)
"""The workloads' names, in the order in which they are measured."""


def generate(name: str, subscriptions: int, seed: int = 1, matching: int | None = None) -> Workload:
    """The workload of a name with so many subscriptions.

    `matching` fixes how many subscriptions match each document, where the workload lets that be chosen (W1).
    """
    if name in rules.KINDS:
        return rules.generate(name, subscriptions, seed)
    if name in phrases.KINDS:
        return phrases.generate(name, subscriptions, seed)
    if name in ("W1", "W1-ISA"):
        return graphs.generate(name, subscriptions, seed, matching)
    raise ValueError(f"there is no workload {name!r}; there are: {', '.join(WORKLOADS)}")


__all__ = ["WORKLOADS", "Query", "Workload", "generate"]
