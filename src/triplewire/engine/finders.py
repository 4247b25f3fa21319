"""Finding: where the rows of a batch are looked for.

Finding is most of the work of a large batch, and it only reads: the rows around the batch's seeds in the old state and
in the new one, and the rows of single documents. `Finder` does it in this process. `SharedFinder` cuts it into shares
for others; each of them has a `Seeker`, which reads the committed state and lays the batch's changes over it. What is
found is the same. Limits are not: each share has the whole limit for itself. Where a seed leads to a popular node, that
node's triples are cut into shares of their own (`matching.incremental.fans`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import NamedTuple, Protocol

from triplewire.engine import taxonomies
from triplewire.engine.neighbourhoods import Key, Neighbourhoods, Rows
from triplewire.engine.overlays import Changes, Overlaid
from triplewire.engine.standing import Standing
from triplewire.errors import StoreError, SubscriptionError
from triplewire.matching import Index
from triplewire.matching.findings import Found
from triplewire.matching.incremental import MOST_TRIPLES, Seed, Shape, Triple
from triplewire.matching.incremental.fans import POPULAR, ROUNDS, Fan, Piece, shared_out, united
from triplewire.model import Document
from triplewire.store import Reader, Store

Errors = dict[int, SubscriptionError]
"""The queries that failed, by number."""


@dataclass(slots=True)
class Spent:
    """What finding took: seconds of lookups and of matching, added up over all who did it; how many seeds there were.

    `waited` is how long whoever applies the batch waited for it; `shares` has the seconds of each share.
    """

    lookup: float = 0.0
    match: float = 0.0
    waited: float = 0.0
    seeds: int = 0
    shares: list[float] = field(default_factory=list)

    def add_share(self, other: Spent) -> None:
        """Take in what a share took; its seeds are some of these."""
        self.lookup += other.lookup
        self.match += other.match
        self.shares.append(other.lookup + other.match)


class Around(NamedTuple):
    """What a share of the seeds gives."""

    rows: Rows
    errors: Errors
    spent: Spent
    fans: tuple[Fan, ...] = ()
    """What was put off."""


class Matcher(Protocol):
    """What finds the rows of documents, each alone; an `Index` is one."""

    def __len__(self) -> int:
        """How many queries there are."""

    def find(self, documents: Sequence[Document]) -> list[Found]:
        """What each document gives."""


class Finder:
    """Finds in this process."""

    def matcher(self, standing: Standing) -> Matcher:
        """What finds rows in single documents."""
        return standing.documents

    def neighbourhoods(
        self, reader: Reader, standing: Standing, errors: Errors, changes: Callable[[], Changes]
    ) -> Neighbourhoods:
        """What finds rows in a state of the store; `changes` tells how it differs from what is committed."""
        return Neighbourhoods(reader, standing, errors)


HERE = Finder()


class SharedFinder(Finder, ABC):
    """Cuts large work into shares that others do; up to `small` seeds or documents are no large work.

    `shares` is how many of them are worth while. `popular`: what has more triples is put off by who has a share.
    """

    def __init__(self, small: int, *, shares: int = 4, popular: int = POPULAR) -> None:
        self.small, self.shares, self.popular = small, shares, popular
        self.spent = Spent()
        """Since it was last emptied: whoever wants to know puts a new one there."""

    def matcher(self, standing: Standing) -> Matcher:
        """See `Finder.matcher`."""
        return _SharedMatcher(self, standing.documents)

    def neighbourhoods(
        self, reader: Reader, standing: Standing, errors: Errors, changes: Callable[[], Changes]
    ) -> Neighbourhoods:
        """See `Finder.neighbourhoods`."""
        return _SharedNeighbourhoods(self, reader, standing, errors, changes)

    @abstractmethod
    def around(self, seeds: Sequence[Seed], changes: Changes) -> list[Around]:
        """What each share of the seeds gives, by `Seeker.around`."""

    @abstractmethod
    def around_pieces(self, shares: Sequence[Sequence[Piece]], changes: Changes, popular: int | None) -> list[Around]:
        """What each share of what was put off gives, by `Seeker.around_pieces`."""

    @abstractmethod
    def find(self, documents: Sequence[Document]) -> list[Found]:
        """What each document gives, by `Seeker.find`, in the order of the documents."""


class _SharedMatcher:
    def __init__(self, finder: SharedFinder, here: Matcher) -> None:
        self._finder, self._here = finder, here

    def __len__(self) -> int:
        return len(self._here)

    def find(self, documents: Sequence[Document]) -> list[Found]:
        where: Matcher | SharedFinder = self._here if len(documents) <= self._finder.small else self._finder
        started = perf_counter()
        found = where.find(documents)
        taken = perf_counter() - started
        self._finder.spent.match += taken
        self._finder.spent.waited += taken
        return found


class _Timed(Neighbourhoods):
    """Knows how long it looked up, and how long it matched what it had gathered."""

    def __init__(self, reader: Reader, standing: Standing, errors: Errors, spent: Spent) -> None:
        super().__init__(reader, standing, errors)
        self._spent = spent

    def around(self, seeds: Sequence[Seed]) -> Rows:
        """See `Neighbourhoods.around`."""
        return self._timed(lambda: super(_Timed, self).around(seeds))

    def having(self, keys: Iterable[Key], columns: Mapping[int, Sequence[str]] | None = None) -> Rows:
        """See `Neighbourhoods.having`."""
        return self._timed(lambda: super(_Timed, self).having(keys, columns))

    def _timed(self, find: Callable[[], Rows]) -> Rows:
        started, matched = perf_counter(), self._spent.match
        rows = find()
        taken = perf_counter() - started
        self._spent.lookup += taken - (self._spent.match - matched)
        self._spent.waited += taken
        return rows

    def rows_in(self, triples: Iterable[Triple], index: Index, only: set[int] | None = None) -> Rows:
        """See `Neighbourhoods.rows_in`."""
        started = perf_counter()
        rows = super().rows_in(triples, index, only)
        self._spent.match += perf_counter() - started
        return rows


class _SharedNeighbourhoods(_Timed):
    def __init__(
        self,
        finder: SharedFinder,
        reader: Reader,
        standing: Standing,
        errors: Errors,
        changes: Callable[[], Changes],
    ) -> None:
        super().__init__(reader, standing, errors, finder.spent)
        self._finder, self._changes = finder, changes

    def around(self, seeds: Sequence[Seed]) -> Rows:
        """See `Neighbourhoods.around`."""
        finder = self._finder
        self._spent.seeds += len(seeds)
        if len(seeds) <= finder.small:
            self.popular = max(finder.small, finder.popular)
            rows = super().around(seeds)
        else:
            rows = {}
            self._take(lambda: finder.around(seeds, self._changes()), rows)
        for number in range(ROUNDS):
            fans, self.fans = united(self.fans), []
            if fans:
                self._spent.seeds += sum(fan.size for fan in fans)
                self._take(partial(self._put_off, fans, finder.popular if number + 1 < ROUNDS else None), rows)
        return rows

    def _put_off(self, fans: Sequence[Fan], popular: int | None) -> list[Around]:
        return self._finder.around_pieces(shared_out(fans, self._finder.shares), self._changes(), popular)

    def _take(self, find: Callable[[], list[Around]], rows: Rows) -> None:
        """Add what others find."""
        started = perf_counter()
        shares = find()
        self._spent.waited += perf_counter() - started
        for found in shares:
            self._spent.add_share(found.spent)
            rows |= {key: why for key, why in found.rows.items() if key not in rows}
            self.fans += found.fans
            for query, error in found.errors.items():
                self.errors.setdefault(query, error)


class Seeker:
    """Finds for a batch that another process applies; it writes nothing, and may be used for one batch after another.

    It knows the subscriptions and the taxonomy that are committed: the other process is the one that writes now, so
    these are the ones that it knows, too.
    """

    def __init__(self, url: str, *, most_triples: int = MOST_TRIPLES, images: Path | None = None) -> None:
        """`images` is a folder that seekers of this store on this machine share, to map one file instead of many."""
        self._store = Store.open(url, create=False)
        self._standing = Standing(most_triples, images)
        self._taxonomy_number = -1

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def around(self, seeds: Sequence[Seed], changes: Changes, popular: int | None = None) -> Around:
        """The rows around seeds in the state that the changes lead to.

        The other process may still wait for atoms of a query that is gone; here it is not even known.
        """
        return self._around(
            changes, popular, lambda near, shapes: near.around([seed for seed in seeds if seed.shape in shapes])
        )

    def around_pieces(self, pieces: Sequence[Piece], changes: Changes, popular: int | None = None) -> Around:
        """The rows around what was put off."""
        return self._around(
            changes,
            popular,
            lambda near, shapes: near.around_pieces([one for one in pieces if one.fan.shape in shapes]),
        )

    def _around(
        self, changes: Changes, popular: int | None, find: Callable[[Neighbourhoods, Mapping[int, Shape]], Rows]
    ) -> Around:
        errors: Errors = {}
        spent = Spent()
        with self._reading(changes.after) as reader:
            near = _Timed(Overlaid(reader, changes), self._standing, errors, spent)
            near.popular = popular
            rows = find(near, self._standing.shapes)
        return Around(rows, errors, spent, tuple(near.fans))

    def find(self, documents: Sequence[Document]) -> list[Found]:
        """The rows of documents."""
        with self._reading():
            found = self._standing.documents.find(documents)
        return [Found(one.findings, dict(one.errors)) for one in found]  # a view of errors crosses no border

    @contextmanager
    def _reading(self, after: int | None = None) -> Iterator[Reader]:
        with self._store.reading() as reader:
            last = reader.batches.last()
            if after is not None and last != after:
                raise StoreError(f"{self._store.url}: batch {last} is the last one, not {after}: the batch is over")
            self._standing.catch_up(reader)
            number = taxonomies.number_of(reader)
            if number != self._taxonomy_number:
                self._standing.use_taxonomy(taxonomies.read(reader))
                self._taxonomy_number = number
            yield reader
