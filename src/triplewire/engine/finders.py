"""Finders: the rows of a batch, looked for by workers.

Finding is most of the work of a large batch, and it only reads: the rows around the batch's seeds in the old state and
in the new one, and the rows of single documents. A hub does it in its process, unless it has a `SharedFinder`, which
cuts it into shares for workers. What is found is the same. Limits are not: each share has the whole limit for itself.
Where a seed leads to a popular node, that node's triples are cut into shares of their own
(`matching.incremental.fans`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from time import perf_counter

from triplewire.engine.batch.overlays import Changes
from triplewire.engine.neighbourhoods import Neighbourhoods
from triplewire.engine.standing import Standing
from triplewire.engine.workers import Beginnings, Errors, Spent, TimedIndex, Worker, Workers
from triplewire.matching.finder.rows import Key, Rows
from triplewire.matching.findings import DocumentFindings, Matcher
from triplewire.matching.incremental import Seed
from triplewire.matching.incremental.fans import POPULAR, Fan, in_rounds, shared_out
from triplewire.model import Document
from triplewire.store import Reader


class SharedFinder:
    """Cuts large work into shares that workers do; up to `small` seeds or documents are no large work.

    `shares` is how many of them are worth while. `popular`: what has more triples is put off by the worker of a share.
    """

    def __init__(self, workers: Workers, small: int, *, shares: int = 4, popular: int = POPULAR) -> None:
        self.workers, self.small, self.shares, self.popular = workers, small, shares, popular
        self.spent = Spent()
        """Since it was last emptied: a stream puts a new one there for each batch."""

    def matcher(self, standing: Standing) -> Matcher:
        """What finds rows in single documents."""
        return _SharedMatcher(self, standing.documents)

    def neighbourhoods(
        self, reader: Reader, standing: Standing, errors: Errors, changes: Callable[[], Changes]
    ) -> Neighbourhoods:
        """What finds rows in a state of the store; `changes` tells how it differs from what is committed."""
        return _SharedNeighbourhoods(self, reader, standing, errors, changes)

    def find(self, documents: Sequence[Document]) -> list[DocumentFindings]:
        """The rows of each document, in the order of the documents."""
        size = -(-len(documents) // self.shares)
        shares = [documents[first : first + size] for first in range(0, len(documents), size)]
        return list(chain.from_iterable(self.workers.each(Worker.find, shares)))


class _SharedMatcher:
    def __init__(self, finder: SharedFinder, here: Matcher) -> None:
        self._finder, self._here = finder, here

    def __len__(self) -> int:
        return len(self._here)

    def find(self, documents: Sequence[Document]) -> list[DocumentFindings]:
        where: Matcher | SharedFinder = self._here if len(documents) <= self._finder.small else self._finder
        started = perf_counter()
        found = where.find(documents)
        taken = perf_counter() - started
        self._finder.spent.match += taken
        self._finder.spent.waited += taken
        return found


class _SharedNeighbourhoods(Neighbourhoods):
    def __init__(
        self,
        finder: SharedFinder,
        reader: Reader,
        standing: Standing,
        errors: Errors,
        changes: Callable[[], Changes],
    ) -> None:
        super().__init__(reader, standing, errors, TimedIndex(standing.graph, finder.spent))
        self._shared, self._spent, self._changes = finder, finder.spent, changes

    def around(self, seeds: Sequence[Seed]) -> Rows:
        """See `Neighbourhoods.around`."""
        finder, rows = self._shared, Rows()
        self._spent.seeds += len(seeds)
        if len(seeds) <= finder.small:
            self.popular = max(finder.small, finder.popular)
            with self._spent.looking_up():
                rows = super().around(seeds)
            fans = [*self.fans]
            self.fans.clear()
        else:
            fans = self._taken(self._cut(seeds), finder.popular, rows)

        def find(fans: Sequence[Fan], left: int) -> list[Fan]:
            self._spent.seeds += sum(fan.size for fan in fans)
            shares = [Beginnings(pieces=pieces) for pieces in shared_out(fans, finder.shares)]
            return self._taken(shares, finder.popular if left else None, rows)

        in_rounds(fans, find)
        return rows

    def having(self, keys: Iterable[Key], columns: Mapping[int, Sequence[str]] | None = None) -> Rows:
        """See `Neighbourhoods.having`."""
        with self._spent.looking_up():
            return super().having(keys, columns)

    def _cut(self, seeds: Sequence[Seed]) -> list[Beginnings]:
        """What is seeded at one resource stays together, because it is gathered together."""
        shares: list[list[Seed]] = [[] for _ in range(self._shared.shares)]
        for seed in seeds:
            shares[seed.triple[0] % len(shares)].append(seed)
        return [Beginnings(share) for share in shares if share]

    def _taken(self, shares: Sequence[Beginnings], popular: int | None, rows: Rows) -> list[Fan]:
        """Add the rows that workers find; gives the fans that they have put off."""
        started = perf_counter()
        work = partial(Worker.around, changes=self._changes(), popular=popular)
        around = list(self._shared.workers.each(work, shares))
        self._spent.waited += perf_counter() - started
        for found in around:
            self._spent.add_share(found.spent)
            rows |= {key: why for key, why in found.rows.items() if key not in rows}
            for query, error in found.errors.items():
                self.errors.setdefault(query, error)
        return [fan for found in around for fan in found.fans]
