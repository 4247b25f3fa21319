"""Rows by the numbers of their terms, and what rows have in common that differ only in optional columns."""

from __future__ import annotations

from collections.abc import Mapping

from triplewire.algebra.pattern import Pattern
from triplewire.matching.incremental import Triple
from triplewire.matching.pages import Terms

Key = tuple[int, Terms]
"""A row of a query: its terms in the order of the query's answer, 0 where an optional column has no value."""

Derivation = tuple[Triple, ...]
Rows = dict[Key, Derivation]
"""Rows, each with the triples that make it."""

Reason = tuple[Terms, Derivation]
"""A row and the triples that make it, whichever queries it is of."""


class RequiredParts:
    """What rows of wide queries have in their required columns: all rows that have the same there are told together.

    A row that lacks an optional column is one only if the column's triples are nowhere, so it cannot be found alone.
    """

    def __init__(self, patterns: Mapping[int, Pattern]) -> None:
        self.columns = {query: _required(pattern) for query, pattern in patterns.items()}
        """By query, the names of the columns that have a value in every row, whichever branch it is of."""
        self._places = {
            query: [pattern.answer.index(name) for name in self.columns[query]] for query, pattern in patterns.items()
        }

    def of(self, key: Key) -> Key:
        """The part of a row."""
        query, terms = key
        return query, tuple([terms[place] for place in self._places[query]])


def _required(pattern: Pattern) -> tuple[str, ...]:
    bound = [branch.variables.union(name for name, _ in branch.bindings) for branch in pattern.branches]
    return tuple(name for name in pattern.answer if all(name in names for names in bound))
