"""Lookups: what gathering asks of a graph. One call is one batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Triple = tuple[int, int, int]
"""Subject, predicate and object as numbers of terms."""

Key = tuple[int, int]
"""Subject and predicate of a forward lookup, or predicate and object of a backward one."""


class Lookups(Protocol):
    """The triples of one state of the metadata. 0 is no term: in a key it stands for any.

    Answers come in the order of what was asked. Counts may end at `most`.
    """

    def terms(self, texts: Sequence[str]) -> list[int]:
        """The numbers of terms from their N-Triples texts; 0 for one that no triple can have."""

    def forward(self, keys: Sequence[Key]) -> list[list[Triple]]:
        """The triples with a subject and a predicate (or any)."""

    def backward(self, keys: Sequence[Key]) -> list[list[Triple]]:
        """The triples with a predicate (or any) and an object."""

    def scan(self, predicates: Sequence[int]) -> list[list[Triple]]:
        """The triples with a predicate (or any)."""

    def present(self, triples: Sequence[Triple]) -> list[bool]:
        """Which of the triples there are."""

    def fanouts(self, keys: Sequence[Key], most: int) -> list[int]:
        """How many triples `forward` would give for each key."""

    def degrees(self, keys: Sequence[Key], most: int) -> list[int]:
        """How many triples `backward` would give for each key; with object 0, how many `scan` would."""
