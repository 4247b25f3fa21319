"""Carriage: a frame of one hub for another one, on its way over the links of routers between them.

It is carried at most once, without a promise: the link between the two hubs numbers its frames and sends them again.
So nothing has to be kept on the way, and when a link fails, what is sent again takes another path.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class RoutedFrame:
    """A frame of the hub `sender` for the hub `receiver`, which stands at the router `to`; `path` has where it was."""

    sender: str
    receiver: str
    to: str
    frame: Any
    path: tuple[str, ...] = ()

    def by(self, router: str) -> RoutedFrame:
        """The same, one step later."""
        return replace(self, path=(*self.path, router))
