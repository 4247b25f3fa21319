"""How the kernel is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit
from numpy.typing import NDArray

from triplewire.matching.kernel import compiling  # noqa: F401  # which tells of it

Array = NDArray[Any]
"""An array of any kind: numba has its own opinion of each."""

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile to machine code at the first call, and keep it on disk: later processes load it in milliseconds."""
    return njit(cache=True)(function)  # type: ignore[return-value]  # it is called as the function is


def inlined(function: F) -> F:
    """A part of a compiled function that is written on its own to be read, and costs no call."""
    return njit(inline="always")(function)  # type: ignore[return-value]
