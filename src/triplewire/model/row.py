"""A row: one answer, a binding of a pattern's answer variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from triplewire.model.natives import Native, native
from triplewire.model.terms import Term


class Row(Mapping[str, Term]):
    """From variable name to term; frozen, hashable, and equal to any mapping with the same terms.

    A variable of an optional part that found nothing is not in it.
    """

    __slots__ = ("_hash", "_terms")

    def __init__(self, terms: Mapping[str, Term]) -> None:
        self._terms = dict(terms)
        self._hash = hash(frozenset(self._terms.items()))

    def __getitem__(self, name: str) -> Term:
        return self._terms[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._terms)

    def __len__(self) -> int:
        return len(self._terms)

    def python(self) -> dict[str, Native]:
        """The same with Python's own values: numbers, truths, days and times; text that knows its language."""
        return {name: native(term) for name, term in self._terms.items()}

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Row):
            return self._hash == other._hash and self._terms == other._terms
        return self._terms == other if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        """Hashes of text differ between processes: the other one finds its own."""
        return Row, (self._terms,)

    def __str__(self) -> str:
        return ", ".join(f"{name} = {term}" for name, term in self._terms.items()) or "(no columns)"

    def __repr__(self) -> str:
        return f"Row({self})"
