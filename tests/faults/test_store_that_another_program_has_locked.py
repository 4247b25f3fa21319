"""Another program keeps the store locked for its own writing: who asks for health hears why nothing is applied."""

import sqlite3
import time
from contextlib import closing
from threading import Thread

import pytest

from hub.serving import serving
from triplewire.hub import health


def until(question):
    end = time.monotonic() + 30
    while not (answer := question()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return answer


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(health, "_WRITING", 0.2)


def test_health_tells_that_a_batch_does_not_come_to_its_end(tmp_path, impatient):
    with serving(f"sqlite:///{tmp_path}/hub.db") as served:
        served.publish("urn:before", "<urn:a> <urn:b> 1 .")
        assert served.get("/v1/health/live").json()["reasons"] == []
        with closing(sqlite3.connect(tmp_path / "hub.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            client = Thread(target=served.publish, args=("urn:d", "<urn:a> <urn:b> 2 ."))
            client.start()
            told = until(lambda: [each for each in served.get("/v1/health/live").json()["reasons"] if "batch" in each])
            assert "locked by another writer" in told[0]
            other.execute("ROLLBACK")
        client.join()
        until(lambda: served.get("/v1/health/live").json()["reasons"] == [])
        assert served.get("/v1/document", params={"uri": "urn:d"}).status_code == 200
