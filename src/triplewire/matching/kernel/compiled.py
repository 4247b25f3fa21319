"""How the kernel is compiled, and that it is: after an installation the first match takes a minute of processor time.

The first time that Numba compiles a function of ours, and does not load it from disk, the log "triplewire.matching" has
a line (INFO; the command line prints it), and until it is done `is_going_on` is true.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit
from numba.core import event
from numpy.typing import NDArray

Array = NDArray[Any]
"""An array of any kind: numba has its own opinion of each."""

F = TypeVar("F", bound=Callable[..., object])

log = logging.getLogger("triplewire.matching")

SAID = "compiling the matcher, once after it was installed: about a minute of processor time"


def compiled(function: F) -> F:
    """Compile to machine code at the first call, and keep it on disk: later processes load it in milliseconds."""
    return njit(cache=True)(function)  # type: ignore[return-value]  # it is called as the function is


def inlined(function: F) -> F:
    """A part of a compiled function that is written on its own to be read, and costs no call."""
    return njit(inline="always")(function)  # type: ignore[return-value]


class _Listener(event.Listener):
    """Counts the functions of this project that are being compiled; they may be nested."""

    def __init__(self) -> None:
        self.open = 0
        self.is_said = False

    def on_start(self, event: Any) -> None:
        if not _is_ours(event):
            return
        self.open += 1
        if not self.is_said:
            self.is_said = True
            log.info(SAID)

    def on_end(self, event: Any) -> None:
        if _is_ours(event):
            self.open -= 1


def _is_ours(event: Any) -> bool:
    dispatcher = (event.data or {}).get("dispatcher")
    return str(getattr(getattr(dispatcher, "py_func", None), "__module__", "")).startswith("triplewire.")


_listener = _Listener()
event.register("numba:compile", _listener)  # type: ignore[no-untyped-call]  # which is Numba's


def is_going_on() -> bool:
    """Whether some of the kernel is being compiled now, in any thread of this process."""
    return _listener.open > 0


def has_been() -> bool:
    """Whether this process has compiled something, and not found all of it on disk."""
    return _listener.is_said
