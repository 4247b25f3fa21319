"""Back-off: how long to wait before another hub, which could not be reached, is asked again."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class BackOff:
    """A pause that doubles with every failure in a row, from `shortest` to `longest` seconds.

    It reads no clock and draws no number: `pause` is handed one from 0 to 1, so that not all ask again at once when a
    hub is back.

    >>> third = BackOff(0.5, 30.0).failed().failed().failed()
    >>> third.pause(0.5), third.pause(0.0), third.succeeded().failed().pause(0.5)
    (2.0, 1.0, 0.5)
    """

    shortest: float
    longest: float
    failures: int = 0

    def failed(self) -> BackOff:
        """After another failure."""
        return replace(self, failures=self.failures + 1)

    def succeeded(self) -> BackOff:
        """After the other hub was there."""
        return replace(self, failures=0)

    def pause(self, draw: float) -> float:
        """The seconds to wait, from half of the pause to one and a half."""
        doubled = self.shortest * 2.0 ** min(max(self.failures - 1, 0), 60)
        return min(doubled, self.longest) * (0.5 + draw)
