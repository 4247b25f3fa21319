"""How far a subscription, an advertisement or a document goes, as a height (`model.reach`)."""

from __future__ import annotations

from triplewire.model.reach import HEIGHTS, HUB, NETWORK, reaches_of

__all__ = ["HUB", "NETWORK", "height_of"]


def height_of(reach: str, *, has_units: bool) -> int:
    """The height that a word means; one that is higher than the network is means all of it."""
    words = reaches_of(has_units=has_units)
    if reach not in words:
        raise ValueError(f"reach is one of {', '.join(words)} here, and not {reach!r}")
    return HEIGHTS[reach]
