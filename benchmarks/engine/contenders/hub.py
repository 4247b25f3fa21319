"""triplewire: the hub. The only module of this benchmark that knows its names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from pyoxigraph import NamedNode, Triple

from benchmarks.engine.contenders.contender import Contender, Rows, Step
from benchmarks.engine.workload import Change, Workload
from triplewire import Hub, Publish, Retract, Subscription
from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.model import RDFS


class Triplewire(Contender):
    """Timed: `Hub.apply`, from the changes to the list of events."""

    name = "triplewire"
    events: int = 0

    def __init__(self, workload: Workload, folder: Path) -> None:
        self._hub = Hub(f"sqlite:///{folder / 'triplewire.db'}")
        hierarchy = list(_statements(workload.taxonomy))
        if hierarchy:
            self._hub.set_taxonomy(hierarchy)
        self._hub.subscribe_many(_subscription(i, workload.pattern(i)) for i in range(workload.subscriptions))

    def ready(self, changes: Sequence[Change]) -> list[Step]:
        batch = [Retract(uri) if document is None else Publish(document) for uri, document in changes]
        return [Step(lambda: self._apply(batch))]

    def rows(self, asked: Collection[int]) -> Rows:
        return {i: frozenset(_resource(row) for row in self._hub.rows(str(i))) for i in asked}

    def close(self) -> None:
        self._hub.close()

    def _apply(self, batch: Sequence[Publish | Retract]) -> None:
        self.events += len(self._hub.apply(batch))


def _subscription(number: int, pattern: Pattern) -> Subscription:
    """The subscription of a number; it has no text, because its pattern was generated."""
    return Subscription(str(number), "", "sparql", "graph", "ever", pattern=pattern)


def _resource(row: object) -> str:
    """The one value of a row, which is a resource."""
    (term,) = row.values()  # type: ignore[attr-defined]  # rows are mappings
    assert isinstance(term, NamedNode)
    return term.value


def _statements(taxonomy: Taxonomy) -> Iterator[Triple]:
    for lower, upper in taxonomy.below():
        assert isinstance(lower, NamedNode)
        yield Triple(lower, NamedNode(RDFS + "subClassOf"), upper)
