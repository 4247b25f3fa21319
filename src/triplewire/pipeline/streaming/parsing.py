"""Parsing, in Spark's workers; and what a parsed entry means to a hub."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace

import pyarrow as pa
from pyspark import TaskContext

from triplewire.documents.limits import DEFAULT_LIMITS, Limits
from triplewire.errors import TriplewireError
from triplewire.intake.entries import change_of, entry_of
from triplewire.isolation import Died, isolated
from triplewire.model import Change
from triplewire.pipeline.streaming.entries import Waiting, entries_in, table_of
from triplewire.store import NewEntry, NewRejection


class Parse:
    """Parses entries where they are; a value that Spark sends to its workers.

    After a crash it is careful: it parses in processes that may die of it, and sets aside what they die of.
    """

    def __init__(self, limits: Limits = DEFAULT_LIMITS, *, is_careful: bool = False) -> None:
        self._limits, self._is_careful = limits, is_careful

    def careful(self) -> Parse:
        """The same, careful from the first attempt on."""
        found = copy(self)
        found._is_careful = True
        return found

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Parsed entries for entries; what cannot be parsed goes on as it is, with the reason."""
        context = TaskContext.get()
        is_careful = self._is_careful or (context is not None and context.attemptNumber() > 0)
        parsed = self._survived if is_careful else self._parsed
        for batch in batches:
            yield from table_of(parsed(entries_in(batch)))

    def _survived(self, waiting: list[Waiting]) -> Iterator[Waiting]:
        for some, result in isolated(self._parsed, waiting):
            if isinstance(result, Died):
                yield from (one.refused(f"the process that read it {result}") for one in some)
            else:
                yield from result

    def _parsed(self, waiting: list[Waiting]) -> list[Waiting]:
        return [self.parsed(one) for one in waiting]

    def parsed(self, one: Waiting) -> Waiting:
        """One entry; an error that nobody has thought of concerns this one only, too."""
        if one.reason is not None:
            return one
        if not one.uri:
            return replace(one, uri="", reason="it has no uri; the key of a message is the uri of its document")
        try:
            entry = entry_of(change_of(sent(one), self._limits))
        except TriplewireError as error:
            return one.refused(str(error))
        except Exception as error:
            return one.refused(f"{one.uri}: not readable ({type(error).__name__}: {error})")
        return Waiting(one.position, one.item, entry.kind, one.uri, one.media_type, entry.content, one.received)


def sent(one: Waiting) -> NewEntry:
    """What was sent."""
    return NewEntry(one.kind, one.uri, one.media_type, one.content)


def change(one: Waiting) -> Change:
    """What an entry changes, once it is parsed."""
    return change_of(sent(one))


def rejection(one: Waiting) -> NewRejection:
    """An entry to set aside."""
    return NewRejection(sent(one), one.reason or "")
