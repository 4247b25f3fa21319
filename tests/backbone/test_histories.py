"""Any history of a backbone ends with one truth everywhere: what each document's home has done, in its order (M10)."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from backbone.hubs import TITLES, World, expected, held
from effort import MANY
from triplewire import Access
from triplewire.documents import parse
from triplewire.errors import HomeAway, SeveralHomes, UnknownDocument
from triplewire.model import Publish, Retract

NAMES = ("town", "harbour", "hill", "island")
LISTS = (None, Access(["maja"]), Access([], ["otto"]))


class History:
    """A random history; `live` does one thing after another, `end` compares."""

    def __init__(self, seed: int, folder, when_away: str) -> None:
        self.chance = random.Random(seed)
        self.folder = folder
        self.world = World(NAMES[:3], self.url, when_away=when_away)
        for hub in self.world.hubs.values():
            hub.subscribe(TITLES, id="titles", start="ever")

    def url(self, name: str) -> str:
        return f"sqlite:///{self.folder}/{name}.db"

    def uri(self) -> str:
        return f"urn:doc:{self.chance.randrange(6)}"

    def publish(self, hub) -> None:
        text = f'<urn:{self.chance.randrange(4)}> <urn:title> "{self.chance.randrange(9)}" .'
        hub.publish(text, uri=self.uri())

    def batch(self, hub) -> None:
        some = [self.uri() for _ in range(3)]
        hub.apply([Publish(parse(f'<{uri}> <urn:title> "b" .', uri=uri)) for uri in dict.fromkeys(some)])

    def retract(self, hub) -> None:
        hub.apply([Retract(self.uri())])

    def restrict(self, hub) -> None:
        hub.restrict(self.uri(), self.chance.choice(LISTS))

    def sync(self, hub) -> None:
        hub.sync(verify=self.chance.random() < 0.2)

    def crash(self, hub) -> None:
        name = next(name for name, each in self.world.hubs.items() if each is hub)
        hub.close()
        self.world.open(name)

    def split(self, hub) -> None:
        names = list(self.world.hubs)
        self.chance.shuffle(names)
        cut = self.chance.randrange(1, len(names))
        self.world.partition(names[:cut], names[cut:])

    def heal(self, hub) -> None:
        self.world.heal()

    def join(self, hub) -> None:
        if NAMES[3] not in self.world.hubs:
            self.world.join(NAMES[3], self.url(NAMES[3])).subscribe(TITLES, id="titles", start="ever")

    def live(self, steps: int) -> None:
        deeds = (
            [self.publish] * 6
            + [self.retract, self.retract, self.restrict, self.batch]
            + [self.sync] * 5
            + [self.crash, self.split, self.heal, self.join]
        )
        for _ in range(steps):
            with suppress(HomeAway, UnknownDocument, SeveralHomes):
                self.chance.choice(deeds)(self.chance.choice(list(self.world.hubs.values())))

    def end(self) -> None:
        self.world.heal()
        self.world.rest()
        wanted = expected(self.world.deeds)
        rows = None
        for hub in self.world.hubs.values():
            assert held(hub) == wanted
            assert hub.backbone().waiting == 0
            found = sorted(map(str, hub.rows("titles")))
            assert rows in (None, found)
            rows = found
            assert sorted(map(str, told(hub))) == found
        assert all(hub.sync(verify=True).repaired == () for hub in self.world.hubs.values())
        self.world.close()


def told(hub) -> set:
    """The rows that a subscriber knows who has heard every event."""
    found = set()
    for event in hub.events("titles"):
        if event.kind == "matched":
            assert event.row not in found, "it is told once"
            found.add(event.row)
        elif event.kind == "unmatched":
            found.remove(event.row)
    return found


@pytest.mark.parametrize("when_away", ["refuse", "queue"])
@pytest.mark.parametrize("seed", range(3))
def test_every_hub_holds_what_homes_have_done_and_tells_it_once(tmp_path, seed, when_away):
    """Invariant of `backbone.members`: a position is written with the batches up to it, so nothing is told twice."""
    history = History(seed, tmp_path, when_away)
    history.live(60)
    history.end()


@pytest.mark.slow
@pytest.mark.parametrize("when_away", ["refuse", "queue"])
@pytest.mark.parametrize("seed", range(1000, 1000 + MANY // 20))
def test_every_hub_holds_what_homes_have_done_over_long_histories(tmp_path, seed, when_away):
    history = History(seed, tmp_path, when_away)
    history.live(250)
    history.end()
