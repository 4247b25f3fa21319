"""A peer of a ring behind HTTP: the routes of a hub, as far as a ring can do what they ask.

In come requests of clients, and connections of other peers; out go answers when what was asked is durable. Who may ask
is found out as at a hub (`reception`, `identity`); all else is the live peer's (`network.live.ring`). What a ring
cannot do is refused with words that say what to do instead (`refusals`).
"""

from triplewire.hub.ring.app import create_peer_app

__all__ = ["create_peer_app"]
