"""A process that applies batches is killed at any moment: each batch is there whole or not at all (X8).

What it was doing is done again by the next one, as a publisher does who got no answer: nothing counts twice.
"""

from __future__ import annotations

import random
import time
from collections import Counter

import pytest
from tests.contracts.reference import Reference

from engine.workers import PATHS, SUBSCRIPTIONS, do
from triplewire import Hub
from triplewire.model import Row


class Story:
    """The same deeds by definition, as far as they went."""

    def __init__(self, url: str) -> None:
        self.url, self.reference, self.done = url, Reference(), 0
        self.heard: dict[str, tuple[int, int]] = {}
        with Hub(url) as hub:
            for engine in (hub, self.reference):
                for id, text in SUBSCRIPTIONS.items():
                    for scope in ("graph", "document"):
                        engine.subscribe(text, language="sparql", id=f"{id} {scope}", scope=scope, start="ever")
                for id, query in PATHS.items():
                    engine.subscribe(query, language="xpath", id=id, start="ever")

    def check(self) -> None:
        """All that is done is done once, and nothing is half done."""
        with Hub(self.url) as hub:
            assert list(hub.store.problems()) == []
            self._follow(hub)
            self._compare(hub)
            if self.done:
                do(hub, self.done)
                self._compare(hub)

    def check_from_the_beginning(self) -> None:
        """Every event since the first deed."""
        self.heard = {}
        self.check()

    def _follow(self, hub: Hub) -> None:
        there = {record.id for record in hub.batches(limit=1_000_000)} | {one.id for one in hub.subscriptions()}
        deeds = {int(id.split()[1]) for id in there if id.startswith(("deed", "late"))}
        assert deeds == set(range(1, len(deeds) + 1)), "no deed is lost"
        for number in range(self.done + 1, len(deeds) + 1):
            do(_InSparql(self.reference), number)
        self.done = len(deeds)

    def _compare(self, hub: Hub) -> None:
        for one in hub.subscriptions():
            assert set(hub.rows(one.id)) == set(map(Row, self.reference.rows(one.id)))
            heard = self.heard.get(one.id, (0, 0))
            logs = [e.events(one.id, after=after) for e, after in zip((hub, self.reference), heard, strict=True)]
            assert Counter(map(said, logs[0])) == Counter(map(said, logs[1]))
            cursors = [heard[0], *(event.cursor for event in logs[0])]
            assert cursors == sorted(set(cursors))
            self.heard[one.id] = cursors[-1], max([heard[1], *(event.cursor for event in logs[1])])


class _InSparql:
    """A reference that is spoken to as a hub is."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self.apply = reference.apply

    def subscribe(self, text: str, **about: str) -> None:
        self._reference.subscribe(text, language="sparql", **about)


def said(event) -> tuple[str, str, Row]:
    return event.batch if event.batch.startswith("deed") else "when it came", event.kind, event.row


@pytest.mark.parametrize(
    ("kind", "kills", "patience"),
    [
        ("sqlite", 12, 0.15),
        ("postgresql", 4, 0.6),
        pytest.param("sqlite", 50, 0.15, marks=pytest.mark.slow),
        pytest.param("postgresql", 10, 0.6, marks=pytest.mark.slow),
    ],
)
def test_processes_killed_at_any_moment_leave_whole_batches_that_count_once(nursery, new_url, kind, kills, patience):
    chance = random.Random(kills)
    story = Story(new_url(kind))
    progress = [story.done]
    while len(progress) <= kills or len(set(progress)) <= kills // 4:  # some are killed before they come to work
        assert len(progress) < 10 * kills, "many were killed at work, not before it"
        worker = nursery.start("go_on", story.url, str(max(1, story.done)))
        time.sleep(chance.uniform(0.0, patience))
        nursery.kill(worker)
        story.check()
        progress.append(story.done)
        if len(set(progress[-4:])) == 1:  # nobody came to work lately: the machine is busy
            patience *= 1.5
    story.check_from_the_beginning()
