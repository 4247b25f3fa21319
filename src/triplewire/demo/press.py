"""A chapter: a newspaper with a feed, and a café with a menu in XML. A subscription is a feed again."""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Literal

from triplewire import Event, Feed, Hub, feeds
from triplewire.demo import files
from triplewire.demo.stage import Stage
from triplewire.demo.town import live_through_the_story, open_hub, read

SOFIE = """\
PREFIX rss: <http://purl.org/rss/1.0/>
PREFIX dc: <http://purl.org/dc/elements/1.1/>
SELECT ?item ?title { ?item dc:subject "Harbour" ; rss:title ?title }"""
EMIL = "/menu/softdrinks[price > 1.80]/name"


def tell(stage: Stage) -> None:
    """Tell the chapter."""
    with open_hub() as hub:
        live_through_the_story(hub)
        for scene in (a_feed, a_week_later, a_menu):
            scene(stage, hub)


def a_feed(stage: Stage, hub: Hub) -> None:
    stage.scene("The newspaper has a feed")
    stage.talk("The Lindhaven Courier knows nothing of RDF: it has RSS. To a hub, each item is a small document:")
    courier = read("later/courier.rss")
    assert isinstance(courier, Feed)
    stage.show(*(f"{t.predicate} {t.object}" for t in courier.items[0].triples if isinstance(t.object, Literal)))
    stage.talk("So the same languages ask for it. Sofie sails, and wants what the paper says of the harbour:")
    stage.show(SOFIE.splitlines()[-1])
    hub.subscribe(SOFIE, id="sofie")
    _tell_titles(stage, hub.publish(courier))


def a_week_later(stage: Stage, hub: Hub) -> None:
    stage.scene("A week later")
    stage.talk("There is a new item, one is corrected, and two have left the window of the feed:")
    _tell_titles(stage, hub.publish(read("later/courier-changed.rss")))
    stage.talk(
        f"""What left the window was not taken back: Sofie still has {len(hub.rows("sofie"))} rows. And her log is a
        feed again, for any reader, here as Atom:"""
    )
    stage.show('triplewire.feeds.atom(hub.events("sofie"), ...)', style="green")
    atom = feeds.atom(hub.events("sofie"), uri=files.BASE + "sofie.atom", title="Sofie's harbour")
    stage.show(*(line.strip() for line in atom.decode().splitlines() if "<title>" in line))


def a_menu(stage: Stage, hub: Hub) -> None:
    stage.scene("The café writes XML")
    stage.talk("Its menu is XML of its own kind. Emil checks prices, and asks in XPath for drinks over 1.80:")
    stage.show(EMIL)
    hub.subscribe(EMIL, language="xpath", id="emil")
    _tell_hits(stage, hub.publish(read("later/menu.xml")))
    stage.talk("The next day one drink is dearer, and another one cheaper:")
    _tell_hits(stage, hub.publish(read("later/menu-changed.xml")))


def _tell_titles(stage: Stage, events: Iterable[Event]) -> None:
    stage.table(("who", "event", "title"), [(e.subscription, e.kind, str(e.row["title"])) for e in events])


def _tell_hits(stage: Stage, events: Iterable[Event]) -> None:
    told = [(e.subscription, e.kind, str(e.row["node"]), str(e.row["text"])) for e in events]
    stage.table(("who", "event", "where", "text"), told)
