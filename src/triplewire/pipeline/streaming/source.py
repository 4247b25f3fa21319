"""The intake log as a source of Spark: a stream whose offset is a position of the log.

Spark asks where the log ends, and each of its tasks reads a share of what is there up to that position. The batch that
applies entries takes them off the log: so what is on it is what is to be done, whatever a checkpoint says of the past.
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
from triplewire.pipeline.streaming.entries import DDL, table_of
from triplewire.pipeline.streaming.stores import opened

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


class Span(InputPartition):
    """The entries with after < position <= until."""

    def __init__(self, after: int, until: int) -> None:
        super().__init__((after, until))
        self.after, self.until = after, until


class IntakeStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the log of one store."""

    def __init__(self, url: str, most: int, tasks: int) -> None:
        self._url, self._most, self._tasks = url, most, tasks
        self._target: int | None = None

    def initialOffset(self) -> dict[str, int]:
        """Before the first entry that waits."""
        with opened(self._url).reading() as reader:
            return {"position": reader.intake.first() - 1}

    def getDefaultReadLimit(self) -> ReadLimit:
        """So many entries a batch."""
        return ReadMaxRows(self._most)

    def prepareForTriggerAvailableNow(self) -> None:
        """What is there now is all that is wanted."""
        with opened(self._url).reading() as reader:
            self._target = reader.intake.last()

    def latestOffset(self, start: Mapping[str, Any], limit: ReadLimit) -> dict[str, int]:
        """Where the next batch may end."""
        after = int(start["position"])
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else _EVERYTHING - 1
        with opened(self._url).reading() as reader:
            if after > reader.intake.last():
                raise PipelineError(
                    f"the checkpoint is at position {after} of the intake log, and the log of {self._url} ends at"
                    f" {reader.intake.last()}: it is another store's, or this one was set back; name another"
                    " --checkpoint, and the stream begins with what waits"
                )
            until = reader.intake.until(after, most)
        if self._target is not None:
            until = min(until, max(after, self._target))
        return {"position": until}

    def partitions(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> Sequence[InputPartition]:
        """Shares of about the same number of entries, of all that wait; a few are one."""
        until = int(end["position"])
        if int(start["position"]) >= until:
            return []
        with opened(self._url).reading() as reader:
            sizes = reader.intake.sizes(0, until)
        return [Span(*bounds) for bounds in shares(sizes, 0, until, self._tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The entries of a share."""
        assert isinstance(partition, Span)
        with opened(self._url).reading() as reader:
            yield from table_of(reader.intake.entries(partition.after, partition.until))


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
