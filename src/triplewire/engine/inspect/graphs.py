"""Graphs that are looked up: the definitions of the algebra, over a store instead of a set of triples in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from pyoxigraph import Triple, Variable

from triplewire.algebra.evaluate import Graph
from triplewire.algebra.pattern import Node
from triplewire.engine.lookups import StoreLookups
from triplewire.model import Row, Term, parse_term, parse_triple
from triplewire.store import DocumentRecord, Reader, triples_of
from triplewire.store import Triple as Numbers

_MOST_COUNTED = 1 << 40


def terms_of(reader: Reader, numbers: Iterable[int]) -> dict[int, Term]:
    """The terms of numbers; 0 is none."""
    wanted = list({number for number in numbers if number})
    return {n: parse_term(text) for n, text in zip(wanted, reader.terms.texts(wanted), strict=True)}


def numbers_of(reader: Reader, texts: Iterable[str]) -> dict[str, int]:
    """The numbers of terms by their texts; 0 for one that is in no triple."""
    wanted = list(dict.fromkeys(texts))
    return dict(zip(wanted, reader.terms.find(wanted), strict=True))


def row_of(columns: Iterable[str], numbers: Iterable[int], terms: Mapping[int, Term]) -> Row:
    """A row by the names of its columns; one without a value is left out."""
    return Row({name: terms[number] for name, number in zip(columns, numbers, strict=True) if number})


def spelled_triples(reader: Reader, triples: Sequence[Numbers]) -> list[Triple]:
    """Triples as people read them, in the order of the question."""
    terms = terms_of(reader, (number for triple in triples for number in triple))
    return [Triple(terms[s], terms[p], terms[o]) for s, p, o in triples]  # type: ignore[arg-type]  # places are kept


def document_graphs(reader: Reader, records: Sequence[DocumentRecord]) -> Iterator[tuple[DocumentRecord, Graph]]:
    """What documents state now, each alone, with the hub's names for blank nodes."""
    contents = reader.documents.contents([(record.id, record.version) for record in records])
    for record, content in zip(records, contents, strict=True):
        yield record, Graph(parse_triple(*spelled) for spelled in triples_of(record.id, content or b""))


class StoreGraph(Graph):
    """The current metadata, or what was published after a batch; `triples` are those that were looked up so far.

    A subject is looked up with all that is said of it: who explains a failure wants to see what is there instead.
    """

    def __init__(self, reader: Reader, after: int = 0) -> None:
        self._reader, self._lookups = reader, StoreLookups(reader, after)
        self._numbers: dict[str, int] = {}
        self._known: dict[Numbers, Triple] = {}

    @property
    def triples(self) -> list[Triple]:  # type: ignore[override]  # it grows by looking up
        """The triples that were looked up."""
        return list(self._known.values())

    def candidates(self, pattern: tuple[Node, Node, Node]) -> Collection[Triple]:
        """Triples that hold every one with the pattern's constants; they are read when the caller goes through them."""
        count, read = self._asked(pattern)
        return _Awaited(count, lambda: self._spelled(read()))

    def numbers(self, pattern: tuple[Node, Node, Node]) -> list[Numbers]:
        """The same, as the store numbers them."""
        return self._asked(pattern)[1]()

    def _asked(self, pattern: tuple[Node, Node, Node]) -> tuple[int, Callable[[], list[Numbers]]]:
        """How many triples there are at most, and the way to them."""
        lookups = self._lookups
        constants = [None if isinstance(node, Variable) else self._number(node) for node in pattern]
        if 0 in constants:
            return 0, list
        subject, predicate, value = constants
        if subject is not None:
            about = lookups.forward([(subject, 0)])[0]
            return len(about), lambda: about
        if value is not None:
            key = (predicate or 0, value)
            return lookups.degrees([key], _MOST_COUNTED)[0], lambda: lookups.backward([key])[0]
        return lookups.degrees([(predicate or 0, 0)], _MOST_COUNTED)[0], lambda: lookups.scan([predicate or 0])[0]

    def _number(self, node: object) -> int:
        text = str(node)
        if text not in self._numbers:
            (self._numbers[text],) = self._lookups.terms([text])
        return self._numbers[text]

    def _spelled(self, triples: Sequence[Numbers]) -> list[Triple]:
        fresh = [triple for triple in triples if triple not in self._known]
        if fresh:
            self._known.update(zip(fresh, spelled_triples(self._reader, fresh), strict=True))
        return [self._known[triple] for triple in triples]


class _Awaited(Collection[Triple]):
    """So many triples at most, which are not read before they are wanted."""

    def __init__(self, count: int, read: Callable[[], Sequence[Triple]]) -> None:
        self._count, self._read = count, read

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Triple]:
        return iter(self._read())

    def __contains__(self, triple: object) -> bool:
        return triple in self._read()
