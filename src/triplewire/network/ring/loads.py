"""How busy a peer is, beside the others: what decides when a key is hot.

Peers say with each frame how much they have done lately, in the paper's unit; what a peer hears of others tells it what
is usual. A peer that does much more than that splits the keys that more work comes to (see `splits`).
"""

from __future__ import annotations

HALF_LIFE = 3600.0
"""Seconds after which work that was done counts half."""

LEAST = 8.0
"""The work that is usual at least, so that nothing is split where there is hardly anything to do."""

WORTH = 1 / 32
"""The part of what is too much for a peer that a key must bring, to be worth splitting."""

_HEARD = 64
"""So many peers are remembered."""


class FadingWork:
    """Work that counts less the longer ago it was done."""

    __slots__ = ("_amount", "_at")

    def __init__(self) -> None:
        self._amount, self._at = 0.0, 0.0

    def value(self, now: float) -> float:
        """What it counts now."""
        age = now - self._at
        return self._amount * 0.5 ** (age / HALF_LIFE) if age > 0 else self._amount

    def add(self, amount: float, now: float) -> None:
        """More work was done."""
        self._amount, self._at = self.value(now) + amount, max(now, self._at)


class PeerLoads:
    """What a peer has done lately, and what it has heard of others."""

    def __init__(self) -> None:
        self.own = FadingWork()
        self._heard: dict[str, float] = {}

    def hear(self, peer: str, load: float) -> None:
        """Another peer says how much it has done."""
        self._heard.pop(peer, None)
        self._heard[peer] = load
        if len(self._heard) > _HEARD:
            del self._heard[next(iter(self._heard))]

    @property
    def usual(self) -> float:
        """How much peers have done, as far as this one has heard."""
        return max(LEAST, sum(self._heard.values()) / len(self._heard)) if self._heard else LEAST

    def is_too_much(self, times: float, key: FadingWork, amount: float, now: float) -> bool:
        """Whether a key that work comes to now should be split: so many times the usual is too much for a peer."""
        most = times * self.usual
        return self.own.value(now) + amount > most and key.value(now) + amount >= max(2.0, WORTH * most)
