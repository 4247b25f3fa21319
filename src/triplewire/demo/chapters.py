"""The chapters of the story: what there is to tell, by name, and the end that leads on to the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rich.console import Console

from triplewire.demo import files, harbour, latecomer, press, reasons, story, stream
from triplewire.demo.stage import Stage


@dataclass(frozen=True, slots=True)
class Chapter:
    """A part of the story that can be told alone, and what it is about."""

    name: str
    about: str
    tell: Callable[[Stage], None]


STORY = Chapter("story", "a city opens its data, documents change and go, a hundred thousand listen", story.tell)
"""The chapter that is told where none is named."""

CHAPTERS = (
    STORY,
    Chapter(
        "reasons", "why, why not, two languages that say the same, mistakes in queries and documents", reasons.tell
    ),
    Chapter(
        "latecomer",
        "look before you subscribe, a taxonomy that changes, a hub that is closed and opened",
        latecomer.tell,
    ),
    Chapter("press", "a newspaper's feed, a menu in XML, and a subscription that is a feed again", press.tell),
    Chapter("harbour", "an edge keeps what it needs of the hub; the cable is cut, and it still answers", harbour.tell),
    Chapter("spark", "files dropped into a folder, changed and withdrawn, picked up by a stream on Spark", stream.tell),
)


def tell(chapters: Iterable[Chapter] = (STORY,), console: Console | None = None) -> None:
    """Tell some chapters on a console, and then which there are."""
    stage = Stage(console or Console(), files.prefixes())
    told = list(chapters)
    for chapter in told:
        chapter.tell(stage)
    _end(stage, [chapter for chapter in CHAPTERS if chapter not in told])


def _end(stage: Stage, left: list[Chapter]) -> None:
    stage.scene("Your turn")
    if left:
        stage.talk("There is more to tell (`./run demo --chapter NAME`, or `all`):")
        stage.table(("chapter", "what happens in it"), ((chapter.name, chapter.about) for chapter in left))
    stage.talk("`./run demo --serve` serves the town's hub, to look at in a browser. Its files are yours to change:")
    stage.show(
        "./run shell\n"
        "triplewire demo --files play\n"
        "triplewire match play/catalogue -s play/subscriptions -t play/themes.ttl --why\n"
        "triplewire explain ines -s play/subscriptions -t play/themes.ttl -d play/catalogue/parking.ttl\n"
        "triplewire subscribe town.db play/later/nora.rq --scope graph\n"
        "triplewire publish town.db play/catalogue play/later/offices.ttl\n"
        "triplewire run --store town.db --source play/catalogue"
    )
    stage.talk(
        "docs/tutorial.md goes on from here, and docs/hub.md tells all of the hub, docs/streaming.md of the stream."
    )
