"""Answers: what lookups have said in one gathering, so that nothing is asked twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from triplewire.matching.incremental.lookups import Lookups
from triplewire.matching.incremental.plans import BACKWARD, FORWARD, PRESENT, SCAN

Key = tuple[int, ...]
Asked = Iterable[tuple[int, Sequence[Key]]]
"""Kinds of moves with keys."""


class LookupAnswers:
    """Counts and triples by kind of move and key. The key of a scan is its predicate and 0."""

    def __init__(self, lookups: Lookups, least: int) -> None:
        """`least` is the smallest `most` that is counted to."""
        self.found: dict[int, dict[Key, Any]] = {kind: {} for kind in (PRESENT, FORWARD, BACKWARD, SCAN)}
        """Lists of triples; for PRESENT whether the triple is there."""
        self._lookups, self._least = lookups, least
        degrees: dict[Key, int] = {}
        self._counts: dict[int, dict[Key, int]] = {FORWARD: {}, BACKWARD: degrees, SCAN: degrees}
        self._counted_to: dict[int, dict[Key, int]] = {FORWARD: {}, BACKWARD: {}}
        """Where counting ended early, at how many."""

    def sizes(self, kind: int, keys: Sequence[Key]) -> list[int]:
        """The counts of keys that have been counted."""
        counts = self._counts[kind]
        return [counts[key] for key in keys]

    def count(self, asked: Asked, most: int) -> None:
        """Count what each key leads to, up to `most`: one lookup forward, one backward."""
        missing: dict[int, set[Key]] = {FORWARD: set(), BACKWARD: set()}
        for kind, keys in asked:
            direction = FORWARD if kind == FORWARD else BACKWARD
            missing[direction].update(set(keys).difference(self._counts[direction]))
            ended = self._counted_to[direction]
            if ended and most > self._least:
                missing[direction].update([key for key in keys if ended.get(key, most) < most])
        for direction, wanted in missing.items():
            if wanted:
                self._note(direction, list(wanted), most)

    def _note(self, direction: int, keys: list[Any], most: int) -> None:
        ask = self._lookups.fanouts if direction == FORWARD else self._lookups.degrees
        ended = self._counted_to[direction]
        for key, count in zip(keys, ask(keys, most), strict=True):
            self._counts[direction][key] = count
            if count >= most:
                ended[key] = most
            else:
                ended.pop(key, None)

    def fetch(self, asked: Asked) -> None:
        """Look up the triples of keys, one lookup for each kind of move."""
        missing: dict[int, set[Key]] = {kind: set() for kind in self.found}
        for kind, keys in asked:
            missing[kind].update(set(keys).difference(self.found[kind]))
        for kind, wanted in missing.items():
            if wanted:
                keys = list(wanted)
                self.found[kind].update(zip(keys, self._ask(kind, keys), strict=True))

    def _ask(self, kind: int, keys: list[Any]) -> Sequence[object]:
        if kind == FORWARD:
            return self._lookups.forward(keys)
        if kind == BACKWARD:
            return self._lookups.backward(keys)
        if kind == SCAN:
            return self._lookups.scan([predicate for predicate, _ in keys])
        return self._lookups.present(keys)
