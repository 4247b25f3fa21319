"""What a document may cost before it is refused."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on one document; raise them for sources that you trust."""

    bytes: int = 16 * 1024 * 1024
    """The length of the text."""
    triples: int = 1_000_000
    """How many triples it states, repetitions counted."""
    expanded: int = 256 * 1024 * 1024
    """The length of its N-Triples: a few prefixes or XML entities can make a small text a very large graph."""
    nesting: int = 256
    """How deep brackets (Turtle, JSON) or elements (XML) may go."""
    elements: int = 1_000_000
    """How many elements and attributes an XML text may have."""
    attribute: int = 1024 * 1024
    """How many characters one attribute of an XML text may have."""
    effort: int = 1_000_000
    """How much superlinear work it may ask for, in about microseconds: names for blank nodes that look alike, JSON-LD
    contexts over and over."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise ValueError(f"the limit {name} must be at least 1")


DEFAULT_LIMITS = Limits()
