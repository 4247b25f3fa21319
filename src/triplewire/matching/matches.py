"""What a document matched: found at once, told lazily.

Finding a match costs less than making Python objects of it, so rows become dictionaries only when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, overload

import numpy as np

from triplewire.algebra.encoding import decode, decode_triple, loads, slot_name
from triplewire.algebra.evaluate import Graph, optional_rows
from triplewire.algebra.pattern import Optional
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.errors import MatchLimitExceeded, SubscriptionError
from triplewire.matching.image import Image, read_taxonomy
from triplewire.matching.kernel.compiled import Array
from triplewire.matching.layout import EMISSION, M_VARIABLES, MOST_VARIABLES
from triplewire.matching.strings import Strings
from triplewire.model import Document, Term, parse_term

if TYPE_CHECKING:  # a process that matches triples alone need not load lxml
    from triplewire.algebra.xpath.query import PathQuery
    from triplewire.matching.xml.paths import PathMatches

Row = dict[str, Term]

_AT_ONCE = 256
"""Of so many matches the numbers are read together."""


class Setting:
    """What rows are made with: a limit, and the taxonomy of one time.

    The taxonomy is read from the image when Python first needs it: the kernel has its own.
    """

    def __init__(self, max_rows: int, source: Taxonomy | Image) -> None:
        self.max_rows, self._source = max_rows, source

    @property
    def taxonomy(self) -> Taxonomy:
        """What is-a conditions are tested against."""
        if isinstance(self._source, Image):
            self._source = read_taxonomy(self._source)
        return self._source


class Match:
    """One subscription that a document matches: `subscription` is its id, `rows` are its answers, each once."""

    __slots__ = ("_matches", "_rows", "_told", "subscription")

    def __init__(self, subscription: str, matches: Matches, told: list[list[int]]) -> None:
        self.subscription = subscription
        self._matches = matches
        self._told = told
        self._rows: list[Row] | None = None

    @property
    def rows(self) -> list[Row]:
        """The distinct rows, each from variable name to term; MatchLimitExceeded if optional parts make too many."""
        if self._rows is None:
            only = self._matches.plain_row(self._told[0]) if len(self._told) == 1 else None
            self._rows = self._distinct_rows() if only is None else [only]
        return self._rows

    def _distinct_rows(self) -> list[Row]:
        distinct: dict[frozenset[tuple[str, Term]], Row] = {}
        for told in self._told:
            for row in self._matches.rows_of(told):
                distinct.setdefault(frozenset(row.items()), row)
                if len(distinct) > self._matches.max_rows:
                    reason = f"it has more than {self._matches.max_rows:,} rows; narrow it, or raise max_rows"
                    raise MatchLimitExceeded(reason, subscription=self.subscription)
        return list(distinct.values())

    def __repr__(self) -> str:
        return f"Match(subscription={self.subscription!r}, rows={self.rows!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Match):
            return NotImplemented
        return self.subscription == other.subscription and _as_set(self.rows) == _as_set(other.rows)

    def __hash__(self) -> int:
        return hash(self.subscription)


class PathMatch(Match):
    """One XPath subscription that a document matches; its rows are found when they are asked for."""

    __slots__ = ("_query",)

    def __init__(self, subscription: str, matches: Matches, query: PathQuery) -> None:
        super().__init__(subscription, matches, [])
        self._query = query

    @property
    def rows(self) -> list[Row]:
        """A row for each node that the expression selects, or one with its value."""
        if self._rows is None:
            from triplewire.algebra.xpath.evaluate import hits, row_of

            tree, uri = self._matches.tree, self._matches.document.uri
            self._rows = [row_of(self._query, uri, hit) for hit in hits(self._query, tree)]
        return self._rows


def _as_set(rows: list[Row]) -> set[frozenset[tuple[str, Term]]]:
    return {frozenset(row.items()) for row in rows}


class Matches(Sequence[Match]):
    """The matches of one document, in the order in which their subscriptions were first added.

    A sequence like a list. `errors` has the subscriptions that failed on this document: the others were served.
    It stays what it is when the index changes afterwards.
    """

    def __init__(
        self,
        document: Document,
        told: Array,
        out: Array,
        base: int,
        tables: tuple[Strings, Strings, Array],
        setting: Setting,
        errors: Mapping[str, SubscriptionError],
        paths: PathMatches | None = None,
    ) -> None:
        self.document = document
        self.paths = paths
        self._tree: object = None
        self.errors = errors
        self._told, self._out, self._base = told, out, base
        self._tables = tables
        self._setting = setting
        self._list: list[Match] | None = None
        self._columns: dict[int, Columns] = {}
        self._terms: dict[int, Term] = {}
        self._graph: Graph | None = None

    def _matches(self) -> list[Match]:
        if self._list is None:
            grouped: dict[int, list[list[int]]] = {}
            for told in self._told.tolist():
                grouped.setdefault(told[0], []).append(told)
            paths = self.paths.numbers() if self.paths else {}
            numbers = sorted({*grouped, *paths})
            self._list = [
                PathMatch(id, self, paths[number]) if number in paths else Match(id, self, grouped[number])
                for id, number in zip(self._ids(numbers), numbers, strict=True)
            ]
        return self._list

    def _ids(self, numbers: list[int]) -> list[str]:
        return [id.decode() for id in self._tables[0].get_many(np.array(numbers, dtype=np.int64))]

    @property
    def tree(self) -> object:
        """The document's XML as a tree, built once."""
        if self._tree is None:
            from triplewire.algebra.xpath.evaluate import tree_of

            self._tree = tree_of(self.document.xml)
        return self._tree

    def written(self) -> tuple[Array, Array, int]:
        """What the kernel wrote: whom to tell, the matches, and where the document's text began."""
        return self._told, self._out, self._base

    @property
    def max_rows(self) -> int:
        """How many rows one subscription may have."""
        return self._setting.max_rows

    @property
    def subscriptions(self) -> list[str]:
        """The ids of the subscriptions that matched."""
        if self._list is not None:
            return [match.subscription for match in self._list]
        return self._ids(sorted({*self._told[:, 0].tolist(), *(self.paths.numbers() if self.paths else ())}))

    def reached(self, vectors: Mapping[int, int], whole: int) -> int:
        """The bits that subscriptions which matched have in `vectors`, by `Index.number`.

        It looks no further when it has all bits of `whole` (the brokering paper's short-cut, section 5.2).
        """
        found = self.paths.reached(vectors, whole) if self.paths else 0
        numbers = self._told[:, 0]
        for start in range(0, len(numbers), _AT_ONCE):
            if found & whole == whole:
                break
            for number in numbers[start : start + _AT_ONCE].tolist():
                found |= vectors.get(number, 0)
        return found

    def plain_row(self, told: list[int]) -> Row | None:
        """The row of one match for one subscription's columns; None with optional parts, which may make more."""
        _, places, optionals = self._columns_of(told[2])
        return None if optionals else {name: self._value(told, place) for name, place in places}

    def rows_of(self, told: list[int]) -> Iterator[Row]:
        """The rows of one match for one subscription's columns."""
        answer, places, optionals = self._columns_of(told[2])
        row = {name: self._value(told, place) for name, place in places}
        if not optionals:
            yield row
        else:
            yield from self._widened(row, told[1], answer, optionals)

    def _columns_of(self, number: int) -> Columns:
        found = self._columns.get(number)
        if found is None:
            found = self._columns[number] = columns_of(self._tables[1].get(number))
        return found

    def _value(self, told: list[int], place: int | str) -> Term:
        """The term of a column: bound by the match, or a constant of the record, or spelled out."""
        if isinstance(place, str):
            return parse_term(place)
        if place >= 0:
            return self.term(told[1], place)
        _, words, fixed = self._tables
        return parse_term(words.get(int(fixed[told[3] - 1 - place])).decode())

    def _widened(self, row: Row, at: int, answer: Sequence[str], optionals: tuple[Optional, ...]) -> Iterator[Row]:
        """Rows with the columns of optional parts: those are looked up here, because they decide nothing."""
        if self._graph is None:
            self._graph = Graph(self.document.triples)
        inner = row | {slot_name(slot): self.term(at, slot) for slot in range(int(self._out[at + M_VARIABLES]))}
        for wide in optional_rows(optionals, inner, self._graph, self._setting.taxonomy):
            yield {name: wide[name] for name in answer if name in wide}

    def term(self, at: int, variable: int) -> Term:
        """The term that a match bound to one of its variables."""
        place = at + EMISSION + 2 * variable
        start = self._out.item(place) - self._base
        found = self._terms.get(start)
        if found is None:
            end = start + self._out.item(place + 1)
            found = self._terms[start] = parse_term(self.document.ntriples[start:end].decode())
        return found

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> list[Match]: ...
    def __getitem__(self, index: int | slice) -> Match | list[Match]:
        return self._matches()[index]

    def __len__(self) -> int:
        return len(self._matches())

    def __bool__(self) -> bool:
        return len(self._told) > 0 or bool(self.paths)

    def __iter__(self) -> Iterator[Match]:
        return iter(self._matches())

    def __eq__(self, other: object) -> bool:
        return self._matches() == list(other) if isinstance(other, Matches | list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # a sequence that compares by content, as a list

    def __repr__(self) -> str:
        return f"<Matches of {self.document.uri}: {', '.join(self.subscriptions) or 'none'}>"


Columns = tuple[list[str], list[tuple[str, int | str]], tuple[Optional, ...]]
"""The names of a subscription's columns, where each value is, and its optional parts."""


@lru_cache(maxsize=4096)
def columns_of(text: bytes) -> Columns:
    """The columns of a subscription's rows: names, where each value is, and optional parts."""
    answer, places, optionals = loads(text[1:])
    names = [slot_name(i) for i in range(MOST_VARIABLES)] if optionals else []
    parts = tuple(
        Optional(tuple(decode_triple(t, names) for t in triples), tuple(decode(c, names) for c in conditions))
        for triples, conditions in optionals
    )
    return answer, [(name, place) for name, place in places], parts
