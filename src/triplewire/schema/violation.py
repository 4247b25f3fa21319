"""What is wrong with a document, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from pyoxigraph import NamedNode, Triple

from triplewire.model import Term


@dataclass(frozen=True, slots=True)
class Violation:
    """One statement that breaks the schema; `reason` is a sentence that says what to do.

    `triple` is the statement; for a value that is missing, the one that gives the resource its class.
    """

    resource: Term
    property: NamedNode
    value: Term | None
    reason: str
    triple: Triple

    def __str__(self) -> str:
        return self.reason
