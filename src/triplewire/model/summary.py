"""Summaries: subscriptions as a list shows them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from triplewire.model.subscription import Subscription

Sort = Literal[
    "id", "-id", "title", "-title", "created", "-created", "answers", "-answers", "last_event", "-last_event"
]
"""By what, and with a minus the other way round."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A subscription (without its pattern), its columns, its answers and the time of its last event.

    `answers` is counted up to 1,000; None, as the time is, for a viewer who may not see them.
    """

    subscription: Subscription
    columns: tuple[str, ...]
    answers: int | None
    last_event: datetime | None


class SummaryPage(NamedTuple):
    """Some summaries; `next` is the `after` of the next page, None on the last."""

    summaries: list[Summary]
    next: str | None
