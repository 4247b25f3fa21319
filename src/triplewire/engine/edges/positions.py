"""Positions: a batch of a hub, by its number and by what only that batch has.

A store that was restored, or is another one, has no such batch, and its edges ask for everything: positions of another
history are never trusted. A position also has the number of changes of access lists: where these changed, a viewer's
past cannot be reconstructed, and is not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_POSITION = re.compile(r"([0-9]{1,15})\.([0-9]{1,15})\.([0-9a-f]*)")
_LONGEST = 100
_REMEMBERED = 256


class HubPosition(NamedTuple):
    """A batch, and the number of changes of access lists until then."""

    number: int
    lists: int
    mark: str

    @classmethod
    def read(cls, text: str) -> HubPosition:
        """The position that was told; one that nobody told is none of this hub."""
        return _read(text) if len(text) <= _LONGEST else cls(0, 0, text)

    def __str__(self) -> str:
        return f"{self.number}.{self.lists}.{self.mark}"


@lru_cache(maxsize=_REMEMBERED)
def _read(text: str) -> HubPosition:
    """Edges that keep up are all at the same few positions."""
    told = _POSITION.fullmatch(text)
    return HubPosition(0, 0, text) if told is None else HubPosition(int(told[1]), int(told[2]), told[3])
