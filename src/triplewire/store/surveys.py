"""Surveys: questions of people who look around, each with a bound on what it may cost.

A person asks for "all classes" of a store that may have a billion statements. So every question here says how far it
looks, walks along a key or an index, and stops there: what it gives is right for what it looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from triplewire.store.access import seen
from triplewire.store.packing import Triple
from triplewire.store.sql import Sql, StorePart

Narrowing = tuple[int, Sequence[int]]
"""A predicate, and the objects of which a resource must have one."""


class FoundTerms(NamedTuple):
    """Terms whose text holds some words, newest first; numbers from `until` on were looked at."""

    terms: list[tuple[int, str]]
    until: int


class SurveyReader(StorePart):
    """Bounded questions about the current metadata and about the log.

    With a `viewer`, the metadata is that of the documents that it may read.
    """

    def __init__(self, sql: Sql, viewer: str | None = None) -> None:
        super().__init__(sql)
        self._seen, self._viewer = seen(viewer, "st.document")

    def values(self, predicate: int, most: int) -> list[int]:
        """Distinct objects of a predicate: from each to the next by the index, however often each is used."""
        first = f"SELECT st.o FROM statements st WHERE st.p = ?{self._seen} ORDER BY st.o LIMIT 1"
        following = (
            f"SELECT st.o FROM statements st WHERE st.p = ? AND st.o > found.o{self._seen} ORDER BY st.o LIMIT 1"
        )
        text = (
            f"WITH RECURSIVE found(o) AS (SELECT ({first})"
            f" UNION ALL SELECT ({following}) FROM found WHERE found.o IS NOT NULL)"
            " SELECT o FROM found WHERE o IS NOT NULL LIMIT ?"
        )
        given: tuple[int | str, ...] = (predicate, *self._viewer, predicate, *self._viewer, most)
        return [value for (value,) in self._sql.rows(text, *given)]

    def subjects(self, narrowings: Sequence[Narrowing], *, looked_at: int, most: int) -> list[int]:
        """Resources that meet all narrowings, by number: found among the first `looked_at` that meet the first one."""
        (predicate, values), *others = narrowings
        text = (
            "SELECT c.s FROM (SELECT DISTINCT st.s FROM statements st"
            f" WHERE st.p = ? AND st.o IN ({_marks(values)}){self._seen} ORDER BY st.s LIMIT ?) c WHERE 1 = 1"
        )
        given: list[int | str] = [predicate, *values, *self._viewer, looked_at]
        for other, wanted in others:
            text += (
                " AND EXISTS (SELECT 1 FROM statements st"
                f" WHERE st.s = c.s AND st.p = ? AND st.o IN ({_marks(wanted)}){self._seen})"
            )
            given += [other, *wanted, *self._viewer]
        found = self._sql.rows(f"{text} ORDER BY c.s LIMIT ?", *given, most)
        return [subject for (subject,) in found]

    def about(self, subjects: Sequence[int], most: int) -> list[Triple]:
        """Triples of subjects, not many more than `most` of them."""
        text = (
            "WITH k(a) AS ({keys}) SELECT DISTINCT st.s, st.p, st.o"
            f" FROM k CROSS JOIN statements st WHERE st.s = k.a{self._seen} LIMIT ?"
        )
        keys = [(subject,) for subject in subjects]
        return [(s, p, o) for s, p, o in self._sql.keyed(text, keys, *self._viewer, most)]

    def terms_with(self, words: Sequence[Sequence[str]], *, before: int, looked_at: int, most: int) -> FoundTerms:
        """Terms with one spelling of each word in their text, from those with a number under `before` down.

        With a viewer there may be more of them than `most`, because documents that it may not read have terms, too.
        """
        most = looked_at if self._seen else most
        last = min(before - 1, self._sql.counter("terms"))
        first = max(0, last - looked_at)
        tests = "".join(f" AND ({' OR '.join(['lower(text) LIKE ? ESCAPE ?'] * len(word))})" for word in words)
        given = [value for word in words for spelling in word for value in (_pattern(spelling), "!")]
        text = f"SELECT id, text FROM terms WHERE id > ? AND id <= ?{tests} ORDER BY id DESC LIMIT ?"
        found = [(number, term) for number, term in self._sql.rows(text, first, last, *given, most)]
        return FoundTerms(found, found[-1][0] if len(found) == most else first + 1)

    def present(self, subjects: Sequence[int]) -> set[int]:
        """Which of these are the subject of a triple."""
        return self._stated("s", subjects)

    def used(self, predicates: Sequence[int]) -> set[int]:
        """Which of these are the predicate of a triple."""
        return self._stated("p", predicates)

    def _stated(self, place: str, terms: Sequence[int]) -> set[int]:
        stated = f"SELECT 1 FROM statements st WHERE st.{place} = k.a{self._seen}"
        text = f"WITH k(a) AS ({{keys}}) SELECT k.a FROM k WHERE EXISTS ({stated})"
        return {found for (found,) in self._sql.keyed(text, [(term,) for term in terms], *self._viewer)}

    def predicates(self, most: int) -> list[int]:
        """The predicates of triples that are seen, by number; the first `most`."""
        text = "SELECT t.p FROM predicates t"
        if self._seen:
            text += f" WHERE EXISTS (SELECT 1 FROM statements st WHERE st.p = t.p{self._seen})"
        return [found for (found,) in self._sql.rows(f"{text} ORDER BY t.p LIMIT ?", *self._viewer, most)]

    def extents(self, narrowings: Sequence[Narrowing], most: int) -> list[int]:
        """How many resources meet each narrowing alone, each counted up to `most`."""
        found = []
        for predicate, values in narrowings:
            text = (
                "SELECT count(*) FROM (SELECT DISTINCT st.s FROM statements st"
                f" WHERE st.p = ? AND st.o IN ({_marks(values)}){self._seen} LIMIT ?) counted"
            )
            found.append(self._sql.number(text, predicate, *values, *self._viewer, most) if values else 0)
        return found

    def uses(self, keys: Sequence[tuple[int, int]], most: int) -> list[Triple]:
        """Triples of each (predicate, object), not many more than `most` in all."""
        text = (
            "WITH k(a, b) AS ({keys}) SELECT DISTINCT st.s, st.p, st.o"
            f" FROM k CROSS JOIN statements st WHERE st.p = k.a AND st.o = k.b{self._seen} LIMIT ?"
        )
        return [(s, p, o) for s, p, o in self._sql.keyed(text, keys, *self._viewer, most)]

    def busiest(self, after: int, most: int) -> list[tuple[int, int]]:
        """The queries with the most events since a cursor, with how many."""
        text = (
            "SELECT query, sum(events) AS events FROM ("
            "SELECT query, count(*) AS events FROM events WHERE cursor > ? AND crowd = 0 GROUP BY query UNION ALL"
            " SELECT m.query, count(*) AS events FROM events e JOIN crowd_members m ON m.crowd = e.crowd"
            " WHERE e.cursor > ? AND e.crowd <> 0 GROUP BY m.query"
            ") told GROUP BY query ORDER BY events DESC, query LIMIT ?"
        )
        return [(query, int(count)) for query, count in self._sql.rows(text, after, after, most)]

    def row_counts(self, queries: Sequence[int], most: int) -> dict[int, int]:
        """How many rows each query has on record, counted up to `most`."""
        own = "SELECT 1 FROM rows r WHERE r.query = k.a"
        shared = (
            "SELECT 1 FROM crowd_members m CROSS JOIN rows r WHERE m.query = k.a AND r.crowd = m.crowd AND r.crowd <> 0"
        )
        counted = ", ".join(f"(SELECT count(*) FROM ({text} LIMIT ?) counted)" for text in (own, shared))
        found = self._sql.keyed(
            f"WITH k(a) AS ({{keys}}) SELECT k.a, {counted} FROM k WHERE k.a IS NOT NULL",
            [(query,) for query in queries],
            most,
            most,
        )
        return {query: min(most, alone + together) for query, alone, together in found}

    def documents(self, most: int) -> int:
        """How many documents are there now, counted up to `most`."""
        return self._counted("documents WHERE digest <> ?", most, b"")

    def subscriptions(self, most: int) -> int:
        """How many subscriptions there are, counted up to `most`."""
        return self._counted("subscriptions", most)

    def _counted(self, what: str, most: int, *values: bytes) -> int:
        return self._sql.number(f"SELECT count(*) FROM (SELECT 1 FROM {what} LIMIT ?) counted", *values, most)

    def oldest_waiting(self) -> str | None:
        """When the first entry of the intake that still waits was received."""
        found = self._sql.first("SELECT received FROM intake ORDER BY position, item LIMIT 1")
        return None if found is None else str(found[0])


def _marks(values: Sequence[int]) -> str:
    return ", ".join("?" * len(values))


def _pattern(word: str) -> str:
    """For LIKE: the word anywhere; what has a meaning there has none."""
    escaped = word.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{escaped}%"
