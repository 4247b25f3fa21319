"""Reach: how far a subscription, an advertisement or a document goes (N4).

It is the height of the widest unit that it may be known in: 0 is the hub alone, 1 its cluster, and so on. In a network
without units there are two heights: the hub, and everybody.
"""

from __future__ import annotations

HUB = 0
NETWORK = 1 << 8
"""Higher than any unit."""

_HEIGHTS = {"hub": HUB, "cluster": 1, "super-cluster": 2, "super-super-cluster": 3, "network": NETWORK}


def height_of(reach: str, *, has_units: bool) -> int:
    """The height that a word means; one that is higher than the network is means all of it."""
    words = [word for word, height in _HEIGHTS.items() if has_units or height in (HUB, NETWORK)]
    if reach not in words:
        raise ValueError(f"reach is one of {', '.join(words)} here, and not {reach!r}")
    return _HEIGHTS[reach]
