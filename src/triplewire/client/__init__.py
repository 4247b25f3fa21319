"""A client of a hub that runs elsewhere: the same names as `Hub`, over HTTP.

In come documents, queries and ids; out go the same events, rows and errors that a `Hub` gives, made of what the service
answers. `client` has the names (`deliveries` those of deliveries), `messages` makes and reads what goes over HTTP, and
`connection` proves the account and asks. It never keeps anything: what a hub knows, the hub knows.
"""

from triplewire.client.client import Client
from triplewire.wire.insights import Told

__all__ = ["Client", "Told"]
