"""What runs in workers to read: documents in; out come the triples that can stand in an answer, and the terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow

from triplewire.documents import Limits
from triplewire.matching import Index
from triplewire.matching.incremental.numbering import Numbering, Numbers
from triplewire.matching.whole.reading import kept_of
from triplewire.model import Document
from triplewire.pipeline.images import PlacedIndex
from triplewire.pipeline.isolation import Died, isolated
from triplewire.pipeline.tally import Bad
from triplewire.pipeline.worker import Given, Reader, given, parts
from triplewire.pipeline.worker import _read as read_one
from triplewire.pipeline.worker import _set_aside as set_aside

READ = (
    "what string, s long, p long, o long, document long, kinds array<int>, number long, text string, "
    "uri string, reason string"
)
"""One schema for three things, told apart by `what`: a statement, with the kinds that its triple is of; a term, with
its number; a bad document, with the reason."""
STATEMENT, TERM, BAD = "statement", "term", "bad"

_MOST_REMEMBERED = 1_000_000
"""How many terms a task remembers to have told; after that it begins anew, and some are told again."""

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


@dataclass(slots=True)
class Outcome:
    """What some documents gave; a plain value, because it may come from another process."""

    kept: list[tuple[str, list[tuple[tuple[str, str, str], list[int]]]]] = field(default_factory=list)
    """By document, its triples with their kinds."""
    bad: list[Bad] = field(default_factory=list)


@dataclass(frozen=True)
class Reading:
    """The function that Spark maps over batches of documents."""

    fitting: PlacedIndex
    numbering: Numbering
    read: Reader
    limits: Limits
    is_careful: bool

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        from pyspark import TaskContext

        index, context = self.fitting.open(), TaskContext.get()
        is_careful = self.is_careful or (context is not None and context.attemptNumber() > 0)
        numbers = Numbers(self.numbering)
        for batch in batches:
            for part in parts(given(batch)):
                for outcome in self._outcomes(index, part, is_careful):
                    yield from _told(outcome, numbers)
                    if len(numbers) > _MOST_REMEMBERED:
                        numbers.clear()

    def _outcomes(self, index: Index, part: list[Given], is_careful: bool) -> Iterator[Outcome]:
        def run(documents: list[Given]) -> Outcome:
            return self._outcome(index, documents)

        if not is_careful:
            yield run(part)
            return
        for documents, outcome in isolated(run, part):
            yield Outcome(bad=set_aside(documents[0], outcome).bad) if isinstance(outcome, Died) else outcome

    def _outcome(self, index: Index, documents: list[Given]) -> Outcome:
        outcome = Outcome()
        readable: list[Document] = []
        for each in documents:
            document = read_one(each, self.read, self.limits)
            if isinstance(document, Bad):
                outcome.bad.append(document)
            else:
                readable.append(document)
        for document, kept in zip(readable, kept_of(readable, index, self.numbering), strict=True):
            outcome.kept.append((document.uri, list(kept.items())))
        return outcome


def _told(outcome: Outcome, numbers: Numbers) -> Iterator[pyarrow.RecordBatch]:
    uris = [(numbers[uri], kept) for uri, kept in outcome.kept]
    statements = [
        (numbers[s], numbers[p], numbers[o], document, kinds) for document, kept in uris for (s, p, o), kinds in kept
    ]
    if statements:
        s, p, o, document, kinds = zip(*statements, strict=True)
        yield _batch(STATEMENT, len(s), s=s, p=p, o=o, document=document, kinds=kinds)
    if numbers.fresh:
        texts, own = zip(*numbers.fresh, strict=True)
        numbers.fresh.clear()
        yield _batch(TERM, len(texts), number=own, text=texts)
    if outcome.bad:
        yield _batch(
            BAD, len(outcome.bad), uri=[bad.document for bad in outcome.bad], reason=[bad.reason for bad in outcome.bad]
        )


def _batch(what: str, rows: int, **columns: object) -> pyarrow.RecordBatch:
    columns["what"] = [what] * rows
    arrays = [
        pyarrow.array(columns[name], kind) if name in columns else pyarrow.nulls(rows, kind)
        for name, kind in _TYPES.items()
    ]
    return pyarrow.RecordBatch.from_arrays(arrays, list(_TYPES))
