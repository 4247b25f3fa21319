"""Channels between processes: one connection, both ends of which have proved who they are, and what goes over it.

In come connections and keys; out come messages in JSON, one after the other, of a peer that is who it says. `channels`
is one channel, `handshake` and `identities` how its ends know each other, `dialling` how it begins, `spelling` how
frames of a link are written on it. `uplinks` and `desks` are the ends of the exchange between an edge and its hub
(`exchanges`), `status` what an edge's end says of itself. What hubs of a network tell each other is no matter of a
channel: that is `network.live`. Importing this loads none of it, as whoever has an edge need not have a connection.
"""
