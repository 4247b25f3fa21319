"""The deliveries in a store, by the names of any hub's: what people do with them, in dictionaries."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from triplewire.deliver.registry import Deliveries
from triplewire.deliver.sending import ping
from triplewire.outbound import PUBLIC, Reach
from triplewire.store import DeadLetter, Store
from triplewire.wire.deliveries import AnyDeliveries, DeadLetterTold
from triplewire.wire.hubs import PAGE


class StoreDeliveries(AnyDeliveries):
    """The deliveries in a store; `reach` is for `ping`, which sends from here."""

    def __init__(self, store: Store, reach: Reach | None = None) -> None:
        self._deliveries, self._reach = Deliveries(store), reach or PUBLIC

    def pause(self, id: str) -> None:
        self._deliveries.pause(id)

    def resume(self, id: str) -> None:
        self._deliveries.resume(id)

    def remove(self, id: str) -> None:
        self._deliveries.remove(id)

    def add(self, subscription: str, url: str, **options: Any) -> dict[str, Any]:
        made, secret = self._deliveries.add(subscription, url, **options)
        return asdict(self._deliveries.condition(made.id)) | {"secret": secret}

    def listing(self, subscription: str | None = None) -> Iterator[dict[str, Any]]:
        if subscription is not None:
            yield from map(asdict, self._deliveries.of_subscription(subscription))
            return
        after = ""
        while found := self._deliveries.listing(after=after, limit=PAGE):
            yield from map(asdict, found)
            after = found[-1].id

    def rotate(self, id: str) -> str:
        return self._deliveries.rotate(id)

    def ping(self, id: str) -> dict[str, Any]:
        return asdict(asyncio.run(ping(self._deliveries.of(id), self._reach, self._deliveries.vault)))

    def dead(self, id: str) -> Iterator[dict[str, Any]]:
        after = 0
        while found := self._deliveries.dead(id, after=after, limit=PAGE):
            yield from (asdict(letter_told(each)) for each in found)
            after = found[-1].number

    def replay(self, id: str, numbers: Sequence[int] = ()) -> int:
        return self._deliveries.replay(id, numbers or None)

    def drop(self, id: str, numbers: Sequence[int] = ()) -> int:
        return self._deliveries.drop(id, numbers or None)


def letter_told(letter: DeadLetter) -> DeadLetterTold:
    """A dead letter; its message as the JSON that it is, or as text."""
    is_json = "json" in letter.media_type
    message = json.loads(letter.content) if is_json else letter.content.decode("utf-8", "replace")
    own = {name: getattr(letter, name) for name in ("number", "cursor", "reason", "attempts", "died", "replay")}
    return DeadLetterTold(**own, id=letter.message, message=message)
