"""The ring: peers that nobody owns answer continuous queries together (S1 to S6).

In come queries, documents, and frames of other peers; out go frames, and what subscribers are told. Peers stand on a
circle (Chord); what is stated, and what is asked, goes to the peer that is responsible for a key of it, and partial
results travel from one to the next. No IO, no clock, no chance.

`identifiers` are places on the circle, `views` what a peer knows of the ring, `post` how something gets to a place and
what comes of it. `queries` says which subquery waits where (SQC and MQC), `keys` what is kept under one key, `members`
which queries wait there, `statements` what results stand on, `holdings` what comes of it under all keys of a peer.
`loads` and `splits` share out keys that become hot. `homes` and their `subscriptions` are what clients see, and `peers`
ties all this together. `spelling` and its `notation` are messages as JSON, which are read as those of strangers.
"""

from triplewire.network.ring.homes import HomeState, Limited
from triplewire.network.ring.peers import PeerState, RingPeer
from triplewire.network.ring.queries import Algorithm
from triplewire.network.ring.settings import RingSettings
from triplewire.network.ring.subscriptions import RingSubscription
from triplewire.network.ring.views import RingView, ideal

__all__ = [
    "Algorithm",
    "HomeState",
    "Limited",
    "PeerState",
    "RingPeer",
    "RingSettings",
    "RingSubscription",
    "RingView",
    "ideal",
]
