"""The finder: from seeds to the rows that use them, for any queries that are seeded.

What a share of the seeds takes is bounded: gathering may take too many triples, or the index may find too many rows in
what was gathered. A finder that `halves` tries the halves of the share then, and only what one seed takes alone is too
much for a query. So a query may have millions of rows, as long as no triple leads to a million by itself. One that does
not fails the queries at once: a batch shall not take many times what its limit allows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from triplewire.algebra.pattern import Pattern
from triplewire.errors import MatchLimitExceeded, SubscriptionError
from triplewire.matching.incremental import HIGH, MOST_TRIPLES, Question, Seed, Shape, Triple, gather, solve
from triplewire.matching.incremental.fans import Fan
from triplewire.matching.incremental.lookups import Lookups
from triplewire.matching.pages import Numbered, NumberedPage, Terms, page_of

Key = tuple[int, Terms]
"""A row of a query: its terms in the order of the query's answer, 0 where an optional column has no value."""

Derivation = tuple[Triple, ...]
Rows = dict[Key, Derivation]
"""Rows, each with the triples that make it."""

Reason = tuple[Terms, Derivation]
"""A row and the triples that make it, whichever queries it is of."""


class SpelledGraph(Lookups, Protocol):
    """One state of the triples, with the texts of their terms."""

    def spelled(self, numbers: Sequence[int]) -> list[str]:
        """The texts of terms that are there."""


class PageIndex(Protocol):
    """What finds rows in a page; an `Index` is one."""

    def find_in(self, page: NumberedPage) -> tuple[list[Numbered], Mapping[str, SubscriptionError]]:
        """The findings, and what failed."""


class SeededQueries:
    """Queries that rows are found of. An *entry* is what their index knows: here a query, in a plan perhaps a branch.

    These are not seeded anywhere, and only pages are asked of them; a provider says where its own are.
    """

    def __init__(self, index: PageIndex, shapes: Mapping[int, Shape] | None = None) -> None:
        """`shapes` has those of their conjunctions, by number."""
        self.index, self.shapes = index, shapes or {}

    @property
    def is_deep(self) -> bool:
        """Whether a partial match may be put off wherever it is; else only where its seed is put off as a whole."""
        return True

    def users(self, atoms: Sequence[int], most: int) -> list[list[tuple[int, ...]] | None]:
        """The constants of the conjunctions that use each atom; None if there are more than `most`."""
        return [[] for _ in atoms]

    def uses(self, atom: int) -> Sequence[int]:
        """The entries that are seeded at an atom."""
        return ()

    def query_of(self, entry: int) -> int:
        """The query of an entry."""
        return entry

    def rows(self, found: Iterable[Numbered], seeds: Iterable[Seed], only: Collection[int] | None) -> Rows:
        """What was found around seeds, by query; with `only`, of these entries."""
        rows: Rows = {}
        for id, row, derivation in found:
            query = int(id)
            if only is None or query in only:
                rows.setdefault((query, row), derivation)
        return rows


class RowFinder:
    """Finds rows in one state of the triples; `popular`: more triples than this are put off, if it is said."""

    def __init__(
        self,
        queries: SeededQueries,
        graph: SpelledGraph,
        *,
        high: int = HIGH,
        most_triples: int = MOST_TRIPLES,
        popular: int | None = None,
        halves: bool = True,
        number: Callable[[str], int] | None = None,
        errors: dict[int, SubscriptionError] | None = None,
    ) -> None:
        """`number` gives the numbers of constants, if not the graph; `high` and `most_triples` bound gathering."""
        self.errors = {} if errors is None else errors
        """The queries that went over a limit: their rows are not all of them. The others were served."""
        self.fans: list[Fan] = []
        """What was put off: rows that have a triple of these are found around those."""
        self.popular = popular
        self._queries, self._graph, self._high, self._most, self._halves = queries, graph, high, most_triples, halves
        self._number = number or self._looked_up
        self._failed: set[int] = set()
        self._numbers: dict[str, int] = {}

    def around(self, seeds: Sequence[Seed], only: Collection[int] | None = None) -> Iterator[Rows]:
        """The rows that use a seed, and perhaps others; some may come twice. With `only`, those of these entries."""
        if self._failed:
            seeds = [seed for seed in seeds if not self._failed.issuperset(self._concerned([seed], only))]
        if not seeds:
            return
        gathered = gather(
            seeds,
            self._queries.shapes,
            self._graph,
            self._queries.users,
            high=self._high,
            most_triples=self._most,
            popular=self.popular,
            deep=self._queries.is_deep,
        )
        self.fans += gathered.fans
        found, errors = self._queries.index.find_in(self.page(gathered.triples))
        served: Sequence[Seed] = seeds
        if gathered.refused or gathered.put_off:
            served = [seed for seed in seeds if seed.shape not in gathered.refused and seed[:3] not in gathered.put_off]
        yield self._queries.rows(found, served, only)
        for shape, reason in gathered.refused.items():
            alike = [seed for seed in seeds if seed.shape == shape]
            yield from self._again(alike, self._concerned(alike, only), reason)
        for entry in sorted(map(int, errors)):
            own = [seed for seed in served if entry in self._concerned([seed], only)] if self._halves else served
            if own and entry not in self._failed:
                yield from self._again(own, {entry}, errors[str(entry)].reason)

    def _again(self, seeds: Sequence[Seed], only: set[int], reason: str) -> Iterator[Rows]:
        """In halves, for those to whom the whole was too much."""
        if len(seeds) == 1 or not self._halves:
            if self._halves:
                self._failed |= only
            for entry in only:
                self._fail(self._queries.query_of(entry), reason)
            return
        half = len(seeds) // 2
        for some in (seeds[:half], seeds[half:]):
            yield from self.around(some, only)

    def _concerned(self, seeds: Sequence[Seed], only: Collection[int] | None) -> set[int]:
        uses = {entry for atom in {seed.atom for seed in seeds} for entry in self._queries.uses(atom)}
        return uses if only is None else uses.intersection(only)

    def having(self, questions: Sequence[Question], owners: Sequence[int]) -> Rows:
        """The rows that answer questions, and perhaps others; each question is one of a query."""
        gathered = solve(questions, self._graph, most_triples=self._most)
        for place, reason in gathered.refused.items():
            self._fail(owners[place], reason)
        return self.rows_in(gathered.triples, set(owners))

    def rows_in(self, triples: Collection[Triple], only: Collection[int] | None = None) -> Rows:
        """What the index finds in triples."""
        found, errors = self._queries.index.find_in(self.page(triples))
        for entry, error in errors.items():
            self._fail(self._queries.query_of(int(entry)), error.reason)
        return self._queries.rows(found, (), only)

    def page(self, triples: Collection[Triple]) -> NumberedPage:
        """Triples as a document, in which terms are known by their numbers."""
        return page_of(triples, self._graph.spelled, self._number)

    def _fail(self, query: int, reason: str) -> None:
        self.errors.setdefault(query, MatchLimitExceeded(reason, subscription=str(query)))

    def _looked_up(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            (number,) = self._graph.terms([text])
            self._numbers[text] = number
        return number


class RequiredParts:
    """What rows of wide queries have in their required columns: all rows that have the same there are told together.

    A row that lacks an optional column is one only if the column's triples are nowhere, so it cannot be found alone.
    """

    def __init__(self, patterns: Mapping[int, Pattern]) -> None:
        self.columns = {query: _required(pattern) for query, pattern in patterns.items()}
        """By query, the names of the columns that have a value in every row, whichever branch it is of."""
        self._places = {
            query: [pattern.answer.index(name) for name in self.columns[query]] for query, pattern in patterns.items()
        }

    def of(self, key: Key) -> Key:
        """The part of a row."""
        query, terms = key
        return query, tuple([terms[place] for place in self._places[query]])


def _required(pattern: Pattern) -> tuple[str, ...]:
    bound = [branch.variables.union(name for name, _ in branch.bindings) for branch in pattern.branches]
    return tuple(name for name in pattern.answer if all(name in names for names in bound))
