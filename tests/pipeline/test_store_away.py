"""A database that goes away while a stream runs: the stream waits, says so, and goes on (X8)."""

from __future__ import annotations

import pytest
from tests.pipeline.streams import Running, eventually

from postgres import HOW_TO_GET_IT, binaries
from postgres import running as a_server
from triplewire import Hub, Unread
from triplewire.errors import StoreUnavailable


@pytest.mark.slow
def test_a_stream_waits_for_a_database_that_restarts(spark, tmp_path):
    if binaries() is None:
        pytest.skip(HOW_TO_GET_IT)
    with a_server() as server:
        url = server.url()
        with Hub(url) as hub:
            hub.subscribe("SELECT ?x { ?x <urn:p> ?y }", id="all")
        world = Running(spark, url, tmp_path)
        try:
            _send(world, 1)
            for number in (2, 3):
                server.stop("fast")
                before = len(world.said)
                eventually(lambda before=before: len(world.said) > before, "it says that the store is away")
                assert "the store cannot be used" in world.said[-1]
                assert world.error is None
                server.start()
                _send(world, number)
            assert len(world.hub.rows("all")) == 3
            assert [event.kind for event in world.hub.events("all")] == ["matched"] * 3
            assert list(world.hub.check()) == []
        finally:
            world.close()


def _send(world: Running, number: int) -> None:
    """Send a document, and wait for it; this process was cut off from the database as well, and tries again."""
    document = Unread(f"urn:document:{number}", f"<urn:{number}> <urn:p> 1 .".encode(), "text/turtle")
    sent: list[int] = []

    def is_sent() -> bool:
        try:
            sent.append(world.hub.submit([document]))
        except StoreUnavailable:
            return False
        return True

    eventually(is_sent, "it is on the log")
    world.wait_for(sent[0])
