"""Calls: the channels that other hubs of a backbone have dialled to this one, which may ask back over them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triplewire.network.channels.ends import ExchangeEnd


class MemberCalls:
    """The ends of these channels, by the key that the other hub has proved."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: list[ExchangeEnd] = []

    @contextmanager
    def taking(self, end: ExchangeEnd) -> Iterator[None]:
        """A channel, as long as it lasts."""
        with self._lock:
            self._ends.append(end)
        try:
            yield
        finally:
            with self._lock:
                self._ends.remove(end)

    def of(self, key: str) -> ExchangeEnd | None:
        """The last one of the hub with a key that can be asked over; from any thread."""
        with self._lock:
            own = [end for end in self._ends if end.channel.key == key and not end.is_lost]
        return own[-1] if own else None
