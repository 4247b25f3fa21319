"""Workers: those among whom finding is shared out. Each has the store open, only reads, and is given shares of a work.

Finding is most of the work of a large batch. A hub does it in its process, unless a `SharedFinder` cuts it into shares
for workers. What is found is the same. Limits are not: each share has the whole limit for itself.

A *work* is a method of `Worker` with all but the share given (`partial(Worker.around, changes=…)`), so that it can
cross to another process. There are two kinds. Batches: the rows around seeds, and those of documents, in the state that
the batch leads to, while another process applies it. Backfills: what answers queries already (`backfill.shares`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import NamedTuple, Protocol, TypeVar

from triplewire.engine.backfill.shares import BackfillJob, BackfillSearch, BackfillShare, MatchedDocument, Sought
from triplewire.engine.batch.overlays import Changes, Overlaid
from triplewire.engine.neighbourhoods import Neighbourhoods
from triplewire.engine.standing import Standing
from triplewire.errors import StoreError, SubscriptionError
from triplewire.matching.finder.finder import Key, PageIndex, Rows
from triplewire.matching.findings import DocumentFindings, Matcher
from triplewire.matching.incremental import MOST_TRIPLES, Seed
from triplewire.matching.incremental.fans import POPULAR, Fan, Piece, in_rounds, shared_out
from triplewire.matching.pages import Numbered, NumberedPage
from triplewire.model import Document
from triplewire.store import Reader, Store

_Share = TypeVar("_Share")
_Result = TypeVar("_Result")

Errors = dict[int, SubscriptionError]
"""The queries that failed, by number."""


class Workers(Protocol):
    """A worker or several, which do shares of a work."""

    def each(self, work: Callable[[Worker, _Share], _Result], shares: Iterable[_Share]) -> Iterable[_Result]:
        """What each share gives, in the order of the shares."""


class OneWorker:
    """Does all shares in this process, one after the other."""

    def __init__(self, store: Store) -> None:
        self._worker = Worker(store)

    def each(self, work: Callable[[Worker, _Share], _Result], shares: Iterable[_Share]) -> Iterator[_Result]:
        """See `Workers.each`."""
        return (work(self._worker, share) for share in shares)


@dataclass(slots=True)
class Spent:
    """What finding took: seconds of lookups and of matching, added up over all workers; how many seeds there were.

    `waited` is how long the process that applies the batch waited for it; `shares` has the seconds of each share.
    """

    lookup: float = 0.0
    match: float = 0.0
    waited: float = 0.0
    seeds: int = 0
    shares: list[float] = field(default_factory=list)

    @contextmanager
    def looking_up(self) -> Iterator[None]:
        """Note how long it takes what is done meanwhile, as far as it is no matching."""
        started, matched = perf_counter(), self.match
        yield
        taken = perf_counter() - started
        self.lookup += taken - (self.match - matched)
        self.waited += taken

    def add_share(self, other: Spent) -> None:
        """Take in what a share took; its seeds are some of these."""
        self.lookup += other.lookup
        self.match += other.match
        self.shares.append(other.lookup + other.match)


class Beginnings(NamedTuple):
    """Where a share of a batch begins: at seeds, or at pieces of what was put off."""

    seeds: Sequence[Seed] = ()
    pieces: Sequence[Piece] = ()


class Around(NamedTuple):
    """What a share of the seeds gives."""

    rows: Rows
    errors: Errors
    spent: Spent
    fans: tuple[Fan, ...] = ()
    """Fans that were put off."""


class TimedIndex:
    """An index that notes how long it matches."""

    def __init__(self, index: PageIndex, spent: Spent) -> None:
        self._index, self._spent = index, spent

    def find_in(self, page: NumberedPage) -> tuple[list[Numbered], Mapping[str, SubscriptionError]]:
        """See `PageIndex.find_in`."""
        started = perf_counter()
        found = self._index.find_in(page)
        self._spent.match += perf_counter() - started
        return found


class Worker:
    """Does shares of works, one after the other; it writes nothing.

    For a batch, it reads the committed state and lays the batch's changes over it. It knows the subscriptions and the
    taxonomy that are committed: the process that applies the batch is the only one that writes now, so these are the
    ones that it knows, too.
    """

    def __init__(self, store: Store, *, most_triples: int = MOST_TRIPLES, images: Path | None = None) -> None:
        """`images` is a folder that workers of this store on this machine share, to map one file instead of many."""
        self._store = store
        self._standing = Standing(most_triples, images)
        self._search: tuple[str, BackfillSearch] | None = None

    # -- for a batch

    def around(self, begin: Beginnings, *, changes: Changes, popular: int | None = None) -> Around:
        """The rows around where a share begins, in the state that the changes lead to.

        More than `popular` triples are put off. The other process may still wait for atoms of a query that is gone;
        here it is not even known.
        """
        errors: Errors = {}
        spent = Spent()
        with self._reading(changes.after) as reader, spent.looking_up():
            index = TimedIndex(self._standing.graph, spent)
            near = Neighbourhoods(Overlaid(reader, changes), self._standing, errors, index)
            near.popular, shapes = popular, self._standing.shapes
            rows = near.around([seed for seed in begin.seeds if seed.shape in shapes])
            rows |= near.around_pieces(piece for piece in begin.pieces if piece.fan.shape in shapes)
        return Around(rows, errors, spent, tuple(near.fans))

    def find(self, documents: Sequence[Document]) -> list[DocumentFindings]:
        """The rows of documents."""
        with self._reading():
            found = self._standing.documents.find(documents)
        return [DocumentFindings(one.findings, dict(one.errors)) for one in found]  # a view of errors crosses no border

    @contextmanager
    def _reading(self, after: int | None = None) -> Iterator[Reader]:
        with self._store.reading() as reader:
            last = reader.batches.last()
            if after is not None and last != after:
                raise StoreError(f"{self._store.url}: batch {last} is the last one, not {after}: the batch is over")
            self._standing.catch_up(reader)
            yield reader

    # -- for a backfill

    def seek(self, share: BackfillShare, *, job: BackfillJob) -> Sought:
        """See `BackfillSearch.seek`."""
        return self._searching(job).seek(share)

    def match(self, documents: Sequence[int], *, job: BackfillJob) -> list[MatchedDocument]:
        """See `BackfillSearch.match`."""
        return self._searching(job).match(documents)

    def _searching(self, job: BackfillJob) -> BackfillSearch:
        if self._search is None or self._search[0] != job.name:
            self._search = job.name, BackfillSearch(self._store, job)
        return self._search[1]


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
