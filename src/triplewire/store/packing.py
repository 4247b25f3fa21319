"""Lists of numbers as bytes, and the digests by which long things are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from struct import Struct
from typing import TypeVar

Triple = tuple[int, int, int]
Item = TypeVar("Item")


@lru_cache(maxsize=64)
def _numbers(count: int) -> Struct:
    """64-bit numbers, little-endian on every machine."""
    return Struct(f"<{count}q")


def pack(numbers: Sequence[int]) -> bytes:
    """The numbers as bytes."""
    return _numbers(len(numbers)).pack(*numbers)


def unpack(packed: bytes) -> tuple[int, ...]:
    """The numbers that `pack` was given."""
    return _numbers(len(packed) // 8).unpack(packed)


def pack_triples(triples: Iterable[Triple]) -> bytes:
    """Triples of numbers, one after the other."""
    return pack([number for triple in triples for number in triple])


def unpack_triples(packed: bytes) -> tuple[Triple, ...]:
    """The triples that `pack_triples` was given."""
    numbers = iter(unpack(packed))
    return tuple(zip(numbers, numbers, numbers, strict=True))


class Made(dict[Item, bytes]):
    """The bytes of things of which many are the same: each is made once."""

    def __init__(self, make: Callable[[Item], bytes]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, item: Item) -> bytes:
        made = self[item] = self._make(item)
        return made


def digest(content: bytes) -> bytes:
    """16 bytes that stand for this content: short to index, and no two contents that can be found share them."""
    return blake2b(content, digest_size=16).digest()


def digest_of(*parts: str | int) -> bytes:
    """The digest of several values; the parts' borders count."""
    return digest("\0".join(str(part) for part in parts).encode())
