"""Neighbourhoods: gathered triples as a document, and what the graph's queries find in it.

Every row found in a part of the graph is a row of the graph, because patterns have no negation. Only optional parts
are not like that: a row may lack a column whose triple was not gathered. Queries with optional parts are *wide*, and
what is found of them is only a hint; `Rows` of these are made by asking for all that has the same required columns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice

from triplewire.engine.lookups import News, StoreLookups
from triplewire.engine.standing import Query, Standing
from triplewire.engine.views import ALL, View, Views
from triplewire.errors import MatchLimitExceeded, SubscriptionError
from triplewire.matching import Index
from triplewire.matching.incremental import Question, Seed, Triple, gather, solve
from triplewire.matching.incremental.fans import Fan, Piece, triples_of
from triplewire.matching.pages import Page, page_of
from triplewire.store import Reader

Terms = tuple[int, ...]
"""A row: the numbers of its terms in the order of its query's answer, 0 where an optional column has no value."""

Key = tuple[int, Terms]
"""A row of a query."""

Derivation = tuple[Triple, ...]
Rows = dict[Key, Derivation]
"""Rows, each with the triples that make it."""

Reason = tuple[Terms, Derivation]
"""A row and the triples that make it, whichever queries it is of."""


_SEEDS = 5_000
"""How many triples of popular nodes are gathered around at once: so many more may take as much as the limit allows."""


class Neighbourhoods:
    """Finds rows in one state of the store."""

    def __init__(self, reader: Reader, standing: Standing, errors: dict[int, SubscriptionError]) -> None:
        self._reader, self._standing = reader, standing
        self._lookups: dict[View, StoreLookups] = {}
        self._views: Views | None = None
        self.errors = errors
        """The queries that failed, by number: the others were served."""
        self.popular: int | None = None
        """More triples than this are put off by `around`, if it is said."""
        self.fans: list[Fan] = []
        """What was put off: rows around these are still to be found."""

    def learn(self, news: News) -> None:
        """Let what is new in this state be known before anything is looked up."""
        assert not self._lookups
        self._lookups[ALL] = StoreLookups(self._reader, news=news)

    def aside(self) -> Neighbourhoods:
        """Another one that knows what this one has looked up, and fails nobody."""
        other = Neighbourhoods(self._reader, self._standing, {})
        other._lookups = self._lookups
        return other

    @property
    def views(self) -> Views:
        """What each query sees of this state."""
        if self._views is None:
            self._views = Views(self._reader, self._standing)
        return self._views

    def around(self, seeds: Sequence[Seed]) -> Rows:
        """The rows that use a seed, and perhaps others; hints, for wide queries."""
        if not seeds:
            return {}
        most = self._standing.most_triples
        gathered = gather(
            seeds, self._standing.shapes, self._lookup(ALL), self._users, most_triples=most, popular=self.popular
        )
        self.fans += gathered.fans
        self._refuse_shapes(gathered.refused)
        return self.rows_in(gathered.triples, self._standing.graph)

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
        """Those of the rows that are there; with `columns`, the rows of wide queries that have these values there.

        Each query sees only what was published since it began, and what its viewer may read.
        """
        asked: defaultdict[View, list[Key]] = defaultdict(list)
        for key in keys:
            asked[self.views.of(key[0])].append(key)
        found: Rows = {}
        for view, alike in asked.items():
            questions, owners = self._questions(alike, columns)
            gathered = solve(questions, self._lookup(view), most_triples=self._standing.most_triples)
            for place, reason in gathered.refused.items():
                self._fail(owners[place], reason)
            found |= self.rows_in(gathered.triples, self._standing.graph, {query for query, _ in alike})
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

    def rows_in(self, triples: Iterable[Triple], index: Index, only: set[int] | None = None) -> Rows:
        """What an index finds in triples."""
        found, errors = index.find_in(self.page(set(triples)))
        for id, error in errors.items():
            self._fail(int(id), error.reason)
        rows: Rows = {}
        for id, row, derivation in found:
            query = int(id)
            if only is None or query in only:
                rows.setdefault((query, row), derivation)
        return rows

    def page(self, triples: Collection[Triple]) -> Page:
        """Triples as a document, in which terms are known by their numbers."""
        ids = list({number for triple in triples for number in triple})
        texts = dict(zip(ids, self._reader.terms.texts(ids), strict=True))
        return page_of(triples, texts, lambda text: self._standing.number(self._reader, text))

    def _lookup(self, view: View) -> StoreLookups:
        if view not in self._lookups:
            self._lookups[view] = StoreLookups(self._reader.seen_by(view.viewer), view.start)
        return self._lookups[view]

    def _users(self, atoms: Sequence[int], most: int) -> list[list[tuple[int, ...]] | None]:
        return self._standing.users(self._reader, atoms, most)

    def _refuse_shapes(self, refused: Mapping[int, str]) -> None:
        if not refused:
            return
        for atom in self._reader.atoms.atoms():
            if atom.shape in refused:
                for query, _ in self._reader.atoms.users(atom.id, atom.users):
                    self._fail(query, refused[atom.shape])

    def _fail(self, query: int, reason: str) -> None:
        self.errors.setdefault(query, MatchLimitExceeded(reason, subscription=str(query)))


def required_columns(query: Query) -> tuple[str, ...]:
    """The answer's columns that have a value in every row, whichever branch it is of."""
    branches = query.pattern.branches
    return tuple(
        name
        for name in query.pattern.answer
        if all(name in branch.variables or name in dict(branch.bindings) for branch in branches)
    )
