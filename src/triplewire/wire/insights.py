"""Insights: what a hub says of a row, a resource or a query, in a sentence and as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Insight(Protocol):
    """What a hub says: a sentence, as text, and data."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""


def insight_as_dict(insight: Insight) -> dict[str, Any]:
    """Both in one, ready for JSON."""
    return insight.as_dict() | {"text": str(insight)}


@dataclass(frozen=True, slots=True)
class Told:
    """What a service says of a row, a resource or a query: in a sentence, and as data."""

    text: str
    data: Mapping[str, Any]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Told:
        """What `insight_as_dict` wrote."""
        return cls(told["text"], {name: value for name, value in told.items() if name != "text"})

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return dict(self.data)

    def __str__(self) -> str:
        return self.text
