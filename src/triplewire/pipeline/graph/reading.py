"""What runs in workers to read: documents in; out come the triples that can stand in an answer, and the terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING

import pyarrow

from triplewire.documents import Limits
from triplewire.isolation import Died
from triplewire.matching import Index
from triplewire.matching.finder.spelling import kept_of
from triplewire.matching.incremental.flat import Numbering, Numbers
from triplewire.model import Document
from triplewire.pipeline.images import PlacedIndex
from triplewire.pipeline.tally import MOST_KEPT, Bad, Tally
from triplewire.pipeline.worker import Given, Reader, batch_with, in_parts, read_one, set_aside

if TYPE_CHECKING:
    from pyspark import Accumulator

READ = (
    "what string, s long, p long, o long, document long, kinds array<int>, number long, text string, "
    "uri string, reason string"
)
"""One schema for four things, told apart by `what`: a document, with the number of its content; a statement, with the
kinds that its triple is of; a term, with its number; a bad document, with the reason."""
DOCUMENT, STATEMENT, TERM, BAD = "document", "statement", "term", "bad"

_Told = tuple[Tally, list[pyarrow.RecordBatch]]
_TYPES = {
    "what": pyarrow.string(),
    "s": pyarrow.int64(),
    "p": pyarrow.int64(),
    "o": pyarrow.int64(),
    "document": pyarrow.int64(),
    "kinds": pyarrow.list_(pyarrow.int32()),
    "number": pyarrow.int64(),
    "text": pyarrow.string(),
    "uri": pyarrow.string(),
    "reason": pyarrow.string(),
}


@dataclass(frozen=True)
class ReadingTask:
    """The function that Spark maps over batches of documents."""

    fitting: PlacedIndex
    numbering: Numbering
    read: Reader
    limits: Limits
    tally: Accumulator[Tally]
    is_careful: bool
    """Whether the first attempt is in processes of its own already."""

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        run = partial(self._read, self.fitting.open())
        for documents, outcome in in_parts(batches, run, is_careful=self.is_careful):
            if isinstance(outcome, Died):
                lost = set_aside(documents[0], outcome)
                outcome = lost.tally, [_bad(lost.bad)]
            tally, told = outcome
            self.tally.add(tally)
            yield from told

    def _read(self, index: Index, documents: list[Given]) -> _Told:
        """Statements, terms and what was bad. A term is told once for each part: the image has it once."""
        readable: list[Document] = []
        bad: list[Bad] = []
        for each in documents:
            document = read_one(each, self.read, self.limits)
            if isinstance(document, Bad):
                bad.append(document)
            else:
                readable.append(document)
        numbers = Numbers(self.numbering)
        statements = [
            (numbers[s], numbers[p], numbers[o], numbers[document.uri], kinds)
            for document, kept in zip(readable, kept_of(readable, index, self.numbering), strict=True)
            for (s, p, o), kinds in kept.items()
        ]
        told = [_bad(bad), _read_ones(readable)]
        if statements:
            columns = dict(zip(("s", "p", "o", "document", "kinds"), zip(*statements, strict=True), strict=True))
            told.append(_batch(STATEMENT, len(statements), **columns))
            told.append(_batch(TERM, len(numbers), number=list(numbers.values()), text=list(numbers)))
        return Tally(documents=len(documents), bad=len(bad), kept=tuple(bad[:MOST_KEPT])), told


def _read_ones(documents: list[Document]) -> pyarrow.RecordBatch:
    """Which documents there were; those of one uri with one content have equal numbers."""
    digests = [blake2b(document.ntriples, digest_size=8).digest() for document in documents]
    numbers = [int.from_bytes(digest, "little", signed=True) for digest in digests]
    return _batch(DOCUMENT, len(documents), uri=[document.uri for document in documents], number=numbers)


def _bad(bad: list[Bad]) -> pyarrow.RecordBatch:
    return _batch(BAD, len(bad), uri=[one.document for one in bad], reason=[one.reason for one in bad])


def _batch(what: str, rows: int, **columns: Sequence[object]) -> pyarrow.RecordBatch:
    return batch_with(_TYPES, rows, {"what": [what] * rows, **columns})
