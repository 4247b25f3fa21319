"""Stores that a worker keeps open: a task is short, and opening a store for each would take longer than its work."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triplewire.engine.workers import Worker
    from triplewire.intake.backlog import Backlog
    from triplewire.store import Store


@cache
def opened(url: str) -> Store:
    """The store of a url, opened by this process once."""
    from triplewire.store import Store

    return Store.open(url, create=False)


@cache
def backlog_of(url: str) -> Backlog:
    """What waits on the logs of a store."""
    from triplewire.intake.backlog import Backlog

    return Backlog(opened(url))


@cache
def worker(url: str, most_triples: int) -> Worker:
    """The worker of this process for a store: it keeps the subscriptions in memory, and catches up when they change.

    Saved indexes are mapped from a folder that Spark gives to all workers of an executor, and takes away in the end.
    """
    from pyspark import SparkFiles

    from triplewire.engine.workers import Worker

    folder = Path(SparkFiles.getRootDirectory()) / f"indexes-{sha256(url.encode()).hexdigest()[:16]}"
    folder.mkdir(exist_ok=True)
    return Worker(opened(url), most_triples=most_triples, images=folder)
