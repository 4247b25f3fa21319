"""Counters, as in a post office: the deliveries of a hub, whether it is a store or behind HTTP, by the same names.

The one behind HTTP is the client's (`triplewire.client.counter`). Both give what the service tells of deliveries, as
plain dictionaries; see `Condition.as_dict`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from triplewire.deliver.digests import Every
from triplewire.deliver.pinging import ping
from triplewire.deliver.registry import Deliveries, Kind
from triplewire.outbound import PUBLIC, Reach
from triplewire.store import DeadLetter, Store

_PAGE = 1_000


class Counter(Protocol):
    """What people do with deliveries."""

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


class StoreCounter:
    """The deliveries in a store; `reach` is for `ping`, which sends from here."""

    def __init__(self, store: Store, reach: Reach = PUBLIC) -> None:
        self._deliveries, self._reach = Deliveries(store), reach
        self.pause, self.resume, self.remove = self._deliveries.pause, self._deliveries.resume, self._deliveries.remove

    def add(self, subscription: str, url: str, **options: Any) -> dict[str, Any]:
        """See `Counter.add`."""
        made, secret = self._deliveries.add(subscription, url, **options)
        return self._deliveries.condition(made.id).as_dict(time.time()) | {"secret": secret}

    def listing(self, subscription: str | None = None) -> Iterator[dict[str, Any]]:
        """See `Counter.listing`."""
        if subscription is not None:
            yield from (each.as_dict(time.time()) for each in self._deliveries.of_subscription(subscription))
            return
        after = ""
        while found := self._deliveries.listing(after=after, limit=_PAGE):
            yield from (each.as_dict(time.time()) for each in found)
            after = found[-1].record.id

    def rotate(self, id: str) -> str:
        """See `Counter.rotate`."""
        return self._deliveries.rotate(id)

    def ping(self, id: str) -> dict[str, Any]:
        """See `Counter.ping`."""
        return asyncio.run(ping(self._deliveries.of(id), self._reach, self._deliveries.vault))

    def dead(self, id: str) -> Iterator[dict[str, Any]]:
        """See `Counter.dead`."""
        after = 0
        while found := self._deliveries.dead(id, after=after, limit=_PAGE):
            yield from map(told, found)
            after = found[-1].number

    def replay(self, id: str, numbers: Sequence[int] = ()) -> int:
        """See `Counter.replay`."""
        return self._deliveries.replay(id, numbers or None)

    def drop(self, id: str, numbers: Sequence[int] = ()) -> int:
        """See `Counter.drop`."""
        return self._deliveries.drop(id, numbers or None)


def told(letter: DeadLetter) -> dict[str, Any]:
    """A dead letter, JSON-ready; its message as the JSON that it is, or as text."""
    is_json = "json" in letter.media_type
    return {
        "number": letter.number,
        "id": letter.message,
        "cursor": letter.cursor,
        "reason": letter.reason,
        "attempts": letter.attempts,
        "died": letter.died,
        "replay": letter.replay,
        "message": json.loads(letter.content) if is_json else letter.content.decode("utf-8", "replace"),
    }
