"""Documents and their versions: what every publisher said, and when.

A document keeps its number and goes on counting its versions whatever happens to it; a retraction is a version
without content. Contents are compressed, quickly rather than well: a batch has thousands of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap

from triplewire.store import schema
from triplewire.store.access import seen
from triplewire.store.packing import digest
from triplewire.store.sql import Sql, StorePart, is_storable

_QUICK = 1
_SMALL = 1 << 13
_COLUMNS = "d.id, d.uri, d.version, d.published, d.digest"


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """The current version of a document: its number, and the batch that published it."""

    id: int
    uri: str
    version: int
    published: int
    digest: bytes

    @property
    def present(self) -> bool:
        """Whether it has content now: it was published, and not retracted since."""
        return self.digest != b""


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """One version of a document, without its content; not present means retracted."""

    document: int
    version: int
    batch: int
    present: bool


class DocumentReader(StorePart):
    """Documents, their versions and contents; with a `viewer`, only documents are found that it may read."""

    def __init__(self, sql: Sql, viewer: str | None = None) -> None:
        super().__init__(sql)
        self._seen, self._viewer = seen(viewer, "d.id")

    def current(self, uris: Sequence[str]) -> list[DocumentRecord | None]:
        """The record of each uri; None for one that was never heard of."""
        records = {record.uri: record for record in self._seen_with("uri", [uri for uri in uris if is_storable(uri)])}
        return [records.get(uri) for uri in uris]

    def by_ids(self, ids: Sequence[int]) -> list[DocumentRecord]:
        """The record of each number; KeyError for a number that is no document's."""
        records = dict(zip(ids, self.current_of(ids), strict=True))
        missing = next((number for number, record in records.items() if record is None), None)
        if missing is not None:
            raise KeyError(missing)
        return [record for number in ids if (record := records[number]) is not None]

    def current_of(self, ids: Sequence[int]) -> list[DocumentRecord | None]:
        """The record of each number; None for one that the viewer may not read."""
        records = {record.id: record for record in self._seen_with("id", ids)}
        return [records.get(number) for number in ids]

    def _seen_with(self, column: str, keys: Iterable[int | str]) -> Iterator[DocumentRecord]:
        text = f"SELECT {_COLUMNS} FROM k CROSS JOIN documents d WHERE d.{column} = k.a{self._seen}"
        wanted = [(key,) for key in dict.fromkeys(keys)]
        return starmap(DocumentRecord, self._sql.keyed(f"WITH k(a) AS ({{keys}}) {text}", wanted, *self._viewer))

    def contents(self, versions: Sequence[tuple[int, int]]) -> list[bytes | None]:
        """The content of each (document, version); None when it was retracted, compacted away or never there."""
        kept = self._read("content", versions)
        return [kept.get(version) for version in versions]

    def xml(self, versions: Sequence[tuple[int, int]]) -> list[bytes]:
        """The XML of each (document, version); nothing for those that have none."""
        kept = self._read("xml", versions)
        return [kept.get(version, b"") for version in versions]

    def having_xml(self, versions: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
        """Those (document, version) that have XML; it is not read."""
        return self._known(versions, "AND v.xml IS NOT NULL")

    def kept(self, versions: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
        """Those (document, version) that are known still: retractions, too, and none that was compacted away."""
        return self._known(versions)

    def _known(self, versions: Sequence[tuple[int, int]], condition: str = "") -> set[tuple[int, int]]:
        text = "SELECT v.document, v.version FROM k CROSS JOIN versions v"
        where = f"WHERE v.document = k.a AND v.version = k.b {condition}"
        found = self._sql.keyed(f"WITH k(a, b) AS ({{keys}}) {text} {where}", versions)
        return {(document, version) for document, version in found}

    def _read(self, column: str, versions: Sequence[tuple[int, int]]) -> dict[tuple[int, int], bytes]:
        found = self._sql.keyed(
            f"WITH k(a, b) AS ({{keys}}) SELECT v.document, v.version, v.{column} FROM k CROSS JOIN versions v"
            f" WHERE v.document = k.a AND v.version = k.b AND v.{column} IS NOT NULL",
            versions,
        )
        return {(document, version): zlib.decompress(kept) for document, version, kept in found}

    def with_xml(self, after: int = 0) -> list[int]:
        """The numbers of present documents that have XML now, and were published after a batch; newest first."""
        found = self._sql.rows(
            "SELECT d.id FROM documents d JOIN versions v ON v.document = d.id AND v.version = d.version"
            f" WHERE v.xml IS NOT NULL AND d.published > ?{self._seen} ORDER BY d.published DESC, d.id DESC",
            after,
            *self._viewer,
        )
        return [number for (number,) in found]

    def newest(self, limit: int, *, before: tuple[int, int] | None = None) -> list[DocumentRecord]:
        """Present documents, the last published first, from the one that follows (published, number)."""
        published, number = before or (1 << 62, 1 << 62)
        found = self._sql.rows(
            f"SELECT {_COLUMNS} FROM documents d WHERE d.digest <> ?"
            f" AND (d.published < ? OR (d.published = ? AND d.id < ?)){self._seen}"
            " ORDER BY d.published DESC, d.id DESC LIMIT ?",
            b"",
            published,
            published,
            number,
            *self._viewer,
            limit,
        )
        return [DocumentRecord(*row) for row in found]

    def history(self, document: int) -> list[VersionRecord]:
        """The versions that are kept, oldest first."""
        return self._versions("WHERE document = ? ORDER BY version", document)

    def published_by(self) -> tuple[int, int, int]:
        """How many batches there were, the first and the last of them; with a viewer, of those that it can know of.

        These are the batches that published or retracted documents which are found here.
        """
        if not self._seen:
            last = self._sql.counter("batches")
            return last, min(last, 1), last
        found = self._sql.first(
            "SELECT count(DISTINCT v.batch), min(v.batch), max(v.batch) FROM versions v JOIN documents d"
            f" ON d.id = v.document WHERE v.version > 0{self._seen}",
            *self._viewer,
        )
        count, first, last = found or (0, 0, 0)
        return int(count), int(first or 0), int(last or 0)

    def of_batches(self, after: int, until: int) -> list[VersionRecord]:
        """The versions of the batches with after < number <= until, in order of batch and document."""
        return self._versions("WHERE batch > ? AND batch <= ? ORDER BY batch, document", after, until)

    def first_of_batches(self, after: int, until: int) -> dict[int, int]:
        """The documents of the batches with after < number <= until, each with the first version that it has there."""
        text = "SELECT document, min(version) FROM versions WHERE batch > ? AND batch <= ? GROUP BY document"
        return dict(self._sql.rows(text, after, until))

    def _versions(self, rest: str, *values: int) -> list[VersionRecord]:
        found = self._sql.rows(f"SELECT document, version, batch, content IS NOT NULL FROM versions {rest}", *values)
        return [VersionRecord(document, version, batch, bool(present)) for document, version, batch, present in found]

    def listing(self, after: str = "", limit: int = 100, *, present: bool = True) -> list[DocumentRecord]:
        """Documents by uri, from the one that follows `after`; with present=False also the retracted ones."""
        only, values = ("AND d.digest <> ?", (b"",)) if present else ("", ())
        text = f"SELECT {_COLUMNS} FROM documents d WHERE d.uri > ? {only}{self._seen} ORDER BY d.uri LIMIT ?"
        return [DocumentRecord(*row) for row in self._sql.rows(text, after, *values, *self._viewer, limit)]

    def beginning_with(self, prefix: str, *, present: bool = True) -> list[str]:
        """The uris of documents that begin with a prefix, in order; with present=False also of the retracted ones."""
        if not is_storable(prefix):
            return []
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        only, values = ("AND d.digest <> ?", (b"",)) if present else ("", ())
        text = f"SELECT d.uri FROM documents d WHERE d.uri >= ? AND d.uri < ? {only}{self._seen} ORDER BY d.uri"
        return [uri for (uri,) in self._sql.rows(text, prefix, end, *values, *self._viewer)]

    def everything(self, after: int = 0) -> Iterator[tuple[DocumentRecord, bytes]]:
        """All present documents with their contents, by number; those that were published after a batch."""
        found = self._sql.stream(
            f"SELECT {_COLUMNS}, v.content FROM documents d"
            " JOIN versions v ON v.document = d.id AND v.version = d.version"
            f" WHERE v.content IS NOT NULL AND d.published > ?{self._seen} ORDER BY d.id",
            after,
            *self._viewer,
        )
        for *record, content in found:
            yield DocumentRecord(*record), zlib.decompress(content)

    def count(self) -> int:
        """How many documents are present."""
        text = f"SELECT count(*) FROM documents d WHERE d.digest <> ?{self._seen}"
        return self._sql.number(text, b"", *self._viewer)


class DocumentWriter(DocumentReader):
    """Documents, and new versions of them."""

    def ids(self, uris: Sequence[str]) -> list[int]:
        """The number of each uri; a uri that was never heard of gets one, without any version yet."""
        return [record.id for record in self._records(uris)]

    def save(
        self, changes: Sequence[tuple[str, bytes | None]], batch: int, xml: Sequence[bytes] = ()
    ) -> list[DocumentRecord]:
        """A new version of each uri, published by this batch; without content it is a retraction.

        `xml` has the XML of each, where some of them have it.

        The caller names each uri once, and leaves out those whose content is what it was.
        """
        xml = xml or [b""] * len(changes)
        olds = self._records([uri for uri, _ in changes])
        saved = [
            DocumentRecord(old.id, old.uri, old.version + 1, batch, b"" if content is None else digest(content + own))
            for old, (_, content), own in zip(olds, changes, xml, strict=True)
        ]
        self._sql.update(
            schema.documents,
            ("version", "published", "digest"),
            [(r.version, r.published, r.digest, r.id) for r in saved],
        )
        self._sql.insert(
            schema.versions,
            [
                (record.id, record.version, batch, _compressed(content), _compressed(own or None))
                for record, (_, content), own in zip(saved, changes, xml, strict=True)
            ],
        )
        return saved

    def _records(self, uris: Sequence[str]) -> list[DocumentRecord]:
        """The record of each uri, made when it is missing."""
        known = {record.uri: record for record in self.current(uris) if record is not None}
        new = [uri for uri in dict.fromkeys(uris) if uri not in known]
        if new:
            made = [
                DocumentRecord(number, uri, 0, 0, b"")
                for number, uri in zip(self._sql.take("documents", len(new)), new, strict=True)
            ]
            self._sql.insert(schema.documents, [(r.id, r.uri, r.version, r.published, r.digest) for r in made])
            known.update((record.uri, record) for record in made)
        return [known[uri] for uri in uris]


def _compressed(content: bytes | None) -> bytes | None:
    """Most documents are small, and clearing a window of the usual size would take longer than compressing them."""
    if content is None:
        return None
    window, memory = (13, 6) if len(content) <= _SMALL else (15, 8)
    press = zlib.compressobj(_QUICK, zlib.DEFLATED, window, memory)
    return press.compress(content) + press.flush()
