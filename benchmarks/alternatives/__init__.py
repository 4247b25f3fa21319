"""Ours, and what ours is compared with. Each answers the same subscriptions over the same documents."""

from __future__ import annotations

import random

from benchmarks.alternatives.alternative import Alternative, Timed
from benchmarks.alternatives.indexed import BytesToRows, Indexed, IndexedNames, IndexedRows, build
from benchmarks.alternatives.naive import Naive
from benchmarks.alternatives.oxigraph import OxigraphBatch, OxigraphEach
from benchmarks.alternatives.parsing import OurParse, Parse
from benchmarks.alternatives.relational import Relational
from benchmarks.workloads import Workload
from triplewire import Index

__all__ = ["Alternative", "Indexed", "IndexedRows", "Timed", "alternatives", "build"]


def alternatives(workload: Workload, index: Index, samples: tuple[int, int, int]) -> list[Alternative]:
    """All that can do the workload, ours first.

    `samples` is how many subscriptions are measured of one query each, of queries over a batch, and of the naive loop:
    those are linear in the number of subscriptions, and too slow to wait for all of them.
    """
    chance = random.Random(f"sample {workload.name}")
    each, batch, naive = (
        sorted(chance.sample(range(workload.subscriptions), min(size, workload.subscriptions))) for size in samples
    )
    return [
        Indexed(index),
        IndexedNames(index),
        IndexedRows(index),
        BytesToRows(index),
        Parse(),
        OurParse(),
        Relational(workload),
        OxigraphEach(workload, each),
        OxigraphBatch(workload, batch),
        Naive(workload, naive),
    ]
