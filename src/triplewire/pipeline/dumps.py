"""Dumps: files of N-Triples or N-Quads that hold many documents, split by subject or by graph.

Spark reads them as lines, in as many pieces as they are large, and sorts the lines by the document that they belong to;
both go through disk when memory is short. A worker then sees one document's lines after the other and holds no more
than one, so that its memory is bounded by the limit on a document, not by the dump.

By subject: the statements about an IRI, in all the dumps, are the document of that uri. A blank node's own statements
are a document too, `DUMP#label`: it belongs to its file, and following it from document to document would be a join.
To match a resource together with its blank nodes, split by graph, or match with scope graph.

By graph: the statements in a graph are the document of the graph's uri, with all the blank nodes in it; those
in no graph are the document of the dump's own uri.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal

import pyarrow

from triplewire.documents import Limits
from triplewire.model import parse_term
from triplewire.pipeline.compression import SCHEMA, batch_of
from triplewire.pipeline.portions import portions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_IRI = r"<[^<>\s]*>"
_BLANK = r'_:[^\s<>"]*[^\s<>".]'
_STATEMENT = re.compile(
    rf"\s*({_IRI}|{_BLANK})\s*({_IRI})\s*"
    rf'({_IRI}|{_BLANK}|"(?:[^"\\]|\\.)*+"(?:@[\w-]+|\s*\^\^\s*{_IRI})?)\s*({_IRI}|{_BLANK})?\s*\.\s*(?:#.*)?$'
)
_NO_STATEMENT = re.compile(r"\s*(?:#|$)")
_MEDIA_TYPE = "application/n-quads"

_MOST_DOCUMENTS, _MOST_BYTES = 1000, 4 << 20


def split_dumps(lines: DataFrame, by: Literal["subject", "graph"], limits: Limits) -> DataFrame:
    """The documents of lines: `dump`, the uri of the file, and `line`."""
    placed = lines.mapInArrow(Placing(by), "uri string, line string")
    pieces = max(lines.rdd.getNumPartitions(), lines.sparkSession.sparkContext.defaultParallelism)
    together = placed.repartition(pieces, "uri").sortWithinPartitions("uri")
    return together.mapInArrow(Gathering(limits.bytes), SCHEMA)


@dataclass(frozen=True)
class Placing:
    """The function that finds the uri of the document that each line belongs to."""

    by: Literal["subject", "graph"]

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            dumps, lines = batch.column("dump").to_pylist(), batch.column("line").to_pylist()
            pairs = [placed(dump, line, self.by) for dump, line in zip(dumps, lines, strict=True)]
            kept = [pair for pair in pairs if pair is not None]
            arrays = [pyarrow.array([pair[i] for pair in kept], pyarrow.string()) for i in (0, 1)]
            yield pyarrow.RecordBatch.from_arrays(arrays, ["uri", "line"])


def placed(dump: str, line: str, by: Literal["subject", "graph"]) -> tuple[str, str] | None:
    """The uri of a line's document, and the line; None if it states nothing.

    A line that cannot be read goes to a document of such lines, `DUMP#unreadable`, which will be found to be bad.

    >>> placed("file:///a.nq", "<urn:s> <urn:p> <urn:o> <urn:g> . # why", "graph")
    ('urn:g', '<urn:s> <urn:p> <urn:o> <urn:g> . # why')
    """
    statement = _STATEMENT.match(line)
    if statement is None:
        return None if _NO_STATEMENT.match(line) else (f"{dump}#unreadable", line)
    subject, predicate, object, graph = statement.groups()
    if subject.startswith("_:") or object.startswith("_:"):
        # Labels belong to their file, and documents take lines from several: there, each has its file's mark.
        line = f"{_marked(subject, dump)} {predicate} {_marked(object, dump)} ."
    term = subject if by == "subject" else graph
    if term is None:
        return dump, line
    if term.startswith("_:"):
        return f"{dump}#{term[2:]}", line
    return (parse_term(term).value if "\\" in term else term[1:-1]), line


def _marked(term: str, dump: str) -> str:
    return f"{term}-{blake2b(dump.encode(), digest_size=6).hexdigest()}" if term.startswith("_:") else term


@dataclass(frozen=True)
class Gathering:
    """The function that makes documents of lines that are sorted by their documents' uris."""

    limit: int

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        large = f"it is over the limit of {self.limit} bytes; split otherwise"
        documents = (
            (uri, content, _MEDIA_TYPE, large if content is None else None) for uri, content in self._gathered(batches)
        )
        for some in portions(documents, lambda one: len(one[1] or b""), most=_MOST_DOCUMENTS, most_weight=_MOST_BYTES):
            yield batch_of(some)

    def _gathered(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[tuple[str, bytes | None]]:
        """Each document's uri and lines; None instead of more lines than the limit allows."""
        current: str | None = None
        lines: list[str] = []
        size = 0
        for batch in batches:
            for uri, line in zip(batch.column("uri").to_pylist(), batch.column("line").to_pylist(), strict=True):
                if uri != current:
                    if current is not None:
                        yield current, self._content(lines, size)
                    current, lines, size = uri, [], 0
                size += len(line) + 1
                if size <= self.limit:
                    lines.append(line)
        if current is not None:
            yield current, self._content(lines, size)

    def _content(self, lines: list[str], size: int) -> bytes | None:
        return "\n".join(lines).encode() if size <= self.limit else None
