"""Routing: who must hear what. Advertisements say what a hub's publishers publish, interests what its clients ask for.

In come advertisements, subscriptions and documents of clients, and what neighbours tell; out go messages to neighbours
and events for clients. An interest goes only where an advertisement could match it and no wider interest went before
it; a document goes back the way of the interests that it matches. Which way a message may go on is said by a
topology. No IO, no clock, no chance.
"""

from triplewire.network.routing.advertisements import Advertisement
from triplewire.network.routing.hubs import RoutingHub
from triplewire.network.routing.messages import Advertise, DocumentSent, RoutesTold, Subscribe
from triplewire.network.routing.moves import MovingHub, MovingState
from triplewire.network.routing.reaches import HUB, NETWORK, height_of
from triplewire.network.routing.state import RoutingState
from triplewire.network.routing.topologies import Topology

__all__ = [
    "HUB",
    "NETWORK",
    "Advertise",
    "Advertisement",
    "DocumentSent",
    "MovingHub",
    "MovingState",
    "RoutesTold",
    "RoutingHub",
    "RoutingState",
    "Subscribe",
    "Topology",
    "height_of",
]
