"""What a channel to a hub says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

UplinkState = Literal["idle", "connected", "away"]


@dataclass(frozen=True, slots=True)
class UplinkStatus:
    """What the channel to the hub does: nothing was asked yet, there is one, or there is none; and since when."""

    state: UplinkState = "idle"
    since: datetime | None = None
    peer: str = ""
    """The name of the hub, with the fingerprint of its key."""
    heard: datetime | None = None
    """When anything came from the hub."""
    lag: int | None = None
    """Batches of the hub that are missing here; None: that is not known, because the hub is away or silent."""
    confirmed: datetime | None = None
    """When the hub last said that its newest batch is the one that is here."""

    def __str__(self) -> str:
        since = "" if self.since is None else f" since {self.since.astimezone():%Y-%m-%d %H:%M:%S}"
        if self.state != "connected":
            return f"{'no channel' if self.state == 'away' else 'not dialled yet'}{since}"
        lag = "unknown" if self.lag is None else str(self.lag)
        return f"connected to {self.peer}{since}, lag {lag}"
