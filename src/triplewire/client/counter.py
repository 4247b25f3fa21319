"""The counter of a hub behind HTTP: its deliveries, by the names of `triplewire.deliver.counters.Counter`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

_PAGE = 1_000


class RemoteCounter:
    """The deliveries of a hub behind HTTP; `ask` gives the JSON that a method and a path answer."""

    def __init__(self, ask: Callable[..., Any], path: Callable[..., str]) -> None:
        self._ask, self._path = ask, path

    def add(self, subscription: str, url: str, *, after: int | None = 0, **options: Any) -> dict[str, Any]:
        """See `deliver.counters.Counter.add`."""
        wanted = {"url": url, "after": "now" if after is None else after, **options}
        made: dict[str, Any] = self._ask("POST", self._path(subscription, "deliveries"), json=wanted)
        return made

    def listing(self, subscription: str | None = None) -> Iterator[dict[str, Any]]:
        """See `deliver.counters.Counter.listing`."""
        if subscription is not None:
            yield from self._ask("GET", self._path(subscription, "deliveries"))["deliveries"]
            return
        after: str | None = ""
        while after is not None:
            page = self._ask("GET", "/deliveries", params={"after": after, "limit": _PAGE})
            yield from page["deliveries"]
            after = page["next"]

    def pause(self, id: str) -> None:
        """See `deliver.counters.Counter.pause`."""
        self._ask("PATCH", f"/deliveries/{id}", json={"state": "paused"})

    def resume(self, id: str) -> None:
        """See `deliver.counters.Counter.resume`."""
        self._ask("PATCH", f"/deliveries/{id}", json={"state": "active"})

    def remove(self, id: str) -> None:
        """See `deliver.counters.Counter.remove`."""
        self._ask("DELETE", f"/deliveries/{id}")

    def rotate(self, id: str) -> str:
        """See `deliver.counters.Counter.rotate`."""
        return str(self._ask("POST", f"/deliveries/{id}/secret", json={})["secret"])

    def ping(self, id: str) -> dict[str, Any]:
        """See `deliver.counters.Counter.ping`."""
        said: dict[str, Any] = self._ask("POST", f"/deliveries/{id}/ping")
        return said

    def dead(self, id: str) -> Iterator[dict[str, Any]]:
        """See `deliver.counters.Counter.dead`."""
        after: int | None = 0
        while after is not None:
            page = self._ask("GET", f"/deliveries/{id}/dead", params={"after": after, "limit": _PAGE})
            yield from page["dead"]
            after = page["next"]

    def replay(self, id: str, numbers: Sequence[int] = ()) -> int:
        """See `deliver.counters.Counter.replay`."""
        chosen = {"numbers": [*numbers]} if numbers else {}
        return int(self._ask("POST", f"/deliveries/{id}/dead/replay", json=chosen)["count"])

    def drop(self, id: str, numbers: Sequence[int] = ()) -> int:
        """See `deliver.counters.Counter.drop`."""
        if not numbers:
            return int(self._ask("DELETE", f"/deliveries/{id}/dead")["count"])
        return sum(int(self._ask("DELETE", f"/deliveries/{id}/dead/{number}")["count"]) for number in numbers)
