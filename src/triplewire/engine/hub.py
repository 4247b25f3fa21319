"""The hub: documents and subscriptions in, events out, all of it kept in one store."""

from __future__ import annotations

from triplewire.engine.reads import HubReads
from triplewire.engine.writes import HubWrites


class Hub(HubWrites, HubReads):
    """Subscribers register a query once; publishers register, change and withdraw documents; events say what that did.

    `url` is where everything is kept: a file ("hub.db", or a `Path`), ":memory:", or "postgresql://user@host/database".
    Several processes may use one store at the same time: any number reads while one applies a batch; another one that
    wants to write waits for `timeout` seconds at most. `limits` are those of reading documents; a subscription whose
    answers take more than `most_triples` to find fails in that batch, and the others are served. `finder` has
    the rows of large batches looked for by others; without, this process does it. `durable`: what is committed survives
    not only the death of the process, but of the machine, too; each commit waits for the disk.

    >>> hub = Hub(":memory:")
    >>> _ = hub.subscribe("SELECT ?d { ?d <urn:theme> <urn:water> }", language="sparql", id="water")
    >>> [event.kind for event in hub.publish("<urn:d1> <urn:theme> <urn:water> .", uri="urn:doc")]
    ['matched']
    >>> [event.kind for event in hub.retract("urn:doc")]
    ['unmatched']
    """
