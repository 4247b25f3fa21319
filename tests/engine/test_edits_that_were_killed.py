"""A process that edits subscriptions is killed at any moment: each edit is there whole or not at all (X8)."""

from __future__ import annotations

import random
import time

import pytest
from tests.contracts.listening import replayed

from triplewire import Hub

TEXTS = [f"SELECT ?s ?o {{ ?s <urn:p> ?o FILTER(?o > {number}) }}" for number in range(5)]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_edit_is_whole_or_not_at_all(nursery, new_url, tmp_path, kind):
    url, chance = new_url(kind), random.Random(7)
    with Hub(url) as hub:
        for number in range(3):
            hub.subscribe(TEXTS[number], id=f"s{number}")
        hub.publish("".join(f"<urn:{n}> <urn:p> {n} ." for n in range(6)), uri="urn:d")
    ready = tmp_path / "ready"
    for _ in range(4):
        editor = nursery.start("edit", url, str(tmp_path))
        while not ready.exists():
            time.sleep(0.002)
        time.sleep(chance.uniform(0.05, 0.5))
        nursery.kill(editor)
        ready.unlink()
        with Hub(url) as hub:
            assert list(hub.check()) == []
            for number in range(3):
                hub.resume(f"s{number}")
                assert replayed(hub.events(f"s{number}")) == set(hub.rows(f"s{number}"))
            assert len(hub.publish(f"<urn:x> <urn:p> {chance.randint(6, 99)} .", uri="urn:e")) > 0
