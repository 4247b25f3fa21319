"""A peer of a ring between processes: the peer that runs in simulation, with a store, channels, and the time.

In come connections, and what clients ask for; out go frames over channels whose ends have proved who they are, signed
by the peers that they are from. `peers` runs one: what it must not lose is written before anything goes out (`states`),
and read again after a crash (`records`); `memory` is its store. `lines` are its channels, `addresses` where others are
found, `seals` what a parcel proves, and `status` what a peer says of itself.
"""

from triplewire.network.live.ring.addresses import AddressBook, PeerAddress
from triplewire.network.live.ring.lines import RING_LINK
from triplewire.network.live.ring.memory import PeerMemory, PeerSubscription
from triplewire.network.live.ring.peers import LivePeer

__all__ = ["RING_LINK", "AddressBook", "LivePeer", "PeerAddress", "PeerMemory", "PeerSubscription"]
