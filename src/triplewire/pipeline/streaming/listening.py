"""Listening to Spark: what its own listener tells of each trigger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pyspark.sql.streaming.listener import StreamingQueryListener

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import (
        QueryIdleEvent,
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
    )


class Ear(StreamingQueryListener):
    """Hears how long the steps of each trigger took, in milliseconds."""

    def __init__(self, hear: Callable[[Mapping[str, int]], None]) -> None:
        self._hear = hear

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Nothing is known yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """A trigger is over."""
        self._hear(event.progress.durationMs)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        """There was nothing to do."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """Nothing to do: the stream itself waits for the query's end."""
