"""Hubs of a backbone for tests, with cables between them that can be cut."""

from __future__ import annotations

from triplewire import BackboneHub
from triplewire.errors import NetworkError
from triplewire.model import Change, Publish, Restrict, Retract

TITLES = "SELECT ?d ?t { ?d <urn:title> ?t }"


class Recorder(BackboneHub):
    """A hub that notes what it has done as a home, in its order."""

    def __init__(self, *arguments, deeds, **options) -> None:
        super().__init__(*arguments, **options)
        self._deeds = deeds

    def _apply(self, changes, *rest, **more):
        found = super()._apply(changes, *rest, **more)
        name = self.name
        self._deeds += [(name, change) for change in changes]
        return found


class Cable:
    """The way from one hub to another; while it is cut, nothing gets through."""

    def __init__(self, world: World, sender: str, receiver: str) -> None:
        self._world, self._sender, self._receiver = world, sender, receiver

    def _hub(self):
        if frozenset((self._sender, self._receiver)) in self._world.cut:
            raise NetworkError("the cable is cut")
        return self._world.hubs[self._receiver]

    def serve_member(self, question):
        return self._hub().serve_member(question)

    def apply(self, changes, *, batch=None):
        return self._hub().apply(changes, batch=batch)


class World:
    """Some hubs of one backbone, each with a store of its own."""

    def __init__(self, names, new_url, **options) -> None:
        self.cut: set[frozenset[str]] = set()
        self.urls = {name: new_url(name) for name in names}
        self._options = options
        self.deeds: list[tuple[str, Change]] = []
        self.hubs: dict[str, BackboneHub] = {}
        for name in names:
            self.open(name)

    def open(self, name: str) -> BackboneHub:
        others = [Cable(self, name, other) for other in self.urls if other != name]
        self.hubs[name] = Recorder(self.urls[name], name=name, others=others, deeds=self.deeds, **self._options)
        return self.hubs[name]

    def join(self, name: str, url: str) -> BackboneHub:
        """A hub comes late."""
        self.urls[name] = url
        for other, hub in self.hubs.items():
            hub.connect([Cable(self, other, name)])
        return self.open(name)

    def partition(self, *sides) -> None:
        self.cut = {
            frozenset((a, b)) for side in sides for other in sides if side is not other for a in side for b in other
        }

    def heal(self) -> None:
        self.cut = set()

    def rest(self) -> None:
        """All hubs ask until nobody hears anything new."""
        while sum(_is_news(hub.sync()) for hub in self.hubs.values()):
            pass

    def close(self) -> None:
        for hub in self.hubs.values():
            hub.close()


def _is_news(done) -> bool:
    return bool(done.batches or done.passed)


def held(hub) -> dict:
    """Every document of a hub: its triples, and who may read it; one that goes while this looks is not there."""
    found = {}
    for each in hub.documents():
        access, document = hub.access(each.uri), hub.document(each.uri)
        if document is not None:
            found[each.uri] = sorted(map(str, document.triples)), access
    return found


def expected(deeds) -> dict:
    """What every hub must hold: of each document what its home has done, in its order.

    Where several hubs took a document for their own, the one whose name comes first is its home.
    """
    homes: dict[str, str] = {}
    for name, change in deeds:
        if isinstance(change, Publish):
            homes[change.uri] = min(name, homes.get(change.uri, name))
    found, lists = {}, {}
    for name, change in deeds:
        if name != homes.get(change.uri):
            continue
        if isinstance(change, Retract):
            found.pop(change.uri, None)
        elif isinstance(change, Publish):
            found[change.uri] = sorted(map(str, change.document.triples))
        if isinstance(change, Restrict):
            lists[change.uri] = change.access
    return {uri: (triples, lists.get(uri)) for uri, triples in found.items()}
