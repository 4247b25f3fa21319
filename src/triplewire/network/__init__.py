"""Many hubs: links between them, and what travels over these.

`link` is one reliable link; everything between hubs goes over one. `node` is a node with its links. Neither does IO,
reads a clock or draws a random number, so that the same code runs between processes and, in virtual time, in
`simulation`.
"""

from triplewire.network.simulation import Simulation

__all__ = ["Simulation"]
