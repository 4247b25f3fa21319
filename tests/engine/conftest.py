"""What the tests of the engine share: a hub on an embedded store, in memory and in a file."""

from __future__ import annotations

import pytest

from engine.workers import Nursery
from triplewire import Hub

PREFIXES = "@prefix : <urn:> .\n"


@pytest.fixture(params=["memory", "sqlite"])
def hub(request, new_url):
    with Hub(new_url(request.param)) as opened:
        yield opened


@pytest.fixture
def publish(hub):
    """Publish Turtle in which `:name` is `<urn:name>`."""

    def run(text, uri="urn:doc"):
        return hub.publish(PREFIXES + text, uri=uri, media_type="text/turtle")

    return run


@pytest.fixture(scope="session")
def nursery():
    """Makes other processes that use a store."""
    found = Nursery()
    yield found
    found.close()


@pytest.fixture
def publish_in():
    """Publish such Turtle in any hub."""

    def run(hub, text, uri="urn:doc"):
        return hub.publish(PREFIXES + text, uri=uri, media_type="text/turtle")

    return run
