"""What runs in Spark's Python workers: documents in, answers out, by the parser and the index of everybody else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import pyarrow

from triplewire.documents import Limits
from triplewire.errors import DocumentError
from triplewire.isolation import Died, isolated
from triplewire.matching import Index
from triplewire.matching.findings import DocumentAnswers
from triplewire.model import Document
from triplewire.pipeline.images import PlacedIndex
from triplewire.pipeline.portions import portions
from triplewire.pipeline.tally import MOST_KEPT, Bad, Tally

if TYPE_CHECKING:
    from pyspark import Accumulator

ANSWERS = "subscription string, row map<string, string>, document string"
"""The schema of answers: a row is from the names of columns to terms in their N-Triples spelling."""
ARROW_ANSWERS = pyarrow.schema(
    {
        "subscription": pyarrow.string(),
        "row": pyarrow.map_(pyarrow.string(), pyarrow.string()),
        "document": pyarrow.string(),
    }
)
"""The same, for files that workers write."""
BAD = "document string, subscription string, reason string"
"""The schema of what was bad: the document, the one subscription that failed on it (null: all of it), and why."""

Reader = Callable[..., Document]
"""Makes a document of bytes, as `triplewire.parse` does."""

_MOST_DOCUMENTS, _MOST_BYTES = 1000, 8 << 20
"""What is matched at once: enough to share the costs of a batch, and little enough for caches."""
_MOST_ROWS = 50_000
"""How many answers go back at once."""

_Told = TypeVar("_Told")

AnswerRow = tuple[str, str, tuple[str, ...], tuple[str | None, ...]]
"""Document, subscription, the names of its columns, and their terms."""


class Given(NamedTuple):
    """A document as it came in; `problem` is what kept it from being read."""

    uri: str | None
    content: bytes | None
    media_type: str | None = None
    problem: str | None = None

    def weigh(self) -> int:
        """How many bytes it has."""
        return len(self.content or b"")


class WorkerOutcome(NamedTuple):
    """What some documents gave; a plain value, because it may come from another process."""

    rows: list[AnswerRow]
    bad: list[Bad]
    tally: Tally


@dataclass(frozen=True)
class Work:
    """The function that Spark maps over batches of documents."""

    image: PlacedIndex
    read: Reader
    limits: Limits
    wanted: Literal["answers", "bad"]
    tally: Accumulator[Tally] | None
    is_careful: bool
    """Whether the first attempt is in processes of its own already: where Spark makes no second one."""

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        run = partial(matched, self.image.open(), read=self.read, limits=self.limits)
        for documents, told in in_parts(batches, run, is_careful=self.is_careful):
            outcome = set_aside(documents[0], told) if isinstance(told, Died) else told
            if self.tally is not None:
                self.tally.add(outcome.tally)
            yield from answers_of(outcome) if self.wanted == "answers" else [bad_of(outcome)]


def in_parts(
    batches: Iterable[pyarrow.RecordBatch], run: Callable[[list[Given]], _Told], *, is_careful: bool
) -> Iterator[tuple[list[Given], _Told | Died]]:
    """What the documents give, part by part. On a second attempt, each part in a process that may die of it."""
    is_careful = is_careful or is_second_attempt()
    for batch in batches:
        for part in portions(given(batch), Given.weigh, most=_MOST_DOCUMENTS, most_weight=_MOST_BYTES):
            yield from isolated(run, part) if is_careful else [(part, run(part))]


def is_second_attempt() -> bool:
    """True if the task that runs here was tried before."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return context is not None and context.attemptNumber() > 0


def given(batch: pyarrow.RecordBatch) -> list[Given]:
    """The documents of a batch of records."""
    names = batch.schema.names
    columns = [batch.column(name).to_pylist() if name in names else [None] * len(batch) for name in Given._fields]
    return [Given(*values) for values in zip(*columns, strict=True)]


def matched(index: Index, documents: list[Given], read: Reader, limits: Limits) -> WorkerOutcome:
    """Parse and match; whatever is wrong with a document is told of it alone."""
    rows: list[AnswerRow] = []
    bad: list[Bad] = []
    matches = 0
    started = perf_counter()
    readable: list[Document] = []
    for each in documents:
        document = read_one(each, read, limits)
        if isinstance(document, Bad):
            bad.append(document)
        else:
            readable += document.parts
    between = perf_counter()
    for document, answers in zip(readable, _answered(index, readable), strict=True):
        if isinstance(answers, Bad):
            bad.append(answers)
            continue
        uri = document.uri
        rows += [(uri, *row) for row in answers.rows]
        matches += len({row[0] for row in answers.rows})
        bad += [Bad(uri, id, error.reason) for id, error in answers.errors.items()]
    counts = (len(documents), matches, len(rows), len(bad))
    return WorkerOutcome(rows, bad, Tally(*counts, tuple(bad[:MOST_KEPT]), between - started, perf_counter() - between))


def read_one(each: Given, read: Reader, limits: Limits) -> Document | Bad:
    """The document, or what is wrong with it."""
    uri, content, media_type, problem = each
    if uri is None:
        return Bad("", None, "it has no uri")
    if problem is not None or content is None:
        return Bad(uri, None, problem or "it has no content")
    try:
        return read(content, uri=uri, media_type=media_type, limits=limits)
    except DocumentError as error:
        return Bad(uri, None, str(error).removeprefix(uri).lstrip(": "))
    except MemoryError:
        raise  # what other documents took may be to blame: tried again, alone
    except Exception as error:
        return Bad(uri, None, _unexpected(error))


def _answered(index: Index, documents: list[Document]) -> Iterator[DocumentAnswers | Bad]:
    """The answers of each document; together, or one by one if that does not go well."""
    with suppress(Exception):  # which is told below, of the document that it belongs to
        yield from index.answer(documents)
        return
    for document in documents:
        try:
            yield from index.answer([document])
        except MemoryError:
            raise
        except Exception as error:
            yield Bad(document.uri, None, _unexpected(error))


def _unexpected(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def set_aside(document: Given, died: Died) -> WorkerOutcome:
    """What a document gives that kills the worker that reads it."""
    bad = Bad(document.uri or "", None, f"it was set aside: the worker {died}")
    return WorkerOutcome([], [bad], Tally(documents=1, bad=1, kept=(bad,)))


def answers_of(outcome: WorkerOutcome) -> Iterator[pyarrow.RecordBatch]:
    """The answers, as batches of records."""
    for first in range(0, len(outcome.rows), _MOST_ROWS):
        yield _answers(outcome.rows[first : first + _MOST_ROWS])


def _answers(rows: list[AnswerRow]) -> pyarrow.RecordBatch:
    keys: list[str] = []
    terms: list[str] = []
    offsets = [0]
    for _, _, columns, row in rows:
        if None in row:
            present = [(name, term) for name, term in zip(columns, row, strict=True) if term is not None]
            keys += [name for name, _ in present]
            terms += [term for _, term in present]
        else:
            keys += columns
            terms += row  # type: ignore[arg-type]  # none of them is None
        offsets.append(len(keys))
    text = pyarrow.string()
    maps = pyarrow.MapArray.from_arrays(
        pyarrow.array(offsets, pyarrow.int32()), pyarrow.array(keys, text), pyarrow.array(terms, text)
    )
    documents, subscriptions = (pyarrow.array([row[i] for row in rows], text) for i in (0, 1))
    return pyarrow.RecordBatch.from_arrays([subscriptions, maps, documents], schema=ARROW_ANSWERS)


def batch_with(
    types: Mapping[str, pyarrow.DataType], rows: int, columns: Mapping[str, Sequence[object]]
) -> pyarrow.RecordBatch:
    """So many rows of a table of which these columns have values; nothing stands in the others."""
    arrays = [
        pyarrow.array(columns[name], kind) if name in columns else pyarrow.nulls(rows, kind)
        for name, kind in types.items()
    ]
    return pyarrow.RecordBatch.from_arrays(arrays, list(types))


def bad_of(outcome: WorkerOutcome) -> pyarrow.RecordBatch:
    """What was bad, as a batch of records."""
    columns: Any = zip(*outcome.bad, strict=True) if outcome.bad else ((), (), ())
    return pyarrow.RecordBatch.from_arrays(
        [pyarrow.array(column, pyarrow.string()) for column in columns], list(Bad._fields)
    )
