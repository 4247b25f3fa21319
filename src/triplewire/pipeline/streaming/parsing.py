"""Parsing, in Spark's workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from triplewire.documents.limits import DEFAULT_LIMITS, Limits
from triplewire.errors import TriplewireError
from triplewire.intake.entries import change_of, entry_of
from triplewire.isolation import Died, isolated
from triplewire.pipeline.streaming.entries import entries_in, table_of
from triplewire.pipeline.worker import is_second_attempt
from triplewire.store import WaitingEntry


class EntryParser:
    """Parses entries where they are; a value that Spark sends to its workers.

    After a crash it is careful: it parses in processes that may die of it, and sets aside what they die of.
    """

    def __init__(self, limits: Limits = DEFAULT_LIMITS, *, is_careful: bool = False) -> None:
        self._limits, self._is_careful = limits, is_careful

    def careful(self) -> EntryParser:
        """The same, careful from the first attempt on."""
        return EntryParser(self._limits, is_careful=True)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Parsed entries for entries; what cannot be parsed goes on as it is, with the reason."""
        parsed = self._survived if self._is_careful or is_second_attempt() else self._parsed
        for batch in batches:
            yield from table_of(parsed(entries_in(batch)))

    def _survived(self, waiting: list[WaitingEntry]) -> Iterator[WaitingEntry]:
        for some, result in isolated(self._parsed, waiting):
            if isinstance(result, Died):
                yield from (one._replace(reason=f"the process that read it {result}") for one in some)
            else:
                yield from result

    def _parsed(self, waiting: list[WaitingEntry]) -> list[WaitingEntry]:
        return [self.parsed(one) for one in waiting]

    def parsed(self, one: WaitingEntry) -> WaitingEntry:
        """One entry; an error that nobody has thought of concerns this one only, too."""
        sent = one.entry
        if one.reason is not None:
            return one
        if not sent.uri:
            reason = "it has no uri; the key of a message is the uri of its document"
            return one._replace(entry=replace(sent, uri=""), reason=reason)
        try:
            read = entry_of(change_of(sent, self._limits))
        except TriplewireError as error:
            return one._replace(reason=str(error))
        except Exception as error:
            return one._replace(reason=f"{sent.uri}: not readable ({type(error).__name__}: {error})")
        return one._replace(entry=replace(read, uri=sent.uri, media_type=sent.media_type))
