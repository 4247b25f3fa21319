"""The hypercube: addresses, and which way messages go (P3).

Nodes stand at the corners of a cube of d dimensions; neighbours differ in one bit of their positions. Every node is
the root of a spanning tree: what came over dimension i goes on over the dimensions above i only, so a broadcast takes
N - 1 messages and at most d rounds, and reaches everybody once. Where there are fewer nodes than corners, a node stands
at several. No IO, no clock, no chance.
"""

from triplewire.network.hypercube.cube import CubeTopology, corner, neighbours, position_of, stand_in
from triplewire.network.hypercube.membership import CubeMember, Membership

__all__ = [
    "CubeMember",
    "CubeTopology",
    "Membership",
    "corner",
    "neighbours",
    "position_of",
    "stand_in",
]
