"""What a contender is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from benchmarks.engine.workload import Change
from triplewire.model import Document

LOADED_AT_ONCE = 5000
"""How many documents of the background are one batch."""

Rows = dict[int, frozenset[str]]
"""For subscriptions by number, the resources that match now."""


class Step(NamedTuple):
    """A part of what is timed, and how often it would have to run if nothing were sampled."""

    call: Callable[[], object]
    times: float = 1.0


class Contender(ABC):
    """One way of following a history."""

    name: str
    sampled: int | None = None
    """How many subscriptions are measured, if not all."""
    events: int | None = 0
    """How many it has told of so far; None if it answers without telling what is new."""

    @abstractmethod
    def ready(self, changes: Sequence[Change]) -> list[Step]:
        """Prepare a batch, untimed, and give what is timed; every step runs once, in this order."""

    def follow(self, changes: Sequence[Change]) -> None:
        """Take a batch without being measured."""
        for step in self.ready(changes):
            step.call()

    def load(self, documents: Iterable[Document], progress: Callable[[int], None] = lambda done: None) -> None:
        """Take the background, in large batches."""
        left, done = iter(documents), 0
        while part := [Change(document.uri, document) for document in islice(left, LOADED_AT_ONCE)]:
            self.follow(part)
            done += len(part)
            progress(done)

    def rows(self, asked: Collection[int]) -> Rows | None:
        """What matches now; None if it does not match at all."""
        return None

    def close(self) -> None:
        """Let go of files."""
        return
