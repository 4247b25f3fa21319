"""Tallies: how many messages arrived, failed and were given up, by kind; read by other threads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """Counts since the start, by the kind of delivery; `when_delivered` hears the kind and the seconds since."""

    delivered: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    dead: Counter[str] = field(default_factory=Counter)
    when_delivered: Callable[[str, float], None] | None = None

    def arrive(self, kind: str, seconds: float) -> None:
        """A message arrived, so long after it happened."""
        self.delivered[kind] += 1
        if self.when_delivered is not None:
            self.when_delivered(kind, seconds)
