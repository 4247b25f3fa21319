"""Tallies: how many messages arrived, failed and were given up, by kind of delivery; read by other threads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class DeliveryTally:
    """Counts since the start; `lag` has the seconds from commit to arrival, all added up."""

    delivered: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    dead: Counter[str] = field(default_factory=Counter)
    lag: dict[str, float] = field(default_factory=dict)

    def arrive(self, kind: str, seconds: float) -> None:
        """A message arrived, so long after it happened."""
        self.delivered[kind] += 1
        self.lag[kind] = self.lag.get(kind, 0.0) + seconds
