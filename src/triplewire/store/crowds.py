"""Crowds: queries that got the same row for the same reason, as one.

One document may answer thousands of queries. What they all get is recorded once, for the crowd of them: one row, one
line of the log. A crowd is the list of its queries and never changes, so that documents of one kind meet the same
crowd again and again. The place of a query in the list is part of the cursors of its events: one that is removed stays
in the list, but is no member any more.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from triplewire.store import schema
from triplewire.store.packing import digest, pack, unpack
from triplewire.store.sql import Sql, StorePart

Queries = tuple[int, ...]
"""Numbers of queries, in their order."""

FEWEST = 3
"""Fewer queries are no crowd: each has its own records, which cost less than finding or making a crowd."""


class CrowdReader(StorePart):
    """Who belongs to crowds; what was read is kept while the transaction lasts."""

    def __init__(self, sql: Sql) -> None:
        super().__init__(sql)
        self._lists: dict[int, Queries] = {}
        self._members: dict[int, Queries] = {}

    def lists(self, crowds: Collection[int]) -> dict[int, Queries]:
        """The whole list of each crowd."""
        self._read([crowd for crowd in dict.fromkeys(crowds) if crowd not in self._lists])
        return {crowd: self._lists[crowd] for crowd in crowds}

    def members(self, crowds: Collection[int]) -> dict[int, Queries]:
        """Those of each crowd's list that are still there."""
        self._read([crowd for crowd in dict.fromkeys(crowds) if crowd not in self._members])
        return {crowd: self._members[crowd] for crowd in crowds if crowd in self._members}

    def _read(self, crowds: Sequence[int]) -> None:
        for crowd, _, count, packed in self._sql.where(schema.crowds, "id", crowds):
            queries = self._lists[crowd] = unpack(packed)
            self._members[crowd] = queries if count == len(queries) else self._left(crowd, queries)

    def _left(self, crowd: int, queries: Queries) -> Queries:
        text = "WITH k(a) AS ({keys}) SELECT m.query FROM k CROSS JOIN crowd_members m WHERE m.query = k.a"
        left = self._sql.keyed(f"{text} AND m.crowd = ?", [(query,) for query in queries], crowd)
        return tuple(sorted(query for (query,) in left))


class CrowdWriter(CrowdReader):
    """Crowds, and new ones."""

    def __init__(self, sql: Sql) -> None:
        super().__init__(sql)
        self._numbers: dict[Queries, int] = {}

    def numbers(self, groups: Collection[Queries]) -> dict[Queries, int]:
        """The crowd of each group of queries; a group that never met before becomes one."""
        unknown = [group for group in dict.fromkeys(groups) if group not in self._numbers]
        if unknown:
            packed = {group: pack(group) for group in unknown}
            keys = {group: digest(content) for group, content in packed.items()}
            known: dict[bytes, int] = dict(self._sql.where(schema.crowds, "digest", keys.values(), "digest, id"))
            new = [group for group in unknown if keys[group] not in known]
            made = zip(new, self._sql.take("crowds", len(new)) if new else (), strict=True)
            self._numbers.update((group, known[keys[group]]) for group in unknown if keys[group] in known)
            self._numbers.update(made)
            self._write([(self._numbers[group], keys[group], len(group), packed[group]) for group in new], new)
        return {group: self._numbers[group] for group in groups}

    def _write(self, records: Sequence[tuple[int, bytes, int, bytes]], groups: Sequence[Queries]) -> None:
        self._sql.insert(schema.crowds, records)
        members = [
            (query, record[0], place)
            for record, group in zip(records, groups, strict=True)
            for place, query in enumerate(group)
        ]
        self._sql.insert(schema.crowd_members, sorted(members))

    def leave(self, query: int) -> list[int]:
        """Take a query out of its crowds; those of them that have rows, and have lost half of their members or more.

        Where some subscription asked it before, and asks another one now, the places stay known: its events are there.
        """
        self._sql.run(
            "INSERT INTO past_members (query, crowd, place) SELECT query, crowd, place FROM crowd_members"
            " WHERE query = ? AND EXISTS (SELECT 1 FROM spans s WHERE s.query = crowd_members.query)",
            query,
        )
        self._sql.run(
            "UPDATE crowds SET members = members - 1 WHERE id IN (SELECT crowd FROM crowd_members WHERE query = ?)",
            query,
        )
        halved = self._sql.rows(
            "SELECT c.id FROM crowd_members m JOIN crowds c ON c.id = m.crowd"
            " WHERE m.query = ? AND c.members * 16 <= length(c.queries)"  # eight bytes for each in the list
            " AND EXISTS (SELECT 1 FROM rows r WHERE r.crowd = c.id AND r.crowd <> 0)",
            query,
        )
        self._sql.delete(schema.crowd_members, ("query",), [(query,)])
        self._members.clear()
        return [crowd for (crowd,) in halved]
