"""Deliveries: where the events of a subscription are sent, how that goes, and what people do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol

Kind = Literal["webhook", "digest", "ldn", "websub"]
Every = Literal["hourly", "daily"]


class AnyDeliveries(Protocol):
    """The deliveries of a hub, wherever it is; what is told of them is in dictionaries."""

    def add(
        self,
        subscription: str,
        url: str,
        *,
        kind: Kind = "webhook",
        every: Every | None = None,
        contents: bool = False,
        after: int | None = 0,
        secret: str | None = None,
    ) -> dict[str, Any]:
        """A new delivery; its `secret` is told this once. With `after` None it begins with what happens next."""
        ...

    def listing(self, subscription: str | None = None) -> Iterator[dict[str, Any]]:
        """All deliveries, or those of a subscription, and how they are."""
        ...

    def pause(self, id: str) -> None:
        """Send nothing until it is resumed."""
        ...

    def resume(self, id: str) -> None:
        """Go on where it was."""
        ...

    def remove(self, id: str) -> None:
        """Deliver no more."""
        ...

    def rotate(self, id: str) -> str:
        """A new secret, told this once."""
        ...

    def ping(self, id: str) -> dict[str, Any]:
        """Send a test, and tell what the receiver says."""
        ...

    def dead(self, id: str) -> Iterator[dict[str, Any]]:
        """What was given up."""
        ...

    def replay(self, id: str, numbers: Sequence[int] = ()) -> int:
        """Try these dead letters again, or all; how many."""
        ...

    def drop(self, id: str, numbers: Sequence[int] = ()) -> int:
        """Forget these dead letters, or all; how many."""
        ...
