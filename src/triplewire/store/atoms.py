"""Shapes and atoms: what queries have in common.

A shape is a conjunction without its constants; an atom is one place of a shape with the condition on one triple that
seeds it. Equal ones are one, and an atom counts its users, so that the last user's end is seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import Table

from triplewire.store import schema
from triplewire.store.packing import digest_of
from triplewire.store.sql import StorePart, Values


@dataclass(frozen=True, slots=True)
class ShapeRecord:
    """A shape, in the words of the matcher."""

    id: int
    definition: str


@dataclass(frozen=True, slots=True)
class AtomRecord:
    """An atom, and how many branches of queries use it."""

    id: int
    shape: int
    position: int
    definition: str
    users: int


@dataclass(frozen=True, slots=True)
class AtomUse:
    """A branch of a query has this atom at this position of its shape."""

    branch: int
    shape: int
    position: int
    definition: str

    @property
    def digest(self) -> bytes:
        """Equal for uses of one atom."""
        return _digest(self.shape, self.position, self.definition)


@lru_cache(maxsize=4096)
def _digest(shape: int, position: int, definition: str) -> bytes:
    """Kept for a while: a few atoms are those of most queries."""
    return digest_of(shape, position, definition)


class AtomReader(StorePart):
    """Shapes, atoms, and who uses them."""

    def shapes(self, ids: Sequence[int] | None = None) -> list[ShapeRecord]:
        """These shapes, or all, by number."""
        return [ShapeRecord(number, definition) for number, _, definition in self._all_or(schema.shapes, ids)]

    def atoms(self, ids: Sequence[int] | None = None) -> list[AtomRecord]:
        """These atoms, or all, by number."""
        return [AtomRecord(number, *about) for number, _, *about in self._all_or(schema.atoms, ids)]

    def _all_or(self, table: Table, ids: Sequence[int] | None) -> list[Values]:
        return self._sql.select(table, "ORDER BY id") if ids is None else sorted(self._sql.where(table, "id", ids))

    def of_queries(self, queries: Sequence[int]) -> list[list[tuple[int, int]]]:
        """The (atom, branch) pairs of each query."""
        found: dict[int, list[tuple[int, int]]] = {}
        for atom, query, branch in self._sql.where(schema.query_atoms, "query", queries):
            found.setdefault(query, []).append((atom, branch))
        return [sorted(found.get(query, ()), key=lambda pair: (pair[1], pair[0])) for query in queries]

    def users(self, atom: int, most: int) -> list[tuple[int, int]]:
        """The (query, branch) pairs that use an atom, at most so many."""
        text = "SELECT query, branch FROM query_atoms WHERE atom = ? ORDER BY query, branch LIMIT ?"
        return [(query, branch) for query, branch in self._sql.rows(text, atom, most)]


class AtomWriter(AtomReader):
    """Shapes and atoms, and changes of who uses them."""

    def shape_ids(self, definitions: Sequence[str]) -> list[int]:
        """The number of each shape; new ones get one."""
        keys = {definition: digest_of(definition) for definition in definitions}
        known: dict[bytes, int] = dict(self._sql.where(schema.shapes, "digest", keys.values(), "digest, id"))
        new = [(key, definition) for definition, key in keys.items() if key not in known]
        if new:
            numbers = self._sql.take("shapes", len(new))
            self._sql.insert(schema.shapes, [(number, *shape) for number, shape in zip(numbers, new, strict=True)])
            known.update((key, number) for number, (key, _) in zip(numbers, new, strict=True))
        return [known[keys[definition]] for definition in definitions]

    def attach(self, query: int, uses: Sequence[AtomUse]) -> list[int]:
        """Let a query use atoms; the number of each use's atom."""
        return self.attach_many([(query, uses)])[0]

    def attach_many(self, users: Sequence[tuple[int, Sequence[AtomUse]]]) -> list[list[int]]:
        """Let queries use atoms; for each query the number of each use's atom."""
        uses_of = [(query, use, use.digest) for query, uses in users for use in uses]
        known = {row[1]: row for row in self._sql.where(schema.atoms, "digest", [key for _, _, key in uses_of])}
        new = {key: use for _, use, key in uses_of if key not in known}
        made = dict(zip(new, self._sql.take("atoms", len(new)) if new else (), strict=True))
        numbers = {key: row[0] for key, row in known.items()} | made
        used = {(numbers[key], query, use.branch) for query, use, key in uses_of}
        self._sql.insert(schema.query_atoms, sorted(used))
        balance = Counter(atom for atom, _, _ in used)
        self._count(list(known.values()), balance)
        self._sql.insert(
            schema.atoms,
            [(made[key], key, u.shape, u.position, u.definition, balance[made[key]]) for key, u in new.items()],
        )
        return [[numbers[use.digest] for use in uses] for _, uses in users]

    def detach(self, query: int) -> None:
        """Let a query use no atoms any more; atoms and shapes without users go."""
        pairs = self.of_queries([query])[0]
        self._sql.delete(schema.query_atoms, ("query",), [(query,)])
        lost = Counter(atom for atom, _ in pairs)
        found = self._sql.where(schema.atoms, "id", lost)
        self._count(found, Counter({atom: -count for atom, count in lost.items()}))
        self._drop_empty_shapes({row[2] for row in found})

    def _count(self, atoms: Sequence[Values], balance: Counter[int]) -> None:
        """Invariant: an atom's users are its rows in query_atoms, and no atom has none."""
        after = [(*row[:5], row[5] + balance[row[0]]) for row in atoms]
        self._sql.replace(schema.atoms, [row for row in after if row[5] > 0])
        self._sql.delete(schema.atoms, ("id",), [(row[0],) for row in after if row[5] <= 0])

    def _drop_empty_shapes(self, shapes: set[int]) -> None:
        used = {shape for (shape,) in self._sql.where(schema.atoms, "shape", shapes, "DISTINCT t.shape")}
        self._sql.delete(schema.shapes, ("id",), [(shape,) for shape in sorted(shapes - used)])
