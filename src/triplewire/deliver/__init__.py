"""Deliveries: the events of subscriptions, sent to where people want them, at least once and in order (N8, P7).

In come events from the log of a store, and what people want: deliveries, each of one subscription, to a web hook, a
digest's web hook, a WebSub callback or an inbox. Out go signed messages with stable ids, and for each delivery a
cursor that is kept in the store: a receiver that was away gets everything, the next deliverer goes on.

The way of the data: `registry` (what people want, to which `targets`), `dispatcher` (one store: whose turn it is, what
was achieved), `work` (one delivery), `pages` (its next events), `permits` (whether it may still have them), `messages`,
`digests` and `websub` (what is said), `lanes` (not too many at once), `sending` (one message, with `signing` by a
secret of the `vault`), `retrying` (what an answer means: pure), `deliverer` (all of it, in a thread). `stored` has what
people do with the deliveries of a store, `inboxes` finds where notifications go, and `capabilities` are secret
addresses of feeds. It never finds an event, never changes one, and sends to no machine that `triplewire.outbound` does
not allow.
"""

from triplewire.deliver.deliverer import Deliverer
from triplewire.deliver.dispatcher import DeliveryManners
from triplewire.deliver.registry import Deliveries
from triplewire.deliver.retrying import RetryPace

__all__ = ["Deliverer", "Deliveries", "DeliveryManners", "RetryPace"]
