"""Views: which documents count for a query, in one state of the store.

A document counts for a query if it was published after the query's start, and if the query's viewer may read it. A
triple counts if one of the documents that state it does. As long as no document has an access list, viewers make no
difference, and cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from triplewire.engine.standing import Standing
from triplewire.matching.finder.finder import Rows
from triplewire.model import Access
from triplewire.store import Reader


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
