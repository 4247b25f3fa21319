"""The engine's workloads by name."""

from __future__ import annotations

from benchmarks.engine import catalogue, providers
from benchmarks.engine.workload import Workload

WORKLOADS = (*providers.KINDS, "CATALOGUE")
"""In the order in which they are measured."""


def generate(name: str, subscriptions: int, seed: int = 1, percentage: float = providers.PERCENTAGE) -> Workload:
    """The workload of a name with so many subscriptions; `percentage` is of COMP's rules, matched by a document."""
    if name in providers.KINDS:
        return providers.generate(name, subscriptions, seed, percentage)
    if name == "CATALOGUE":
        return catalogue.generate(name, subscriptions, seed)
    raise ValueError(f"there is no workload {name!r}; there are: {', '.join(WORKLOADS)}")
