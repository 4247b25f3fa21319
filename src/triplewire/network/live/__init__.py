"""Hubs of a network between processes: the nodes that run in simulation, with sockets, keys and a store.

`Federation` is one hub's part in it. Channels (`network.channels`) carry messages between hubs that have proved who
they are, spelled as `spelling` says; the `council` agrees on who is a member and stands where; a `LiveNode` (`node`)
runs the routing of its `places` step by step, and makes each step durable (`states`, `hub`) before anything of it is
told. Subscribers go from one hub to another by `moves`, with `departures` and `settlements`. `acceptance` says what a
neighbour may say; `searches` ask other hubs of a hierarchy what they have. Nothing that another hub sends is trusted
before it is checked, and nothing that it sends ends the hub.
"""

from triplewire.network.live.federation import Federation
from triplewire.network.live.hub import NetworkHub
from triplewire.network.live.node import LiveNode

__all__ = ["Federation", "LiveNode", "NetworkHub"]
