"""What an alternative is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence

from triplewire.model import Document

Timed = Callable[[], object]
"""What is timed: everything that it needs is there already."""


class Alternative(ABC):
    """One way of answering a workload."""

    name: str
    share: float = 1.0
    """The part of the subscriptions that is measured; times are divided by it."""
    sampled: int | None = None
    """How many subscriptions that part is, if it is not all."""

    def takes(self, batch: int) -> bool:
        """True if this alternative has something to say about batches of this size."""
        return True

    @abstractmethod
    def ready(self, batch: Sequence[Document]) -> Timed:
        """Prepare the documents, untimed, and give what is timed."""

    def answers(self, document: Document, asked: Collection[int]) -> set[int] | None:
        """Which of the subscriptions asked about match; None if it only parses."""
        return None
