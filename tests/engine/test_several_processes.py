"""Several processes with one hub's store: writers take turns, readers see whole batches, all hear of all."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from tests.contracts.reference import Reference

from engine.workers import PATHS, SUBSCRIPTIONS, TOGETHER, VALUES, VALUES_OF_XML, batch
from triplewire import Hub
from triplewire.model import Row

kinds = pytest.mark.parametrize("kind", ["sqlite", "postgresql"])


@kinds
def test_two_processes_that_apply_at_once_lose_no_batch_and_share_no_cursor(nursery, new_url, kind):
    url = new_url(kind)
    reference = Reference()
    with Hub(url) as hub:
        for engine in (hub, reference):
            for id, text in SUBSCRIPTIONS.items():
                engine.subscribe(text, language="sparql", id=id, scope="graph", start="ever")
            for id, query in PATHS.items():
                engine.subscribe(query, language="xpath", id=id, start="ever")
        workers = [nursery.start("apply", url, name) for name in ("ada", "bob")]
        assert [nursery.end(worker) for worker in workers] == [0, 0]
        order = [record.id for record in hub.batches(limit=1000)]
        assert Counter(order) == Counter(f"{name} {number}" for name in ("ada", "bob") for number in range(20))
        for id in order:
            name, number = id.split()
            reference.apply(batch((name, int(number))), batch=id)
        cursors = []
        for id in (*SUBSCRIPTIONS, *PATHS):
            log = hub.events(id)
            assert Counter(map(_said, log)) == Counter(map(_said, reference.events(id)))
            assert set(hub.rows(id)) == set(map(Row, reference.rows(id)))
            own = [event.cursor for event in log]
            assert own == sorted(own)
            cursors += own
        assert len(cursors) == len(set(cursors))
        assert list(hub.check()) == []


def _said(event):
    return event.batch, event.kind, event.row


@kinds
def test_readers_see_whole_batches_while_another_process_applies(nursery, new_url, kind):
    url = new_url(kind)
    with Hub(url) as hub:
        for scope in ("graph", "document"):
            hub.subscribe(VALUES, id=scope, scope=scope)
        hub.subscribe(VALUES_OF_XML, id="xml")
        readers = [nursery.start("read", url, "ada 24") for _ in range(3)]
        writer = nursery.start("toggle", url, "ada")
        assert [nursery.end(worker) for worker in (writer, *readers)] == [0, 0, 0, 0]
        assert len(hub.events("graph")) == TOGETHER * (1 + 2 * 24)
        assert Counter(event.kind for event in hub.events("xml")) == {"matched": TOGETHER, "changed": TOGETHER * 24}


@kinds
def test_a_subscription_made_in_one_process_is_served_by_a_batch_of_another(nursery, new_url, kind, tmp_path):
    """The other process has its hub open, and has matched before."""
    url = new_url(kind)
    with Hub(url) as hub:
        worker = nursery.start("serve", url, str(tmp_path))
        deadline = time.monotonic() + 30
        while not (tmp_path / "ready").exists() and time.monotonic() < deadline:
            time.sleep(0.002)
        hub.subscribe(VALUES, id="now", scope="graph")
        hub.subscribe(VALUES, id="ever", scope="document", start="ever")
        hub.subscribe(VALUES_OF_XML, id="xml", start="ever")
        (tmp_path / "go").touch()
        assert nursery.end(worker) == 0
        assert {row["v"].value for row in hub.rows("now")} == {"1"}
        assert [event.kind for event in hub.events("now")] == ["matched"] * TOGETHER
        assert Counter(event.kind for event in hub.events("ever")) == {"matched": 2 * TOGETHER, "unmatched": TOGETHER}
        assert Counter(event.kind for event in hub.events("xml")) == {"matched": TOGETHER, "changed": TOGETHER}
