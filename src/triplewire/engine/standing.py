"""The standing queries in memory: three indexes that are kept up with the store.

    documents   queries of scope "document", matched against one document at a time
    graph       queries of scope "graph", matched against the gathered neighbourhood of a change
    seeds       the atoms of the graph's queries: which shapes a changed triple may be a part of

Another process may add or remove subscriptions: the store numbers these changes, and `catch_up` brings this process to
the newest. Building the indexes of many subscriptions takes long, so images of them are kept in the store.
"""

from __future__ import annotations

import json
import tempfile
from collections import ChainMap, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import EMPTY, Taxonomy
from triplewire.engine import taxonomies
from triplewire.engine.inspect.graphs import numbers_of
from triplewire.matching import Index
from triplewire.matching.incremental import MOST_TRIPLES, Seed, Shape, enumerating, load_pattern, shape_of
from triplewire.matching.pages import NumberedPage
from triplewire.store import QueryRecord, Reader, Writer

GRAPH, DOCUMENT = "graph", "document"
_INDEXES = ("documents", "graph", "seeds")
_IMAGE = "standing"
_WORTH_AN_IMAGE = 500
_MANY = 10_000
_PATTERNS_KEPT = 20_000


@dataclass(slots=True)
class StandingQuery:
    """A query as the engine works with it: `wide` if optional parts add columns to its rows."""

    id: int
    scope: str
    start: int
    pattern: Pattern
    viewer: str | None = None
    wide: bool = field(init=False)

    def __post_init__(self) -> None:
        self.wide = any(branch.optionals for branch in self.pattern.branches)

    @classmethod
    def of(cls, record: QueryRecord) -> StandingQuery:
        """The query of a record."""
        return cls(record.id, record.scope, record.start, load_pattern(record.pattern), record.viewer)


@dataclass(slots=True)
class NewQueries:
    """New queries, the atoms that seed them (named by `seed_id`) and their shapes; `number` is that of the change."""

    number: int
    queries: Sequence[StandingQuery] = ()
    atoms: Mapping[str, Pattern] = field(default_factory=dict)
    shapes: Mapping[int, Shape] = field(default_factory=dict)


@dataclass(slots=True)
class _Uncommitted:
    """What was learned in a transaction that has not ended; `number` is that of the last change before it."""

    number: int
    queries: list[int] = field(default_factory=list)
    seeds: list[str] = field(default_factory=list)
    shapes: list[int] = field(default_factory=list)


class Standing:
    """The indexes, and what finding and gathering need to know of the queries in them."""

    def __init__(self, most_triples: int = MOST_TRIPLES, images: Path | None = None) -> None:
        """With `images`, a folder, saved indexes are mapped from files there: processes that share it share memory."""
        self.most_triples = most_triples
        """How many triples may be gathered for the answers of one query, or of one shape."""
        self._images = images
        self._forget()

    def _forget(self) -> None:
        self.documents, self.graph, self.seeds = Index(), Index(), Index()
        self.shapes: dict[int, Shape] = {}
        self.taxonomy: Taxonomy = EMPTY
        self.taxonomy_number = -1
        self._starts: dict[int, int] = {}
        self._viewers: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self.wide: set[int] = set()
        """The queries whose rows have optional columns."""
        self.last_start = 0
        """Documents published after this batch are visible to every graph query."""
        self._number = self._imaged = 0
        self._generation: int | None = None
        self._queries: OrderedDict[int, StandingQuery] = OrderedDict()
        self._hearers: dict[int, int] = {}
        self._removed = 0
        self._uncommitted: _Uncommitted | None = None

    # -- keeping up

    def catch_up(self, reader: Reader) -> None:
        """Know all subscriptions that the store has now, and the taxonomy."""
        if self._generation is None:
            self._load(reader)
        changes = reader.subscriptions.changes_after(self._number)
        touched = list(dict.fromkeys(change.query for change in changes))
        for first in range(0, len(touched), _MANY):
            self._take(reader, touched[first : first + _MANY])
        if changes:
            self._number = changes[-1].number
            self._hearers.clear()
        if self._removed > _WORTH_AN_IMAGE:
            self._sweep(reader)
        if reader.generation != self._generation:
            self._numbers.clear()
        self._generation = reader.generation
        number = taxonomies.number_of(reader)
        if number != self.taxonomy_number:
            self.use_taxonomy(taxonomies.read(reader))
            self.taxonomy_number = number

    def learn(self, arrivals: NewQueries) -> None:
        """Know what this process has just written, without reading it; `forget_uncommitted` takes it back."""
        fresh = self._uncommitted = self._uncommitted or _Uncommitted(self._number)
        self._hearers.clear()
        fresh.queries += [query.id for query in arrivals.queries]
        fresh.shapes += arrivals.shapes.keys() - self.shapes.keys()
        for query in arrivals.queries:
            self._add(query)
        for id, pattern in arrivals.atoms.items():
            if id not in self.seeds:
                fresh.seeds.append(id)
                self.seeds.add(id, enumerating(pattern))
        self.shapes.update(arrivals.shapes)
        self._number = arrivals.number

    def settle(self) -> None:
        """What was learned is committed."""
        self._uncommitted = None

    def forget_uncommitted(self) -> None:
        """What was learned since the last `settle` was rolled back; its numbers will be given to others."""
        fresh = self._uncommitted
        self._hearers.clear()
        self.taxonomy_number = -1
        if fresh is None:
            return
        for query in fresh.queries:
            self._drop(query)
        for seed in fresh.seeds:
            if seed in self.seeds:
                self.seeds.remove(seed)
        for shape in fresh.shapes:
            self.shapes.pop(shape, None)
        self._number, self._uncommitted = fresh.number, None

    def _take(self, reader: Reader, queries: Sequence[int]) -> None:
        fresh = []
        for id, record in zip(queries, reader.queries.by_ids(queries), strict=True):
            if record is None:
                self._drop(id)
            elif str(id) not in (self.graph if record.scope == GRAPH else self.documents):
                self._add(StandingQuery.of(record))
                if record.scope == GRAPH:
                    fresh.append(id)
        self._seed(reader, fresh)

    def _add(self, query: StandingQuery) -> None:
        index = self.graph if query.scope == GRAPH else self.documents
        index.add(str(query.id), query.pattern)
        if query.wide:
            self.wide.add(query.id)
        if query.viewer is not None:
            self._viewers[query.id] = query.viewer
        if query.start:
            self._starts[query.id] = query.start
            if query.scope == GRAPH:
                self.last_start = max(self.last_start, query.start)

    def _drop(self, id: int) -> None:
        for index in (self.documents, self.graph):
            if str(id) in index:
                index.remove(str(id))
                self._removed += index is self.graph
        self._starts.pop(id, None)
        self._viewers.pop(id, None)
        self.wide.discard(id)
        self._queries.pop(id, None)

    def _seed(self, reader: Reader, queries: Sequence[int]) -> None:
        if not queries:
            return
        atoms = reader.atoms.atoms(sorted({atom for uses in reader.atoms.of_queries(queries) for atom, _ in uses}))
        for atom in atoms:
            id = seed_id(atom.id, atom.shape, atom.position)
            if id not in self.seeds:
                self.seeds.add(id, enumerating(load_pattern(atom.definition)))
        for shape in reader.atoms.shapes(sorted({atom.shape for atom in atoms} - self.shapes.keys())):
            self.shapes[shape.id] = Shape.decode(shape.definition)

    def _sweep(self, reader: Reader) -> None:
        """Let go of atoms that no query uses: until then they only make a gathering larger than it need be."""
        used = {atom.id for atom in reader.atoms.atoms()}
        for id in [id for id in self.seeds if int(id.split(".")[0]) not in used]:
            self.seeds.remove(id)
        self._removed = 0

    def use_taxonomy(self, taxonomy: Taxonomy) -> None:
        """Test is-a against another taxonomy."""
        self.taxonomy = taxonomy
        for index in (self.documents, self.graph, self.seeds):
            index.set_taxonomy(taxonomy)

    # -- images

    def _load(self, reader: Reader) -> None:
        self._forget()
        found = reader.images.load(_IMAGE)
        if found is None:
            return
        number, described = found
        numbers = reader.images.names()
        if any(numbers.get(f"{_IMAGE}.{name}") != number for name in _INDEXES):
            return
        self.documents, self.graph, self.seeds = (self._opened(reader, name, number) for name in _INDEXES)
        facts = json.loads(described)
        self._starts = {int(id): start for id, start in facts["starts"].items()}
        self._viewers = {int(id): viewer for id, viewer in facts["viewers"].items()}
        self.last_start, self.wide = facts["last"], set(facts["wide"])
        self.shapes = {shape.id: Shape.decode(shape.definition) for shape in reader.atoms.shapes()}
        self._number = self._imaged = number

    def _opened(self, reader: Reader, name: str, number: int) -> Index:
        path = self._images / f"{name}-{number}.index" if self._images is not None else None
        if path is not None and path.exists():
            return Index.load(path)
        image = reader.images.load(f"{_IMAGE}.{name}")
        assert image is not None, "the store has just named it"
        return _opened(image[1], path)

    @property
    def is_worth_an_image(self) -> bool:
        """True if there is enough that the last image did not have."""
        return self._number - self._imaged >= max(_WORTH_AN_IMAGE, (len(self.graph) + len(self.documents)) // 10)

    def keep_image(self, writer: Writer) -> None:
        """Save images for other processes, if it is worth it."""
        if not self.is_worth_an_image:
            return
        for name in _INDEXES:
            writer.images.save(f"{_IMAGE}.{name}", self._number, _closed(getattr(self, name)))
        facts = {"starts": self._starts, "viewers": self._viewers, "last": self.last_start, "wide": sorted(self.wide)}
        writer.images.save(_IMAGE, self._number, json.dumps(facts).encode())
        self._imaged = self._number

    # -- what is known of queries

    def queries(self, reader: Reader, ids: Iterable[int]) -> Mapping[int, StandingQuery]:
        """These queries, with their patterns; the ones that were asked for lately are kept."""
        wanted = list(dict.fromkeys(ids))
        missing = [id for id in wanted if id not in self._queries]
        for record in reader.queries.by_ids(missing):
            if record is not None:
                self._queries[record.id] = StandingQuery.of(record)
        found = {id: self._queries[id] for id in wanted if id in self._queries}
        while len(self._queries) > _PATTERNS_KEPT:
            self._queries.popitem(last=False)
        return found

    def index_of(self, queries: Iterable[StandingQuery]) -> Index:
        """An index of these queries alone, with the taxonomy of now."""
        index = Index(self.taxonomy)
        for query in queries:
            index.add(str(query.id), query.pattern)
        return index

    def hearers(self, reader: Reader, queries: Iterable[int]) -> Mapping[int, int]:
        """How many subscriptions hear each query; known until the subscriptions change, or a backfill ends."""
        known = self._hearers
        missing = [query for query in queries if query not in known]
        if not missing:
            return known
        counted = reader.subscriptions.counts(missing)
        known.update({query: asking for query, (asking, waiting) in counted.items() if not waiting})
        return ChainMap({query: asking - waiting for query, (asking, waiting) in counted.items()}, known)

    def number(self, reader: Reader, text: str) -> int:
        """The number of a term that some query names; these never change while the query is there."""
        found = self._numbers.get(text)
        if not found:
            (found,) = reader.terms.find([text])
            if len(self._numbers) > _PATTERNS_KEPT:
                self._numbers.clear()
            self._numbers[text] = found
        return found

    def start_of(self, query: int) -> int:
        """The batch after which documents are visible to a query."""
        return self._starts.get(query, 0)

    def viewer_of(self, query: int) -> str | None:
        """On whose behalf a query looks; None sees every document."""
        return self._viewers.get(query)

    def users(self, reader: Reader, atoms: Sequence[int], most: int) -> list[list[tuple[int, ...]] | None]:
        """For each atom the constants of the conjunctions that use it, as numbers; None if more than `most`."""
        uses = [reader.atoms.users(atom, most + 1) for atom in atoms]
        queries = self.queries(reader, (query for used in uses if len(used) <= most for query, _ in used))
        spelled = [
            None
            if len(used) > most
            else [_constants(queries[query], branch) for query, branch in used if query in queries]
            for used in uses
        ]
        texts = numbers_of(reader, (text for one in spelled if one is not None for texts in one for text in texts))
        return [
            None if one is None else list(dict.fromkeys(tuple(texts[text] for text in constants) for constants in one))
            for one in spelled
        ]

    def seeds_in(self, page: NumberedPage) -> list[Seed]:
        """The atoms that triples of a page fit; an image may have some whose shape is gone with its last query."""
        seeds = []
        for id, triple in self.seeds.fitting(page):
            atom, shape, position = _parts_of(id)
            if shape in self.shapes:
                seeds.append(Seed(shape, position, triple, atom))
        return seeds

    def is_optional(self, seed: Seed) -> bool:
        """True if the seed's atom is of an optional part."""
        return seed.position >= len(self.shapes[seed.shape].required)


def seed_id(atom: int, shape: int, position: int) -> str:
    """The name of an atom in the index of seeds."""
    return f"{atom}.{shape}.{position}"


@lru_cache(maxsize=_MANY * 10)
def _parts_of(seed: str) -> tuple[int, int, int]:
    """What `seed_id` was given; kept for a while, because triples of one kind fit the same atoms."""
    atom, shape, position = seed.split(".")
    return int(atom), int(shape), int(position)


def _constants(query: StandingQuery, branch: int) -> list[str]:
    return [str(constant) for constant in shape_of(query.pattern.branches[branch]).constants]


def _closed(index: Index) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        index.save(path)
        return path.read_bytes()


def _opened(content: bytes, path: Path | None) -> Index:
    """The index, mapped from a file that nobody else sees, or from one that is whole as soon as others see it."""
    with tempfile.NamedTemporaryFile(dir=path and path.parent, delete=path is None) as file:
        file.write(content)
        file.flush()
        if path is None:
            return Index.load(file.name)
    return Index.load(Path(file.name).replace(path))
