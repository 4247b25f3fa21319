"""A node of a network: inputs in, frames out; what it must not lose is one value.

In come frames of other nodes, the time, and what clients want; out go frames for other nodes. What a node does with
what it hears is said by its kind (a super-peer, a broker, a peer of a ring). It does no IO, reads no clock and draws no
random number, so that one and the same code runs in a simulation and between processes.
"""

from triplewire.network.node.node import Node, NodeState, Outbox, Participant

__all__ = ["Node", "NodeState", "Outbox", "Participant"]
