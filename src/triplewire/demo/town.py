"""The town of the story: its catalogue, who listens, and what happens there, step by step, on an index or on a hub.

Every chapter begins where the story has come to by then: what happened before is done, and not told again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import triplewire
from triplewire import Document, Event, Hub, Index, Publish, Retract, Taxonomy
from triplewire.demo import files
from triplewire.demo.stage import Stage
from triplewire.demo.subscribers import NORA, SUBSCRIBERS

MAJA, INES = (next(s for s in SUBSCRIBERS if s.name == name) for name in ("maja", "ines"))
LISTENERS = (MAJA, INES, NORA)
"""Those of the town who subscribe at its hub."""

FIRST_DAY = "catalogue-1"
"""The id of the batch that publishes the catalogue."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What the scenes without a hub share: the documents by name, the themes, and an index with six subscribers."""

    documents: dict[str, Document]
    themes: Taxonomy
    index: Index


def open_catalogue() -> Catalogue:
    """The catalogue as files, and everybody who listens."""
    documents = {path.stem: read(f"catalogue/{path.name}") for path in files.catalogue()}
    themes = Taxonomy.from_triples(read("themes.ttl").triples)
    index = Index(taxonomy=themes)
    for subscriber in SUBSCRIBERS:
        index.add(subscriber.name, subscriber.pattern())
    return Catalogue(documents, themes, index)


@contextmanager
def open_hub() -> Iterator[Hub]:
    """The town's hub, in a file that is gone at the end."""
    with TemporaryDirectory() as folder, Hub(f"sqlite:///{Path(folder) / 'town.db'}") as hub:
        yield hub


def publish_catalogue(hub: Hub) -> Sequence[Event]:
    """All documents of the catalogue, in one batch."""
    documents = [read(f"catalogue/{path.name}") for path in files.catalogue()]
    return hub.apply([Publish(document) for document in documents], batch=FIRST_DAY)


def publish_offices(hub: Hub) -> Sequence[Event]:
    """A document about the offices behind the datasets, with their mailboxes."""
    return hub.publish(read("later/offices.ttl"))


def update_parking(hub: Hub) -> Sequence[Event]:
    """Another version of a document of the catalogue."""
    return hub.publish(read("later/parking.ttl"))


def withdraw_bathing_water(hub: Hub) -> Sequence[Event]:
    """One document goes, and an office loses its mailbox, in one batch."""
    return hub.apply([Publish(read("later/offices-changed.ttl")), Retract(files.BASE + "bathing-water.ttl")])


def live_through_the_story(hub: Hub) -> None:
    """Everything that the main story tells of, in a hub that has not seen it."""
    hub.set_taxonomy(read("themes.ttl"))
    for subscriber in LISTENERS:
        subscriber.subscribe(hub)
    for step in (publish_catalogue, publish_offices, update_parking, withdraw_bathing_water):
        step(hub)


def read(name: str) -> Document:
    """A file of the story as a document of the catalogue; a later version has the address of the first."""
    uri = files.BASE + Path(name).name.replace("-changed", "")
    return triplewire.parse(files.text(name), uri=uri)


def tell_events(stage: Stage, events: Iterable[Event]) -> None:
    """A table of who hears what."""
    told = [(e.subscription, e.kind, ", ".join(map(str, e.row.values()))) for e in events]
    stage.table(("who", "event", "row"), told)
