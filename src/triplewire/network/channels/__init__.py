"""Channels between processes: one connection, both ends of which have proved who they are, and what goes over it.

In come connections and keys; out come messages in JSON, one after the other, of a peer that is who it says. `channels`
is one channel, `handshake` and `identities` how its ends know each other, `dialling` how it begins, `spelling` how
frames of a link are written on it. `ends` are the ends of an exchange (`exchanges`) between an edge and its hub, or two
hubs of a backbone; `uplinks` is how one of them is dialled, `desks` where it answers, `status` what it says of itself.
What hubs of a network tell each other is no matter of a channel: that is `network.live`. Importing this loads none of
it, as whoever has an edge need not have a connection.
"""
