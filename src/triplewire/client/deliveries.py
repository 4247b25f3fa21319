"""The deliveries of a hub behind HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from triplewire.client.messages import path_of
from triplewire.wire.deliveries import AnyDeliveries
from triplewire.wire.hubs import PAGE


class RemoteDeliveries(AnyDeliveries):
    """The deliveries of a hub behind HTTP; `ask` gives the JSON that a method and a path answer."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def add(self, subscription: str, url: str, *, after: int | None = 0, **options: Any) -> dict[str, Any]:
        wanted = {"url": url, "after": "now" if after is None else after, **options}
        made: dict[str, Any] = self._ask("POST", path_of(subscription, "deliveries"), json=wanted)
        return made

    def listing(self, subscription: str | None = None) -> Iterator[dict[str, Any]]:
        path = "/deliveries" if subscription is None else path_of(subscription, "deliveries")
        return self._paged(path, "deliveries", "")

    def pause(self, id: str) -> None:
        self._ask("PATCH", f"/deliveries/{id}", json={"state": "paused"})

    def resume(self, id: str) -> None:
        self._ask("PATCH", f"/deliveries/{id}", json={"state": "active"})

    def remove(self, id: str) -> None:
        self._ask("DELETE", f"/deliveries/{id}")

    def rotate(self, id: str) -> str:
        return str(self._ask("POST", f"/deliveries/{id}/secret", json={})["secret"])

    def ping(self, id: str) -> dict[str, Any]:
        said: dict[str, Any] = self._ask("POST", f"/deliveries/{id}/ping")
        return said

    def dead(self, id: str) -> Iterator[dict[str, Any]]:
        return self._paged(f"/deliveries/{id}/dead", "dead", 0)

    def _paged(self, path: str, name: str, after: str | int | None) -> Iterator[dict[str, Any]]:
        while after is not None:
            page = self._ask("GET", path, params={"after": after, "limit": PAGE})
            yield from page[name]
            after = page["next"]

    def replay(self, id: str, numbers: Sequence[int] = ()) -> int:
        chosen = {"numbers": [*numbers]} if numbers else {}
        return int(self._ask("POST", f"/deliveries/{id}/dead/replay", json=chosen)["count"])

    def drop(self, id: str, numbers: Sequence[int] = ()) -> int:
        if not numbers:
            return int(self._ask("DELETE", f"/deliveries/{id}/dead")["count"])
        return sum(int(self._ask("DELETE", f"/deliveries/{id}/dead/{number}")["count"]) for number in numbers)
