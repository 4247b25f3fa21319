"""Subscriptions as they are told: one as it stands, and a page of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Annotated

from triplewire.model import MissedEvents, NetworkReach, Scope, Start, Subscription, Summary
from triplewire.wire.messages import Described


@dataclass(frozen=True, kw_only=True)
class SubscriptionTold:
    """A subscription as it stands."""

    id: str
    text: str
    language: str
    scope: Scope
    start: Start
    owner: str | None
    columns: list[str]
    past_columns: Annotated[
        list[str], Described("Columns that its log has from before an edit; told of one subscription alone.")
    ] = field(default_factory=list)
    viewer: Annotated[
        str | None, Described("The account whose documents it sees; null: all; empty: those for everybody.")
    ] = None
    stale_since: Annotated[
        datetime | None,
        Described("Since when its rows may be out of date, because they took more than a limit; null: never."),
    ] = None
    title: Annotated[str | None, Described("What people call it.")] = None
    description: Annotated[str | None, Described("What it is for, in words.")] = None
    paused_since: Annotated[datetime | None, Described("Since when nothing of it is told; null: it is.")] = None
    reach: Annotated[NetworkReach, Described("Whose documents count: this hub's, or those of its network, too.")] = (
        "hub"
    )
    revision: Annotated[str, Described("Another one after every change; its entity tag.")]
    answers: Annotated[
        int | None, Described("How many there are, counted up to 1,000; null for a caller who may not see them.")
    ] = None
    last_event: Annotated[
        datetime | None, Described("When it was told something last; null: never, or for a caller who may not see it.")
    ] = None

    @classmethod
    def of(cls, summary: Summary, past_columns: Sequence[str] = ()) -> SubscriptionTold:
        """What is told of a subscription with this summary."""
        own = {name: getattr(summary.subscription, name) for name in _OWN}
        columns, past = list(summary.columns), list(past_columns)
        return cls(**own, columns=columns, past_columns=past, answers=summary.answers, last_event=summary.last_event)

    @property
    def subscription(self) -> Subscription:
        """The subscription; its pattern stays where it is."""
        return Subscription(**{name: getattr(self, name) for name in _OWN})

    @property
    def summary(self) -> Summary:
        """The subscription as a list shows it."""
        return Summary(self.subscription, tuple(self.columns), self.answers, self.last_event)


_OWN = {each.name for each in fields(Subscription)} & {each.name for each in fields(SubscriptionTold)}


@dataclass(frozen=True)
class MissedTold:
    """What is not told any more of a subscription that was paused, oldest first."""

    missed: list[MissedEvents]


@dataclass(frozen=True)
class SubscriptionPage:
    """A page of subscriptions; `next` is the `after` of the next one, null on the last."""

    subscriptions: list[SubscriptionTold]
    next: str | None
