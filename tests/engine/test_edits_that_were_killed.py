"""A process that edits subscriptions is killed at any moment: each edit is there whole or not at all (X8)."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from tests.contracts.listening import replayed

from triplewire import Hub

TEXTS = [f"SELECT ?s ?o {{ ?s <urn:p> ?o FILTER(?o > {number}) }}" for number in range(5)]
EDITOR = """
import sys
from itertools import count
from triplewire import Hub

with Hub(sys.argv[1]) as hub:
    print("ready", flush=True)
    for number in count():
        text = f"SELECT ?s ?o {{ ?s <urn:p> ?o FILTER(?o > {number % 5}) }}"
        hub.edit(f"s{number % 3}", text=text, paused=number % 7 == 0, title=str(number))
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_edit_is_whole_or_not_at_all(new_url, kind):
    url, chance = new_url(kind), random.Random(7)
    with Hub(url) as hub:
        for number in range(3):
            hub.subscribe(TEXTS[number], id=f"s{number}")
        hub.publish("".join(f"<urn:{n}> <urn:p> {n} ." for n in range(6)), uri="urn:d")
    for _ in range(4):
        with subprocess.Popen([sys.executable, "-c", EDITOR, url], stdout=subprocess.PIPE) as editor:
            assert editor.stdout.readline() == b"ready\n"
            with pytest.raises(subprocess.TimeoutExpired):
                editor.wait(chance.uniform(0.05, 0.5))
            editor.kill()
        with Hub(url) as hub:
            assert list(hub.check()) == []
            for number in range(3):
                hub.resume(f"s{number}")
                assert replayed(hub.events(f"s{number}")) == set(hub.rows(f"s{number}"))
            assert len(hub.publish(f"<urn:x> <urn:p> {chance.randint(6, 99)} .", uri="urn:e")) > 0
