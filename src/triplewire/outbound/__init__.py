"""Outbound: requests to machines that strangers name, so that they reach no others.

In come urls that came from outside (web hooks, callbacks, inboxes, feeds) and what to send; out come replies of bounded
size, within a bounded time. A name is resolved here (`lookups`), every address that it has is checked (`addresses`),
and the connection goes to the very address that was checked (`connections`). Redirects are not followed. It never reads
an address of this machine or a private network unless it is told that it may, and sends no cookies.
"""

from triplewire.outbound.addresses import ANYWHERE, PUBLIC, AddressRefused, Nameless, Reach, resolved
from triplewire.outbound.connections import Connections, Reply, Unreachable, retry_after

__all__ = [
    "ANYWHERE",
    "PUBLIC",
    "AddressRefused",
    "Connections",
    "Nameless",
    "Reach",
    "Reply",
    "Unreachable",
    "resolved",
    "retry_after",
]
