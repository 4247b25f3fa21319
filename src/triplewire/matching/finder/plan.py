"""A plan: what a worker needs to know of the queries, in flat files that workers of one machine share."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from triplewire.matching.finder.finder import Rows, SeededQueries
from triplewire.matching.incremental import Seed, Shape, Triple
from triplewire.matching.incremental.flat import NumberLists
from triplewire.matching.index import Index
from triplewire.matching.kernel.compiled import Array
from triplewire.matching.pages import Numbered

_ARRAYS = ("queries", "seeds", "widths", "use_starts", "uses", "constant_starts", "constants")
"""The arrays of a plan, as its files are named."""


class WideBranch(NamedTuple):
    """A branch with optional parts: where its seed and its answer are in the rows of its entry.

    A row that lacks an optional column is an answer only if the column's triples are not in the graph. Those around a
    seed have been gathered; those around another triple, which is there by chance, perhaps not. So these rows tell the
    triple that they have at the seeded position, and count only where it is a seed of this branch: one of another
    branch may have gone another way, by that one's constants.
    """

    atom: int
    columns: tuple[int, ...]
    """By column of the answer, its place in a row; -1 for one that this branch does not have."""
    seed: tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
    """The triple's places in a row; a constant is -1 and its number."""

    def seed_in(self, row: Sequence[int]) -> Triple:
        """The triple that a row has at the seeded position."""
        s, p, o = (row[place] if place >= 0 else number for place, number in self.seed)
        return s, p, o

    def answer_in(self, row: Sequence[int]) -> tuple[int, ...]:
        """The row without what tells the seed."""
        return tuple([row[place] if place >= 0 else 0 for place in self.columns])


@dataclass(frozen=True, slots=True)
class SeedPlan(SeededQueries):
    """Where queries begin, and the index that finds their rows.

    An *entry* of the index is a query, or a branch of one that is wide; an *atom* is a kind of triple at a position of
    a shape at which some conjunction is seeded.
    """

    index: Index
    shapes: Mapping[int, Shape]
    wide: dict[int, WideBranch]
    queries: Array
    """By entry, its query."""
    seeds: Array
    """Rows of kind, shape, position and atom, by kind."""
    entries: NumberLists
    """By atom, the entries that are seeded there."""
    constants: NumberLists
    """By atom, the constants of these entries' conjunctions, one conjunction after the other."""
    widths: Array
    """By atom, how many constants a conjunction has there."""
    _places: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict, init=False, compare=False)
    """By kind, where its triples are seeds; those that were asked for."""

    @property
    def kinds(self) -> list[int]:
        """The kinds of triples that are seeds."""
        return np.unique(self.seeds[:, 0]).tolist()

    @property
    def is_deep(self) -> bool:
        """See `SeededQueries.is_deep`: rows of wide branches are told by their seeds."""
        return not self.wide

    def seeds_of(self, share: Iterable[tuple[int, Triple]]) -> list[Seed]:
        """The seeds that triples of the graph are, each given with a kind that it is of."""
        return [
            Seed(shape, position, triple, atom)
            for kind, triple in share
            for shape, position, atom in self._places_of(kind)
        ]

    def _places_of(self, kind: int) -> list[tuple[int, int, int]]:
        if kind not in self._places:
            first, last = np.searchsorted(self.seeds[:, 0], (kind, kind + 1))
            self._places[kind] = [(shape, place, atom) for _, shape, place, atom in self.seeds[first:last].tolist()]
        return self._places[kind]

    def uses(self, atom: int) -> list[int]:
        return self.entries(atom)

    def query_of(self, entry: int) -> int:
        return int(self.queries[entry])

    def rows(self, found: Iterable[Numbered], seeds: Iterable[Seed], only: Collection[int] | None) -> Rows:
        """See `SeededQueries.rows`; of a wide branch only those that have a seed where it was planted."""
        planted = {(seed.atom, seed.triple) for seed in seeds} if self.wide else set()
        rows: Rows = {}
        for id, row, derivation in found:
            entry = int(id)
            if only is not None and entry not in only:
                continue
            wide = self.wide.get(entry)
            if wide is not None:
                if (wide.atom, wide.seed_in(row)) not in planted:
                    continue
                row = wide.answer_in(row)
            rows.setdefault((int(self.queries[entry]), row), derivation)
        return rows

    def users(self, atoms: Sequence[int], most: int) -> list[list[tuple[int, ...]] | None]:
        """`Users`: the constants of the conjunctions that are seeded at each atom; None if more than `most`."""
        return [self._constants_of(atom, most) for atom in atoms]

    def _constants_of(self, atom: int, most: int) -> list[tuple[int, ...]] | None:
        width = int(self.widths[atom])
        if not width:
            return [()]
        if int(self.constants.starts[atom + 1] - self.constants.starts[atom]) > most * width:
            return None
        numbers = self.constants(atom)
        return list(zip(*(numbers[place::width] for place in range(width)), strict=True))

    def save(self, folder: Path) -> None:
        """Write it to a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self.index.save(folder / "index")
        arrays = (self.queries, self.seeds, self.widths, *self.entries, *self.constants)
        for name, array in zip(_ARRAYS, arrays, strict=True):
            np.save(folder / f"{name}.npy", array)
        plain = {
            "shapes": [shape.encode() for shape in self.shapes.values()],
            "wide": self.wide,
            "limits": self.index.limits,
        }
        (folder / "plan.json").write_text(json.dumps(plain), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> SeedPlan:
        """The plan that was saved, mapped into memory."""
        plain = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
        queries, seeds, widths, *lists = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS)
        max_rows, max_steps = plain["limits"]
        return cls(
            Index.load(folder / "index", max_rows=max_rows, max_steps=max_steps),
            dict(enumerate(map(Shape.decode, plain["shapes"]))),
            {int(entry): _wide(*fields) for entry, fields in plain["wide"].items()},
            queries,
            seeds,
            NumberLists(lists[0], lists[1]),
            NumberLists(lists[2], lists[3]),
            widths,
        )


def _wide(atom: int, columns: list[int], seed: list[list[int]]) -> WideBranch:
    s, p, o = ((place, number) for place, number in seed)
    return WideBranch(atom, tuple(columns), (s, p, o))


def save_plans(plans: Sequence[SeedPlan], folder: Path) -> None:
    """Write plans to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, plan in enumerate(plans):
        plan.save(folder / str(number))


def load_plans(folder: Path) -> list[SeedPlan]:
    """The plans that were saved."""
    return [SeedPlan.load(path) for path in sorted(folder.iterdir())]
