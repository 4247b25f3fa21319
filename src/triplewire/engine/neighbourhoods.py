"""Neighbourhoods: the rows of the standing queries, found in one state of the store.

Every row found in a part of the graph is a row of the graph, because patterns have no negation. Only optional parts
are not like that: a row may lack a column whose triple was not gathered. Queries with optional parts are *wide*, and
what is found of them is only a hint: `widened` asks for all that has the same required columns.

A document counts for a query if it was published after the query's start, and if the query's viewer may read it. A
triple counts if one of the documents that state it does. As long as no document has an access list, viewers make no
difference, and cost nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from triplewire.engine.lookups import News, StoreLookups
from triplewire.engine.standing import Standing
from triplewire.errors import SubscriptionError
from triplewire.matching.finder.finder import Key, PageIndex, RequiredParts, RowFinder, Rows, SeededQueries
from triplewire.matching.incremental import Question, Seed, Triple
from triplewire.matching.incremental.fans import Fan, Piece, triples_of
from triplewire.matching.pages import NumberedPage
from triplewire.model import Access
from triplewire.store import Reader

_SEEDS = 5_000
"""How many triples of popular nodes are gathered around at once: so many more may take as much as the limit allows."""
_ALL_USERS = 1 << 40


class QueryView(NamedTuple):
    """The documents that queries see: those published after a batch, as far as a viewer may read them."""

    start: int = 0
    viewer: str | None = None


ALL = QueryView()


class Views:
    """The views of the standing queries, in one state of the store."""

    def __init__(self, reader: Reader, standing: Standing) -> None:
        self._standing, self._access = standing, reader.access
        self.has_lists = reader.access.has_lists

    def of(self, query: int) -> QueryView:
        """From which batch on a query sees documents, and as which viewer."""
        return QueryView(self._standing.start_of(query), self.viewer_of(query))

    def viewer_of(self, query: int) -> str | None:
        """One who sees the documents that a query sees, whenever it started; None sees all of them."""
        return self._access.sight_of(self._standing.viewer_of(query)) if self.has_lists else None

    def is_all(self, query: int) -> bool:
        """Whether a query sees everything."""
        return not self._standing.start_of(query) and self.viewer_of(query) is None

    @property
    def is_one(self) -> bool:
        """Whether all of the graph's queries see everything."""
        return not self._standing.last_start and not self.has_lists


def let_in(standing: Standing, rows: Mapping[int, Rows], lists: Mapping[int, Access | None]) -> dict[int, Rows]:
    """The rows of documents that their queries' viewers may read, by the lists of these; one not named has none."""
    found = dict(rows)
    for id in found.keys() & lists.keys():
        if (listed := lists[id]) is not None:
            found[id] = {key: why for key, why in rows[id].items() if listed.may_read(standing.viewer_of(key[0]))}
    return found


def by_viewer(views: Views, queries: Iterable[int]) -> dict[str | None, set[int]]:
    """The queries of each viewer."""
    found: dict[str | None, set[int]] = {}
    for query in queries:
        found.setdefault(views.viewer_of(query), set()).add(query)
    return found


class StandingQueries(SeededQueries):
    """The standing queries of the graph, which are seeded at each of their atoms."""

    def __init__(self, reader: Reader, standing: Standing, index: PageIndex) -> None:
        super().__init__(index, standing.shapes)
        self._reader, self._standing = reader, standing

    def users(self, atoms: Sequence[int], most: int) -> list[list[tuple[int, ...]] | None]:
        return self._standing.users(self._reader, atoms, most)

    def uses(self, atom: int) -> list[int]:
        return [query for query, _ in self._reader.atoms.users(atom, _ALL_USERS)]


class Neighbourhoods:
    """Finds rows in one state of the store."""

    def __init__(
        self,
        reader: Reader,
        standing: Standing,
        errors: dict[int, SubscriptionError],
        index: PageIndex | None = None,
    ) -> None:
        """`index` finds rows in pages, in place of that of the standing queries."""
        self._reader, self._standing = reader, standing
        self._queries = StandingQueries(reader, standing, standing.graph if index is None else index)
        self._lookups: dict[QueryView, StoreLookups] = {}
        self._finders: dict[QueryView, RowFinder] = {}
        self._views: Views | None = None
        self.errors = errors
        """The queries that failed, by number: the others were served."""
        self.popular: int | None = None
        """More triples than this are put off by `around`, if it is said."""

    def learn(self, news: News) -> None:
        """Let what is new in this state be known before anything is looked up."""
        assert not self._lookups
        self._lookups[ALL] = StoreLookups(self._reader, news=news)

    def aside(self) -> Neighbourhoods:
        """Another one that knows what this one has looked up, and fails no query."""
        other = Neighbourhoods(self._reader, self._standing, {})
        other._lookups = self._lookups
        return other

    @property
    def views(self) -> Views:
        """What each query sees of this state."""
        if self._views is None:
            self._views = Views(self._reader, self._standing)
        return self._views

    @property
    def fans(self) -> list[Fan]:
        """What was put off by `around`: rows around these are still to be found."""
        return self._finder(ALL).fans

    def around(self, seeds: Sequence[Seed]) -> Rows:
        """The rows that use a seed, and perhaps others; hints, for wide queries."""
        finder = self._finder(ALL)
        finder.popular = self.popular
        rows: Rows = {}
        for found in finder.around(seeds):
            rows = rows | found if rows else found
        return rows

    def around_pieces(self, pieces: Iterable[Piece]) -> Rows:
        """The rows that use triples of what was put off, some triples at a time."""
        lookups = self._lookup(ALL)
        seeds = (
            Seed(*piece.fan.place, triple, atom)
            for piece in pieces
            for triple in triples_of(piece, lookups)
            for atom in piece.fan.atoms
        )
        rows: Rows = {}
        while some := list(islice(seeds, _SEEDS)):
            rows |= self.around(some)
        return rows

    def having(self, keys: Iterable[Key], columns: Mapping[int, Sequence[str]] | None = None) -> Rows:
        """Those of the rows that are there; with `columns`, the rows of queries that have these values there.

        Each query sees only what was published since it began, and what its viewer may read.
        """
        asked: defaultdict[QueryView, list[Key]] = defaultdict(list)
        for key in keys:
            asked[self.views.of(key[0])].append(key)
        found: Rows = {}
        for view, alike in asked.items():
            found |= self._finder(view).having(*self._questions(alike, columns))
        return found

    def _questions(
        self, keys: Sequence[Key], columns: Mapping[int, Sequence[str]] | None
    ) -> tuple[list[Question], list[int]]:
        queries = self._standing.queries(self._reader, (query for query, _ in keys))
        questions: list[Question] = []
        owners: list[int] = []
        for query, terms in keys:
            pattern = queries[query].pattern
            names = pattern.answer if columns is None else columns[query]
            bindings = {name: term for name, term in zip(names, terms, strict=True) if term}
            for branch in pattern.branches:
                questions.append((branch, bindings))
                owners.append(query)
        return questions, owners

    def parts(self, queries: Iterable[int]) -> RequiredParts:
        """What rows of wide queries have in common."""
        found = self._standing.queries(self._reader, queries)
        return RequiredParts({id: query.pattern for id, query in found.items()})

    def widened(self, hints: Collection[Key], parts: RequiredParts | None = None) -> Rows:
        """The rows of wide queries: all that have the required columns of a hint."""
        if not hints:
            return {}
        parts = parts or self.parts(query for query, _ in hints)
        wanted = dict.fromkeys(map(parts.of, hints))
        return {key: why for key, why in self.having(wanted, parts.columns).items() if parts.of(key) in wanted}

    def page(self, triples: Collection[Triple]) -> NumberedPage:
        """Triples as a document, in which terms are known by their numbers."""
        return self._finder(ALL).page(triples)

    def _finder(self, view: QueryView) -> RowFinder:
        if view not in self._finders:
            self._finders[view] = RowFinder(
                self._queries,
                self._lookup(view),
                most_triples=self._standing.most_triples,
                halves=False,
                number=partial(self._standing.number, self._reader),
                errors=self.errors,
            )
        return self._finders[view]

    def _lookup(self, view: QueryView) -> StoreLookups:
        if view not in self._lookups:
            seen = self._reader if view.viewer is None else self._reader.seen_by(view.viewer)
            self._lookups[view] = StoreLookups(seen, view.start)
        return self._lookups[view]
