"""What gathering asks of the store: the triples of one state, each question asked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from triplewire.matching.incremental import Triple
from triplewire.store import Reader

Key = tuple[int, int]


class StoreLookups:
    """The current metadata, or the part of it that was published after a batch; answers are kept while it lives.

    So it must not outlive a change of the statements.
    """

    def __init__(self, reader: Reader, after: int = 0) -> None:
        self._terms, self._triples, self._after = reader.terms, reader.triples, after
        self._forward: dict[Key, list[Triple]] = {}
        self._backward: dict[Key, list[Triple]] = {}
        self._statements: dict[int, int] | None = None

    def terms(self, texts: Sequence[str]) -> list[int]:
        """The numbers of terms, 0 for one that is in no triple."""
        return self._terms.find(texts)

    def forward(self, keys: Sequence[Key]) -> list[list[Triple]]:
        """The triples of each (subject, predicate)."""
        return _asked_once(keys, self._forward, lambda fresh: self._triples.forward(fresh, self._after))

    def backward(self, keys: Sequence[Key]) -> list[list[Triple]]:
        """The triples of each (predicate, object)."""
        return _asked_once(keys, self._backward, lambda fresh: self._triples.backward(fresh, self._after))

    def scan(self, predicates: Sequence[int]) -> list[list[Triple]]:
        """The triples of each predicate."""
        return self._triples.scan(predicates, self._after)

    def present(self, triples: Sequence[Triple]) -> list[bool]:
        """Whether each triple is stated."""
        return self._triples.visible(triples, self._after)

    def degrees(self, keys: Sequence[Key], most: int) -> list[int]:
        """How many statements each (predicate, object) has, up to `most`; object 0: how many the predicate has."""
        exact = [key for key in keys if key[1]]
        counted = dict(zip(exact, self._triples.degrees(exact, most, self._after), strict=True)) if exact else {}
        return [counted[key] if key[1] else min(most, self._stated(key[0])) for key in keys]

    def fanouts(self, keys: Sequence[Key], most: int) -> list[int]:
        """How many triples each (subject, predicate) has, up to `most`."""
        return [min(most, len(triples)) for triples in self.forward(keys)]

    def _stated(self, predicate: int) -> int:
        if self._statements is None:
            self._statements = self._triples.predicates()
        return self._statements.get(predicate, 0) if predicate else sum(self._statements.values())


def _asked_once(
    keys: Sequence[Key], known: dict[Key, list[Triple]], ask: Callable[[list[Key]], list[list[Triple]]]
) -> list[list[Triple]]:
    fresh = [key for key in dict.fromkeys(keys) if key not in known]
    if fresh:
        known.update(zip(fresh, ask(fresh), strict=True))
    return [known[key] for key in keys]
