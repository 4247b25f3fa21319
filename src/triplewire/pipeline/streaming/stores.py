"""Stores that a worker keeps open: a task is short, and opening a store for each would take longer than its work."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triplewire.engine.finding import Seeker
    from triplewire.store import Store


@cache
def opened(url: str) -> Store:
    """The store of a url, opened by this process once."""
    from triplewire.store import Store

    return Store.open(url, create=False)


@cache
def seeker(url: str, most_triples: int) -> Seeker:
    """Who finds rows in the store of a url: it keeps the subscriptions in memory, and catches up when they change."""
    from triplewire.engine.finding import Seeker

    return Seeker(url, most_triples=most_triples)
