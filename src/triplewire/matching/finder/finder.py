"""Finding: from a share of the seeds to the rows that use them.

What a share takes is bounded: where gathering it would take too many triples, or the index finds too many rows in what
was gathered, the share is halved, and only what one seed takes alone is too much for a query. So a query may have
millions of rows, as long as no triple leads to a million by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from triplewire.matching.finder.plan import Plan
from triplewire.matching.incremental import HIGH, MOST_TRIPLES, Seed, Triple, gather
from triplewire.matching.incremental.fans import Fan
from triplewire.matching.incremental.lookups import Lookups
from triplewire.matching.pages import Numbered, Page, page_of

MOST_DOCUMENTS = 100
"""How many documents are told for a row, if that leaves one for each triple: some triples are in every document."""

Rows = dict[tuple[int, tuple[int, ...]], tuple[Triple, ...]]
"""Rows by query and by the numbers of their terms (0: no value), each with the triples that make it."""


class Texts(Protocol):
    """The texts of terms."""

    def of(self, numbers: Sequence[int]) -> list[str]:
        """The texts of numbers that are there."""


class Graph(Lookups, Protocol):
    """The triples, with what it takes to spell them out."""

    @property
    def texts(self) -> Texts:
        """The texts of its terms."""

    def documents(self, triples: Sequence[Triple], most: int) -> list[list[int]]:
        """The numbers of documents that state each of these triples, at most so many; their uris are texts."""


class Answer(NamedTuple):
    """A row of a query, in the order of its answer, and the uris of documents that state the triples which make it.

    None stands for a column without a value.
    """

    query: int
    row: tuple[str | None, ...]
    documents: tuple[str, ...]


class Finder:
    """Finds rows by seeds; `errors` has the queries that went over a limit, and why: their rows are not all of them."""

    def __init__(
        self,
        plan: Plan,
        triples: Graph,
        *,
        high: int = HIGH,
        most_triples: int = MOST_TRIPLES,
        popular: int | None = None,
    ) -> None:
        """`high`, `most_triples` and `popular` are the bounds of gathering."""
        self.errors: dict[int, str] = {}
        self.fans: list[Fan] = []
        """What was put off: rows that have a triple of these are found around those (`Queries.fan_plans`)."""
        self._popular = popular
        self._plan, self._triples, self._high, self._most = plan, triples, high, most_triples
        self._shapes = dict(enumerate(plan.shapes))
        self._seeds: dict[int, list[tuple[int, int, int]]] = {}
        self._failed: set[int] = set()
        self._numbers: dict[str, int] = {}

    def find(self, share: Iterable[tuple[int, Triple]]) -> Iterator[Answer]:
        """`rows`, spelled out, with the documents behind them."""
        for rows in self.rows(share):
            yield from self._told(rows)

    def rows(self, share: Iterable[tuple[int, Triple]]) -> Iterator[Rows]:
        """The rows that use triples of the graph, each given with a kind that it is of; some may come twice."""
        seeds = [
            Seed(shape, position, triple, atom)
            for kind, triple in share
            for shape, position, atom in self._places_of(kind)
        ]
        yield from self._search(seeds, None)

    def _places_of(self, kind: int) -> list[tuple[int, int, int]]:
        found = self._seeds.get(kind)
        if found is None:
            found = self._seeds[kind] = self._plan.places_of(kind)
        return found

    def _search(self, seeds: Sequence[Seed], only: Collection[int] | None) -> Iterator[Rows]:
        """The rows of the entries that are seeded here, or of some of these only."""
        plan = self._plan
        if self._failed:
            seeds = [seed for seed in seeds if not self._failed.issuperset(self._concerned(seed, only))]
        if not seeds:
            return
        gathered = gather(
            seeds,
            self._shapes,
            self._triples,
            plan.users,
            high=self._high,
            most_triples=self._most,
            popular=self._popular,
            deep=not plan.wide,
        )
        self.fans += gathered.fans
        found, errors = plan.index.find_in(self._page(gathered.triples))
        served = [seed for seed in seeds if seed.shape not in gathered.refused and seed[:3] not in gathered.put_off]
        yield self._rows(found, served, only)
        for shape, reason in gathered.refused.items():
            alike = [seed for seed in seeds if seed.shape == shape]
            yield from self._again(alike, {entry for seed in alike for entry in self._concerned(seed, only)}, reason)
        for entry in sorted(map(int, errors)):
            own = [seed for seed in served if entry in self._concerned(seed, only)]
            if own and entry not in self._failed:
                yield from self._again(own, {entry}, errors[str(entry)].reason)

    def _again(self, seeds: Sequence[Seed], only: set[int], reason: str) -> Iterator[Rows]:
        """In halves, for those to whom the whole was too much."""
        if len(seeds) == 1:
            self._failed |= only
            for entry in only:
                self.errors.setdefault(int(self._plan.queries[entry]), reason)
            return
        half = len(seeds) // 2
        for some in (seeds[:half], seeds[half:]):
            yield from self._search(some, only)

    def _concerned(self, seed: Seed, only: Collection[int] | None) -> list[int]:
        """The entries that are seeded here."""
        uses = self._plan.uses(seed.atom)
        return uses if only is None else [entry for entry in uses if entry in only]

    def _rows(self, found: Iterable[Numbered], seeds: Iterable[Seed], only: Collection[int] | None) -> Rows:
        """By query; of a wide one only those that have a seed where it was planted."""
        plan = self._plan
        planted = {(seed.atom, seed.triple) for seed in seeds} if plan.wide else set()
        rows: Rows = {}
        for id, row, derivation in found:
            entry = int(id)
            if only is not None and entry not in only:
                continue
            wide = plan.wide.get(entry)
            if wide is not None:
                if (wide.atom, wide.seed_in(row)) not in planted:
                    continue
                row = wide.answer_in(row)
            rows.setdefault((int(plan.queries[entry]), row), derivation)
        return rows

    def _page(self, triples: Collection[Triple]) -> Page:
        numbers = list({number for triple in triples for number in triple})
        texts = dict(zip(numbers, self._triples.texts.of(numbers), strict=True))
        return page_of(triples, texts, self._number)

    def _number(self, text: str) -> int:
        """The number of a constant."""
        number = self._numbers.get(text)
        if number is None:
            (number,) = self._triples.terms([text])
            self._numbers[text] = number
        return number

    def _told(self, rows: Rows) -> Iterator[Answer]:
        stated = self._stated({triple for derivation in rows.values() for triple in derivation})
        numbers = list({number for _, row in rows for number in row if number})
        texts: dict[int, str | None] = dict(zip(numbers, self._triples.texts.of(numbers), strict=True))
        texts[0] = None
        for (query, row), derivation in rows.items():
            most = max(1, MOST_DOCUMENTS // len(derivation))
            documents = {uri for triple in derivation for uri in stated[triple][:most]}
            yield Answer(query, tuple([texts[number] for number in row]), tuple(sorted(documents)))

    def _stated(self, triples: Collection[Triple]) -> dict[Triple, list[str]]:
        """The uris of the documents that state each triple."""
        asked = list(triples)
        lists = self._triples.documents(asked, MOST_DOCUMENTS)
        numbers = list({number for one in lists for number in one})
        uris = dict(zip(numbers, self._triples.texts.of(numbers), strict=True))
        return {triple: [uris[number] for number in one] for triple, one in zip(asked, lists, strict=True)}
