"""Many hubs: links between them, and what travels over these.

`link` is one reliable link; everything between hubs goes over one. `node` is a node with its links. Neither does IO,
reads a clock or draws a random number, so that the same code runs between processes (`channels`, `live`) and, in
virtual time, in `simulation`. Edges are built on `link`, `node`, `exchange` and `channels`, and the simulation has
edges: so importing `network` itself loads nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triplewire.network.simulation import Simulation

__all__ = ["Simulation"]


def __getattr__(name: str) -> object:
    """Load the simulation when it is asked for."""
    if name != "Simulation":
        raise AttributeError(f"module 'triplewire.network' has no attribute {name!r}")
    from triplewire.network.simulation import Simulation

    return Simulation
