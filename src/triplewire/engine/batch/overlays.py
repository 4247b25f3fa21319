"""Overlays: the state that a batch leads to, seen by workers that can read only what is committed.

A batch is applied in one transaction, and other processes see nothing of it before it ends. To look around in its new
state, they lay the batch's changes over their lookups. Only presence is told, not when a document was published.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from triplewire.matching.incremental import Key, Triple
from triplewire.store import Reader
from triplewire.store.terms import TermReader
from triplewire.store.triples import TripleReader

_Name = TypeVar("_Name")
_Keys = Callable[[int, int, int], tuple[Key, ...]]


@dataclass(frozen=True)
class Changes:
    """What a batch changes: triples that no document states any more, triples that one states now, and new terms.

    `after` is the number of the last committed batch, over which this lies.
    """

    after: int
    gone: frozenset[Triple] = frozenset()
    added: frozenset[Triple] = frozenset()
    terms: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The numbers of the new terms."""
        return {text: number for number, text in self.terms.items()}

    @cached_property
    def forward(self) -> Mapping[Key, list[Triple]]:
        """The added triples by subject and predicate; 0 for any predicate."""
        return _grouped(self.added, lambda s, p, o: ((s, p), (s, 0)))

    @cached_property
    def backward(self) -> Mapping[Key, list[Triple]]:
        """The added triples by predicate and object; 0 for any predicate."""
        return _grouped(self.added, lambda s, p, o: ((p, o), (0, o)))

    def __getstate__(self) -> dict[str, object]:
        """What crosses to another process: not what can be worked out there."""
        return {name: getattr(self, name) for name in ("after", "gone", "added", "terms")}


def _grouped(triples: Iterable[Triple], keys_of: _Keys) -> Mapping[Key, list[Triple]]:
    found: defaultdict[Key, list[Triple]] = defaultdict(list)
    for triple in sorted(triples):
        for key in keys_of(*triple):
            found[key].append(triple)
    return found


class Overlaid(Reader):
    """The committed state with changes over it: terms and triples are those of the new state."""

    def __init__(self, reader: Reader, changes: Changes) -> None:
        self.__dict__.update(vars(reader))
        self.terms = _Terms(reader.terms, changes)
        self.triples = _Triples(reader.triples, changes)


class _Terms(TermReader):
    def __init__(self, below: TermReader, changes: Changes) -> None:
        self._below, self._changes = below, changes

    def find(self, texts: Sequence[str]) -> list[int]:
        new = self._changes.numbers
        return [new.get(text, found) for text, found in zip(texts, self._below.find(texts), strict=True)]

    def texts(self, ids: Sequence[int]) -> list[str]:
        new = self._changes.terms
        old = [id for id in ids if id not in new]
        known = dict(zip(old, self._below.texts(old), strict=True))
        return [new[id] if id in new else known[id] for id in ids]


class _Triples(TripleReader):
    """Only without `after`: the new documents' batch is not there yet."""

    def __init__(self, below: TripleReader, changes: Changes) -> None:
        self._below, self._changes = below, changes

    def forward(self, keys: Sequence[Key], after: int = 0) -> list[list[Triple]]:
        return self._merged(keys, self._below.forward(keys, _never(after)), self._changes.forward)

    def backward(self, keys: Sequence[Key], after: int = 0) -> list[list[Triple]]:
        return self._merged(keys, self._below.backward(keys, _never(after)), self._changes.backward)

    def scan(self, predicates: Sequence[int], after: int = 0) -> list[list[Triple]]:
        added = {p: [t for t in sorted(self._changes.added) if p in (0, t[1])] for p in set(predicates)}
        return self._merged(predicates, self._below.scan(predicates, _never(after)), added)

    def _merged(
        self, keys: Sequence[_Name], found: Sequence[Sequence[Triple]], added: Mapping[_Name, Sequence[Triple]]
    ) -> list[list[Triple]]:
        gone = self._changes.gone
        return [
            list(dict.fromkeys([*(triple for triple in there if triple not in gone), *added.get(key, ())]))
            for key, there in zip(keys, found, strict=True)
        ]

    def visible(self, triples: Sequence[Triple], after: int) -> list[bool]:
        gone, added = self._changes.gone, self._changes.added
        there = self._below.visible(triples, _never(after))
        return [t in added or (is_there and t not in gone) for t, is_there in zip(triples, there, strict=True)]

    def degrees(self, keys: Sequence[Key], most: int, after: int = 0) -> list[int]:
        """See `TripleReader.degrees`; what is gone counts, because the number is for choosing an order."""
        there = self._below.degrees(keys, most, _never(after))
        added = self._changes.backward
        return [min(most, count + len(added.get(key, ()))) for key, count in zip(keys, there, strict=True)]

    def predicates(self) -> dict[int, int]:
        """See `TripleReader.predicates`; the same of what is gone."""
        return dict(Counter(self._below.predicates()) + Counter(p for _, p, _ in self._changes.added))


def _never(after: int) -> int:
    assert not after, "an overlay tells what is there, not since when"
    return after
