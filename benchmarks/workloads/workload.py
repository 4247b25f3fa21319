"""What every workload is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import EMPTY, Taxonomy
from triplewire.model import Document


class Query(NamedTuple):
    """A subscription as SPARQL: what its document must hold, and what the taxonomy must, beside it."""

    document: str
    taxonomy: str = ""


@dataclass(frozen=True, slots=True)
class Workload:
    """Subscriptions, numbered from 0, and the documents that they are matched against.

    Subscriptions are functions of their number, so that a million of them need no memory. Patterns come marked as
    normal, because normalizing is part of compiling, which is not what is measured.
    """

    name: str
    subscriptions: int
    documents: Sequence[Document]
    pattern: Callable[[int], Pattern]
    query: Callable[[int], Query]
    """The same as SPARQL, written as kindly to a SPARQL engine as the meaning allows."""
    parameter: Callable[[int], str | int] | None = None
    """The one constant in which subscriptions differ, where there is only one."""
    taxonomy: Taxonomy = EMPTY
