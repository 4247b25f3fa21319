"""Sets of advertised items that are changed in place, so that a step costs what it changes and not what is there (P4).

    ItemSet     what a neighbour was told of
    ItemIndex   what a neighbour, or the clients of a hub, advertise; found by property, to say what could match

How far an item goes is part of it: the same one may be advertised with several reaches, and what a query asks is
whether there is one that goes far enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from triplewire.algebra.pattern import Conjunction, Pattern, TriplePattern
from triplewire.model import Document
from triplewire.network.routing.advertisements import ANYTHING, XML, Advertised, fits, named_property, value_of
from triplewire.network.routing.reaches import HUB, NETWORK


class ItemSet:
    """A set of items. `stamp` is another object after each change: by that it is seen whether it has."""

    def __init__(self, items: Iterable[Advertised] = ()) -> None:
        self._items: set[Advertised] = set()
        self.stamp = object()
        self.change(items, ())

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[Advertised]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ItemSet) and self._items == other._items

    __hash__ = None  # type: ignore[assignment]  # it changes; mypy knows no other way to say so

    def among(self, items: frozenset[Advertised]) -> frozenset[Advertised]:
        """Those of some items that are here."""
        return items & self._items

    def change(self, added: Iterable[Advertised], removed: Iterable[Advertised]) -> frozenset[Advertised]:
        """Items come, and others go; gives those for which that is a change."""
        gone = self._items.intersection(removed)
        new = set(added).difference(self._items).difference(removed)
        if new or gone:
            self._items |= new
            self._items -= gone
            self.stamp = object()
        return frozenset(new | gone)


class ItemIndex(ItemSet):
    """Items, found by what they say."""

    def __init__(self, items: Iterable[Advertised] = ()) -> None:
        self._nearer: dict[Advertised, set[int]] = {}  # by what is said, the reaches that are not the whole network
        self._lengths: Counter[int] = Counter()
        self._values: dict[str, dict[str, int]] = {}  # how many items say a value, each with another reach
        super().__init__(items)

    def change(self, added: Iterable[Advertised], removed: Iterable[Advertised]) -> frozenset[Advertised]:
        """See `ItemSet.change`."""
        changed = super().change(added, removed)
        for item in changed:
            self._count(item, 1 if item in self._items else -1)
        return changed

    def _count(self, item: Advertised, by: int) -> None:
        """An item has come, or gone."""
        if item.reach != NETWORK:
            self._nearer.setdefault(item._replace(reach=NETWORK), set()).symmetric_difference_update((item.reach,))
        if item.kind == "schema":
            self._lengths[len(item.name)] += by
        elif item.kind == "value":
            values = self._values.get(item.name)
            if values is None:
                values = self._values[item.name] = {}
            values[item.value] = values.get(item.value, 0) + by
            if not values[item.value]:
                del values[item.value]

    # -- what is advertised

    def says(self, item: Advertised, reach: int = HUB) -> bool:
        """Whether an item is advertised that goes so far; it is named as one that goes everywhere."""
        return item in self._items or (bool(self._nearer) and max(self._nearer.get(item, ()), default=-1) >= reach)

    def has_any(self, name: str, reach: int = HUB) -> bool:
        """Whether a property is advertised with any value, and that goes so far."""
        return self.says(Advertised("property", name), reach) or any(
            self.says(Advertised("schema", name[:length]), reach) for length, count in self._lengths.items() if count
        )

    def lacking(self, document: Document, reach: int = NETWORK) -> frozenset[Advertised]:
        """What must be advertised besides and go so far, so that a document conforms to it."""
        found: set[Advertised] = set()
        is_said = False
        for triple in document.triples:
            name = named_property(triple.predicate)
            if name is None:
                continue
            is_said = True
            if not (self.has_any(name, reach) or self.says(Advertised("value", name, value_of(triple.object)), reach)):
                found.add(Advertised("property", name))
        if not is_said and len(document):
            found.add(ANYTHING)
        if document.xml:
            found.add(XML)
        return frozenset(item for item in found if not self.says(item, reach))

    def could_match(self, pattern: Pattern, reach: int = HUB) -> bool:
        """Whether a document that conforms to what is advertised, and goes so far, could match."""
        if not self._items:
            return False
        if pattern.asks_xml:
            return self.says(XML, reach)
        return any(self._branch_could_match(branch, reach) for branch in pattern.branches)

    def _branch_could_match(self, branch: Conjunction, reach: int) -> bool:
        return all(self._triple_could_match(branch, triple, reach) for triple in branch.triples)

    def _triple_could_match(self, branch: Conjunction, triple: TriplePattern, reach: int) -> bool:
        name = named_property(triple.predicate)
        if name is None:
            return reach == HUB or any(item.reach >= reach for item in self._items)
        if self.has_any(name, reach):
            return True
        return any(
            fits(value, branch, triple) and self.says(Advertised("value", name, value), reach)
            for value in self._values.get(name, ())
        )
