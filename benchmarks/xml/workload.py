"""A workload: expressions and documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from triplewire.model import Document

DESTINATIONS = 32
"""The paper spreads profiles evenly over so many destinations (section 6)."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Expressions, by their place in the list; the destination of one is its place modulo DESTINATIONS."""

    name: str
    expressions: Sequence[str]
    documents: Sequence[Document]
    prefixes: Mapping[str, str] = field(default_factory=dict)

    @property
    def subscriptions(self) -> int:
        return len(self.expressions)
