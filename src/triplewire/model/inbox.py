"""The inbox: events of several subscriptions together, and how many are new."""

from __future__ import annotations

from typing import NamedTuple

from triplewire.model.event import Event


class InboxItem(NamedTuple):
    """An event, and what its subscription is called."""

    event: Event
    title: str


class InboxPage(NamedTuple):
    """Some events, the newest first; `next` is where to go on, None at the end; `is_cut` if it did not look further."""

    items: list[InboxItem]
    next: str | None
    is_cut: bool


class InboxNews(NamedTuple):
    """How many events came after the cursor `mark`: of each subscription that has any, and in all.

    `last` is the cursor to mark everything as seen. With `is_cut` there are more: not all was counted.
    """

    mark: int
    last: int
    events: int
    is_cut: bool
    subscriptions: list[tuple[str, str, int]]
    """Id, title and number of new events, the most first."""
