"""The fault harness: it finds nothing where nothing is wrong, and finds what is."""

from __future__ import annotations

import json
import threading
import time

import httpx
import pytest
from benchmarks.faults import run
from benchmarks.faults.load import Fate, Publisher
from benchmarks.faults.reconciliation import reconcile
from benchmarks.faults.world import made


def test_a_document_may_be_what_was_acknowledged_or_what_was_sent_after_that():
    assert set(Fate("one", ["two", None]).allowed) == {"one", "two", None}


@pytest.mark.slow
def test_nothing_is_lost_while_a_service_is_broken(tmp_path):
    found = tmp_path / "faults.jsonl"
    options = ["--minutes", "0.5", "--store", "sqlite", "--pipeline", "engine", "--pause", "1", "--json", str(found)]
    assert run.main(options) == 0
    (line,) = map(json.loads, found.read_text().splitlines())
    assert sum(line["done"].values()) >= 3
    assert line["told"]["acknowledged"] > 100


@pytest.mark.slow
def test_what_is_taken_away_behind_its_back_is_found():
    with made("sqlite", "engine") as world:
        stop = threading.Event()
        publisher = Publisher(world.url, 0, 1, stop)
        publisher.start()
        time.sleep(5)
        stop.set()
        publisher.join()
        assert not reconcile(world, [publisher]).lost
        uri = next(uri for uri, fate in publisher.fates.items() if fate.acknowledged is not None)
        httpx.delete(f"{world.own_url}/v1/document", params={"uri": uri}, trust_env=False).raise_for_status()
        assert [sentence.partition(": ")[0] for sentence in reconcile(world, [publisher]).lost] == [uri]
