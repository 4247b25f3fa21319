"""Identifiers: places on the circle, and the keys that are hashed to them (section 2).

A key names which places of a triple it speaks of, and each value with its length, so that no two combinations of values
are spelled alike: a predicate and an object of equal spelling are two keys, and so are `ab` + `c` and `a` + `bc`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha1

from triplewire.model import Term

BITS = 64
SIZE = 1 << BITS


@lru_cache(maxsize=200_000)
def identify(text: str) -> int:
    """Where a key, or a peer of this name, is on the circle."""
    return int.from_bytes(sha1(text.encode(), usedforsecurity=False).digest()[: BITS // 8])


def distance(start: int, end: int) -> int:
    """How far it is, clockwise."""
    return (end - start) % SIZE


def is_between(place: int, start: int, end: int) -> bool:
    """Whether a place is after `start`, and at `end` at the latest; from a place to itself is once around."""
    return (distance(start, place) or SIZE) <= (distance(start, end) or SIZE)


@lru_cache(maxsize=50_000)
def spelled_key(places: str, terms: tuple[Term, ...]) -> str:
    """The key of some values of a triple; `places` has a letter for each: s, p, o.

    >>> from pyoxigraph import NamedNode
    >>> spelled_key("p", (NamedNode("urn:p"),))
    'p 7:<urn:p>'
    """
    return f"{places} " + "".join(f"{len(text)}:{text}" for text in map(str, terms))


def key_at(places: str, triple: Iterable[Term]) -> str:
    """The key of some places of a triple."""
    return spelled_key(places, tuple(term for place, term in zip("spo", triple, strict=True) if place in places))
