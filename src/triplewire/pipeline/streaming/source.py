"""The logs of a store as a source of Spark: first its intake log, then the journal beside it.

Spark asks where the next batch ends, and each of its tasks reads a share of what waits up to that position. The batch
that applies entries takes them off the log: so what is on it is what is to be done, whatever a checkpoint says.
A batch that is planned again finds nothing left. A store that lost its last commits with its machine has entries again
that were applied before, and they are applied again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from triplewire.errors import PipelineError
from triplewire.intake.backlog import EntryStretch
from triplewire.pipeline.streaming.entries import DDL, table_of
from triplewire.pipeline.streaming.stores import backlog_of
from triplewire.store import INTAKE

NAME = "triplewire-intake"
_EVERYTHING = 1 << 60
_LEAST = 200
"""Entries that are worth a task of their own."""


class IntakeSource(DataSource):
    """`spark.readStream.format("triplewire-intake")` with the options `store`, `most` (entries a batch), `tasks`."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return NAME

    def schema(self) -> str:
        """The columns of an entry."""
        return DDL

    def streamReader(self, schema: object) -> IntakeStream:
        """A reader of the log."""
        options = self.options
        return IntakeStream(options["store"], int(options["most"]), int(options["tasks"]))


class IntakeStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the logs of one store.

    An offset is a log, a position of it, and how many batches there were: it is another one whenever something waits.
    """

    def __init__(self, url: str, most: int, tasks: int) -> None:
        self._url, self._most, self._tasks = url, most, tasks
        self._ends: dict[int, int] = {}
        self._is_begun = False

    def initialOffset(self) -> dict[str, int]:
        """Before the first entry that waits."""
        return {"position": 0, "log": INTAKE, "batch": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        """So many entries a batch."""
        return ReadMaxRows(self._most)

    def prepareForTriggerAvailableNow(self) -> None:
        """What is there now is all that is wanted."""
        self._ends = backlog_of(self._url).ends()

    def latestOffset(self, start: Mapping[str, Any], limit: ReadLimit) -> dict[str, int]:
        """Where the next batch may end."""
        self._refuse_unknown(start)
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else _EVERYTHING
        found = backlog_of(self._url).next_end(most=most, ends=self._ends)
        if found is None:
            return dict(start)
        log, position = found
        return {"position": position, "log": log, "batch": start.get("batch", 0) + 1}

    def _refuse_unknown(self, start: Mapping[str, Any]) -> None:
        if self._is_begun:
            return
        last = backlog_of(self._url).ends()[INTAKE]
        if start.get("log", INTAKE) == INTAKE and start["position"] > last:
            raise PipelineError(
                f"the checkpoint is at position {start['position']} of the intake log, and the log of {self._url} ends"
                f" at {last}: it is another store's, or this one was set back; name another --checkpoint, and the"
                " stream begins with what waits"
            )
        self._is_begun = True

    def partitions(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> Sequence[InputPartition]:
        """Shares of about the same number of entries, of all that wait; a few are one."""
        log, until = end.get("log", INTAKE), end["position"]
        sizes = backlog_of(self._url).sizes(log, until)
        after = sizes[0][0] - 1 if sizes else until
        return [InputPartition((log, *bounds)) for bounds in shares(sizes, after, until, self._tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The entries of a share, which is a stretch of a log."""
        yield from table_of(backlog_of(self._url).within(EntryStretch(*partition.value)))


def shares(sizes: Sequence[tuple[int, int]], after: int, until: int, tasks: int) -> list[tuple[int, int]]:
    """Cut positions with sizes into up to so many spans, none of which is small.

    >>> shares([(1, 300), (2, 300), (3, 10)], 0, 3, 2)
    [(0, 1), (1, 3)]
    """
    total = sum(size for _, size in sizes)
    goal = max(_LEAST, -(-total // max(1, tasks)))
    found: list[tuple[int, int]] = []
    first = last = after
    size = 0
    for position, count in sizes:
        if size and size + count > goal:
            found.append((first, last))
            first, size = last, 0
        size, last = size + count, position
    return [*found, (first, until)] if sizes else []
