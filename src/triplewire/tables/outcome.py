"""The outcome of a batch: its events, and what else is to be said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from triplewire.errors import DocumentError, SubscriptionError
from triplewire.model import Event
from triplewire.tables.lists import Events


class Outcome(Sequence[Event]):
    """The events of a batch, like a list, and what else is to be said of it.

    `batch` is its id. `warnings` are documents that break the schema of a hub that lets them in, and items of a feed
    that were refused alone, because of their own access lists. `errors` are subscriptions that failed in it, with the
    reason: their rows are as before.
    Events are made when one of them is first asked for, which costs more than finding them: ask before the hub is
    closed.
    """

    __slots__ = ("_count", "_events", "_tell", "batch", "errors", "warnings")

    def __init__(
        self,
        batch: str,
        count: int,
        tell: Callable[[], list[Event]],
        warnings: Sequence[DocumentError] = (),
        errors: Sequence[SubscriptionError] = (),
    ) -> None:
        self.batch, self.warnings, self.errors = batch, tuple(warnings), tuple(errors)
        self._count, self._tell = count, tell
        self._events: list[Event] | None = None

    def _told(self) -> list[Event]:
        if self._events is None:
            self._events = self._tell() if self._count else []
            self._count = len(self._events)  # fewer, if a subscription has gone since
        return self._events

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        return self._told()[index]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Event]:
        return iter(self._told())

    def __eq__(self, other: object) -> bool:
        return self._told() == list(other) if isinstance(other, Outcome | list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # a sequence that compares by content, as a list

    def _repr_html_(self) -> str:
        return Events(self)._repr_html_()

    def __repr__(self) -> str:
        return f"<Outcome of {self.batch}: {', '.join(map(str, self)) or 'no events'}>"
