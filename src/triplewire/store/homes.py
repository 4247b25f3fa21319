"""Homes: which hub of a backbone each document belongs to, and what each batch of a home did.

A document without an entry belongs to this hub. Of two homes of one document the later generation counts, and of one
generation the name that comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import NamedTuple

from triplewire.store import schema
from triplewire.store.intake import NewEntry
from triplewire.store.sql import StorePart

GONE = -1


class HomeRecord(NamedTuple):
    """The home of a document, and the how manieth it is."""

    home: str
    generation: int = 0


class ReplicationRecord(NamedTuple):
    """What a batch of a home did to a document: gave it a version of this store, or, with 0, another access list.

    With GONE, it was retracted before this hub had heard of it.
    `is_kept` is False for a version that was compacted away; a later one is there.
    """

    number: int
    document: int
    version: int
    generation: int
    is_kept: bool = True


class HomeReader(StorePart):
    """Homes by document, and replications by home."""

    def of(self, documents: Iterable[int]) -> dict[int, HomeRecord]:
        """The homes of those of the documents that have an entry."""
        found = self._sql.where(schema.homes, "document", documents)
        return {document: HomeRecord(home, generation) for document, home, generation in found}

    def documents_of(self, home: str) -> dict[int, int]:
        """The documents that have an entry with this home, with its generation."""
        return dict(self._sql.rows("SELECT document, generation FROM homes WHERE home = ? ORDER BY document", home))

    def replications(self, home: str, after: int, until: int, limit: int) -> list[ReplicationRecord]:
        """What batches of a home did, in order; whole batches, as many as fit into the limit, but at least one."""
        text = (
            "SELECT r.number, r.document, r.version, r.generation, v.version IS NOT NULL OR r.version <= 0"
            " FROM replications r"
            " LEFT JOIN versions v ON v.document = r.document AND v.version = r.version AND r.version > 0"
            " WHERE r.home = ? AND r.number > ? AND r.number <= ? ORDER BY r.number, r.document LIMIT ?"
        )
        found = [
            ReplicationRecord(number, document, version, generation, bool(is_kept))
            for number, document, version, generation, is_kept in self._sql.rows(text, home, after, until, limit + 1)
        ]
        if len(found) <= limit:
            return found
        cut = found[-1].number
        whole = [record for record in found if record.number < cut]
        return whole or self.replications(home, after, until, 2 * limit)

    def newest(self, home: str) -> int:
        """The last batch of a home that did something; 0 if none has."""
        return self._sql.number("SELECT coalesce(max(number), 0) FROM replications WHERE home = ?", home)

    def counts(self) -> dict[str, int]:
        """How many documents that are present have an entry, by home."""
        text = (
            "SELECT h.home, count(*) FROM homes h JOIN documents d ON d.id = h.document WHERE d.digest <> ?"
            " GROUP BY h.home ORDER BY h.home"
        )
        return dict(self._sql.rows(text, b""))

    def waiting(self, limit: int = 1_000) -> list[tuple[int, str, NewEntry]]:
        """The changes that wait for their homes, in their order: number, home, change."""
        found = self._sql.select(schema.passed_on, "WHERE number > 0 ORDER BY number LIMIT ?", limit)
        return [(number, home, NewEntry(*entry)) for number, home, *entry in found]

    def count_waiting(self) -> int:
        """How many changes wait for their homes."""
        return self._sql.number("SELECT count(*) FROM passed_on")


class HomeWriter(HomeReader):
    """Homes and replications, and changes of them."""

    def set(self, homes: Sequence[tuple[int, HomeRecord]]) -> None:
        """Other homes for documents."""
        self._sql.replace(schema.homes, [(document, *record) for document, record in homes])

    def note(self, home: str, number: int, changed: Iterable[tuple[int, int, int]]) -> None:
        """What a batch of a home did: documents, with their versions and generations."""
        rows = [(home, number, *each) for each in sorted(set(changed))]
        self._sql.replace(schema.replications, rows)

    def wait(self, home: str, entries: Sequence[NewEntry]) -> None:
        """Let changes wait for their home."""
        numbers = self._sql.take("passed_on", len(entries)) if entries else ()
        self._sql.insert(
            schema.passed_on, [(number, home, *astuple(entry)) for number, entry in zip(numbers, entries, strict=True)]
        )

    def passed(self, numbers: Iterable[int]) -> None:
        """These changes wait no longer."""
        self._sql.delete(schema.passed_on, ("number",), [(number,) for number in numbers])
