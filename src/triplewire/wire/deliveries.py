"""Deliveries: where the events of a subscription are sent, how that goes, and what people do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Kind = Literal["webhook", "digest", "ldn", "websub"]
Every = Literal["hourly", "daily"]


@dataclass(frozen=True, kw_only=True)
class DeliveryTold:
    """A delivery and how it is.

    `active` works; `waiting` failed and tries again at `next_at`; `paused` sends nothing until it is resumed;
    `disabled` was given up for the `reason`; `verifying` is a WebSub subscription whose receiver has not confirmed it
    yet. `lag` counts the events that wait, up to 1,000, and `lag_seconds` is how long the first of them has.
    """

    id: str
    subscription: str
    kind: Kind
    url: str
    every: Every | None
    contents: bool
    topic: str | None
    state: Literal["active", "waiting", "paused", "disabled", "verifying"]
    reason: str | None
    next_at: str | None
    expires: str | None
    cursor: int
    lag: int
    lag_seconds: float
    delivered: int
    failed: int
    dead: int
    failures_in_a_row: int
    last_error: str | None
    last_delivered: str | None
    created: str


@dataclass(frozen=True, kw_only=True)
class DeliveryMade(DeliveryTold):
    """A new delivery; its secret is told this once."""

    secret: str | None


@dataclass(frozen=True)
class DeliveryPage:
    """Some deliveries; `next` is the `after` of those that follow, null on the last page."""

    deliveries: list[DeliveryTold]
    next: str | None = None


@dataclass(frozen=True)
class Pinged:
    """What a receiver said to a test: its status, or why there is none."""

    arrived: bool
    status: int | None
    detail: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class DeadLetterTold:
    """A message that was given up: what it says, why, after how many attempts, and whether it will be tried again."""

    number: int
    id: str
    cursor: int
    reason: str
    attempts: int
    died: str
    replay: bool
    message: Any


@dataclass(frozen=True)
class DeadLetterPage:
    """Some dead letters; `next` is the `after` of those that follow, null on the last."""

    dead: list[DeadLetterTold]
    next: int | None


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

    def listing(self, subscription: str | None = None) -> Iterator[dict[str, Any]]:
        """All deliveries, or those of a subscription, and how they are."""

    def pause(self, id: str) -> None:
        """Send nothing until it is resumed."""

    def resume(self, id: str) -> None:
        """Go on where it was."""

    def remove(self, id: str) -> None:
        """Deliver no more."""

    def rotate(self, id: str) -> str:
        """A new secret, told this once."""

    def ping(self, id: str) -> dict[str, Any]:
        """Send a test, and tell what the receiver says."""

    def dead(self, id: str) -> Iterator[dict[str, Any]]:
        """What was given up."""

    def replay(self, id: str, numbers: Sequence[int] = ()) -> int:
        """Try these dead letters again, or all; how many."""

    def drop(self, id: str, numbers: Sequence[int] = ()) -> int:
        """Forget these dead letters, or all; how many."""
