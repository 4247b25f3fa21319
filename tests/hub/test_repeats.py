"""Requests with a key: applied and noted, or neither."""

from __future__ import annotations

import pytest

from triplewire import Hub, parse
from triplewire.errors import StoreUnavailable, TaxonomyError
from triplewire.hub.changes import repeats
from triplewire.hub.changes.orders import Order
from triplewire.model import RDFS, Publish

CIRCLE = f"<urn:a> <{RDFS}subClassOf> <urn:b> . <urn:b> <{RDFS}subClassOf> <urn:a> ."


def send(hub: Hub, uri: str, text: str) -> None:
    """A request that publishes a document, as a batch of its own."""
    order, batch = Order(uri, text.encode(), "text/turtle"), repeats.batch_of("monday")
    kept = repeats.keeping("ada", "monday", batch, [order], {uri: None})
    hub.apply([Publish(parse(text, uri=uri))], batch=batch, handled=kept)


def is_noted(hub: Hub) -> bool:
    with hub.store.reading() as reader:
        return reader.repeats.find("ada", "monday", 0) is not None


def test_a_request_that_fails_is_not_noted_and_one_that_cannot_be_noted_is_not_applied():
    """Invariant of `hub.changes.repeats`: a request is noted in the transaction that applies it."""
    with Hub(":memory:") as hub:
        with pytest.raises(TaxonomyError):
            send(hub, "urn:circle", CIRCLE)
        assert not is_noted(hub)
        send(hub, "urn:first", "<urn:s> <urn:p> 1 .")
        assert is_noted(hub)
        with pytest.raises(StoreUnavailable, match="was applied at this moment"):
            send(hub, "urn:second", "<urn:s> <urn:p> 2 .")
        assert [version.uri for version in hub.documents()] == ["urn:first"]
