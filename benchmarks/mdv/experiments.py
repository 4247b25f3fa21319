"""Figures 11 to 15 of the paper: which rules, how many of them, and the points of their curves."""

from __future__ import annotations

from dataclasses import asdict, dataclass

BATCHES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
RULES = (10_000, 100_000)
PERCENTAGES = (1.0, 5.0, 10.0, 20.0)


@dataclass(frozen=True, slots=True)
class Experiment:
    """One figure: a type of rules, with rule bases of several sizes, or percentages of one that match a document."""

    figure: int
    workload: str
    title: str
    rules: tuple[int, ...] = RULES
    percentages: tuple[float, ...] = (10.0,)


EXPERIMENTS = (
    Experiment(11, "MDV-OID", "OID rules"),
    Experiment(12, "MDV-PATH", "PATH rules"),
    Experiment(13, "MDV-COMP", "COMP rules (10 % of the rule base)"),
    Experiment(14, "MDV-JOIN", "JOIN rules"),
    Experiment(15, "MDV-COMP", "10,000 COMP rules, percentage of them that match", (10_000,), PERCENTAGES),
)


@dataclass(frozen=True, slots=True)
class Point:
    """One point of one curve: what registering a document costs in a batch of a size."""

    figure: int
    workload: str
    subscriptions: int
    batch: int
    alternative: str
    microseconds: float
    matches: float
    percentage: float | None = None

    def as_dict(self) -> dict[str, object]:
        """JSON-ready, in the form that all benchmarks use, with the figure's number."""
        values = asdict(self) | {"microseconds": round(self.microseconds, 3), "matches": round(self.matches, 3)}
        return {key: value for key, value in values.items() if value is not None}
