"""Networks of nodes in virtual time: one seed, one run, message for message.

In come nodes and what happens to them; out comes what they have told each other, and when. Delays, loss, duplication,
reordering, partitions, crashes and restarts are drawn from one seed. It uses no clock, no thread and no socket.
"""

from triplewire.network.hierarchy import AnswerCount
from triplewire.network.simulation.cubes import CubeNetwork
from triplewire.network.simulation.edges import EdgeNetwork
from triplewire.network.simulation.hierarchies import FoundQuery, HierarchyClient, HierarchyNetwork
from triplewire.network.simulation.hosts import HostedNetwork, MovingClient
from triplewire.network.simulation.networks import SimulatedClient, SimulatedNetwork
from triplewire.network.simulation.rings import RingNetwork
from triplewire.network.simulation.simulation import Simulation
from triplewire.network.simulation.traces import Hops, Sight, ToldEvent, Trace
from triplewire.network.simulation.wirings import Wiring, drawn_links
from triplewire.network.simulation.workloads import Played, Workload, document_uri, play
from triplewire.network.simulation.world import World

__all__ = [
    "AnswerCount",
    "CubeNetwork",
    "EdgeNetwork",
    "FoundQuery",
    "HierarchyClient",
    "HierarchyNetwork",
    "Hops",
    "HostedNetwork",
    "MovingClient",
    "Played",
    "RingNetwork",
    "Sight",
    "SimulatedClient",
    "SimulatedNetwork",
    "Simulation",
    "ToldEvent",
    "Trace",
    "Wiring",
    "Workload",
    "World",
    "document_uri",
    "drawn_links",
    "play",
]
