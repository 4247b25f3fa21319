"""Reach: how far away a document may have been published for a subscription to count it (N4).

It is the height of the widest unit around the hub: 0 is the hub alone, 1 its cluster, and so on. In a network without
units there are two heights: the hub, and everybody.
"""

from __future__ import annotations

from typing import Literal, get_args

NetworkReach = Literal["hub", "cluster", "super-cluster", "super-super-cluster", "network"]
"""Whose documents count: those published at the hub of the subscription, in a unit around it, or in all the network."""

HUB = 0
NETWORK = 1 << 8
"""Higher than any unit."""

HEIGHTS: dict[str, int] = dict(zip(get_args(NetworkReach), (HUB, 1, 2, 3, NETWORK), strict=True))
"""The words for reaches, from near to far, each with its height."""


def reaches_of(*, has_units: bool) -> list[str]:
    """The words that mean something in a network."""
    return [word for word, height in HEIGHTS.items() if has_units or height in (HUB, NETWORK)]
