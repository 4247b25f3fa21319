"""Parsing, in Spark's workers; and what a parsed entry means to a hub."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from triplewire.documents.limits import DEFAULT_LIMITS, Limits
from triplewire.engine.intake import change_of, entry_of
from triplewire.errors import TriplewireError
from triplewire.model import Change
from triplewire.pipeline.streaming.entries import Waiting, entries_in, table_of
from triplewire.store import NewEntry, NewRejection


class Parse:
    """Parses entries where they are; a value that Spark sends to its workers."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Parsed entries for entries; what cannot be parsed goes on as it is, with the reason."""
        for batch in batches:
            yield from table_of(map(self._parsed, entries_in(batch)))

    def _parsed(self, one: Waiting) -> Waiting:
        if not one.uri:
            return replace(one, uri="", reason="it has no uri; the key of a message is the uri of its document")
        try:
            change = change_of(sent(one), self._limits)
        except TriplewireError as error:
            return one.refused(str(error))
        entry = entry_of(change)
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
