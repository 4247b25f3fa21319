"""A peer of a ring between processes: the peer that runs in simulation, with channels, addresses and the time.

In come connections, and what clients ask for; out go frames over channels whose ends have proved who they are.
`addresses` says where peers are found, `peers` runs one. What a peer keeps is in memory: one that stops is gone, and
those that stand in for it go on.
"""

from triplewire.network.live.ring.addresses import AddressBook, PeerAddress
from triplewire.network.live.ring.peers import RING_LINK, LivePeer

__all__ = ["RING_LINK", "AddressBook", "LivePeer", "PeerAddress"]
