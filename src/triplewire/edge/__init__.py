"""An edge: a hub that keeps what another hub tells it, and what is its own (M1, M7, M8).

In come answers of a hub to the edge's questions (`wire.edges`), and private documents; out comes all that a `Hub`
gives, from the edge's own store, whether the other hub can be reached or not. `edge` has the `Edge`, `rules` what it
follows, `uplinks` whom it asks, `cache` how it keeps what it is told, `status` what it says of itself. Nothing private
is ever part of a question.
"""

from __future__ import annotations

from triplewire.edge.edge import Edge
from triplewire.edge.status import AsOf, Cause, EdgeStatus, FollowedRule, Synced
from triplewire.network.channels.status import UplinkStatus

__all__ = ["AsOf", "Cause", "Edge", "EdgeStatus", "FollowedRule", "Synced", "UplinkStatus"]
