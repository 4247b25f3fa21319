"""Compiling, told: after an installation the first match compiles the kernel, which takes a minute of processor time.

Numba says when it compiles a function, and says nothing when it loads one that is on disk. The first time that it
compiles one of ours, the log "triplewire.matching" has a line (INFO; the command line prints it), and until it is done
`is_going_on` is true.
"""

from __future__ import annotations

import logging
from typing import Any

from numba.core import event

log = logging.getLogger("triplewire.matching")

SAID = "compiling the matcher, once after it was installed: about a minute of processor time"
_KIND = "numba:compile"


class _Listener(event.Listener):
    """Counts the functions of this project that are being compiled; they may be nested."""

    def __init__(self) -> None:
        self.open = 0
        self.is_said = False

    def on_start(self, event: Any) -> None:
        """A function is compiled."""
        if not _is_ours(event):
            return
        self.open += 1
        if not self.is_said:
            self.is_said = True
            log.info(SAID)

    def on_end(self, event: Any) -> None:
        """A function of the kernel is compiled."""
        if _is_ours(event):
            self.open -= 1


def _is_ours(event: Any) -> bool:
    dispatcher = (event.data or {}).get("dispatcher")
    return str(getattr(getattr(dispatcher, "py_func", None), "__module__", "")).startswith("triplewire.")


_listener = _Listener()
event.register(_KIND, _listener)  # type: ignore[no-untyped-call]  # which is Numba's


def is_going_on() -> bool:
    """Whether some of the kernel is being compiled now, in any thread of this process."""
    return _listener.open > 0


def has_been() -> bool:
    """Whether this process has compiled something, and not found all of it on disk."""
    return _listener.is_said
