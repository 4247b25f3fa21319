"""The sequel: the town keeps a hub. Documents change and go, and whoever heard of them hears of that, too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pyoxigraph import Literal, NamedNode

import triplewire
from triplewire import Document, Event, Feed, Hub, Publish, Retract
from triplewire.demo import files
from triplewire.demo.stage import Stage
from triplewire.demo.subscribers import IDA, NORA, SUBSCRIBERS
from triplewire.model import Content, Excerpt

_MAJA, _INES = (next(s for s in SUBSCRIBERS if s.name == name) for name in ("maja", "ines"))
_FLOODS = NamedNode("https://data.lindhaven.example/dataset/flood-warnings")
_FIRST_DAY = "catalogue-1"
SOFIE = """\
PREFIX rss: <http://purl.org/rss/1.0/>
PREFIX dc: <http://purl.org/dc/elements/1.1/>
SELECT ?item ?title { ?item dc:subject "Harbour" ; rss:title ?title }"""
EMIL = "/menu/softdrinks[price > 1.80]/name"


@dataclass(frozen=True, slots=True)
class Setting:
    """What the scenes share."""

    stage: Stage
    hub: Hub


def tell(stage: Stage) -> None:
    """Tell the sequel; the hub is a file that is gone at the end."""
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'town.db'}"
        with Hub(url) as hub:
            setting = Setting(stage, hub)
            for scene in (
                a_hub,
                two_documents,
                an_update,
                a_withdrawal,
                a_silence,
                a_latecomer,
                other_themes,
                a_feed,
                a_week_later,
                a_menu,
            ):
                scene(setting)
        the_restart(stage, url)


def a_hub(setting: Setting) -> None:
    stage, hub = setting.stage, setting.hub
    stage.scene("The town keeps a hub")
    stage.talk("So far every document was looked at alone, and forgotten. A hub remembers, here in one SQLite file:")
    stage.show('hub = triplewire.Hub("sqlite:///town.db")\nhub.set_taxonomy(themes)')
    hub.set_taxonomy(read("themes.ttl"))
    listeners = (_MAJA, _INES, NORA)
    stage.table(("who", "wants", "scope"), ((s.name, s.wish, s.subscribe(hub).scope) for s in listeners))
    documents = [read(f"catalogue/{path.name}") for path in files.catalogue()]
    events = hub.apply([Publish(document) for document in documents], batch=_FIRST_DAY)
    stage.talk(f"The {len(documents)} documents of the catalogue are published in one batch. What the hub says to it:")
    _tell_events(stage, events)
    stage.talk("Nora hears nothing yet: each document names the office behind its dataset, and none has a mailbox.")


def two_documents(setting: Setting) -> None:
    stage, hub = setting.stage, setting.hub
    stage.scene("Two documents, one answer")
    stage.talk("Then the town hall publishes a document about its offices, with their mailboxes:")
    events = hub.publish(read("later/offices.ttl"))
    _tell_events(stage, events)
    stage.talk(
        """The scope of Nora's subscription is the graph: the triples of one answer may come from several documents, in
        any order, days apart. Where does the first of these answers come from?"""
    )
    stage.show('hub.why("nora", event.row)', style="green")
    stated = hub.why("nora", events[0].row).stated
    stage.show(*(f"{triple}\n  in {', '.join(map(_name, sources))}" for triple, sources in stated))


def an_update(setting: Setting) -> None:
    stage, hub = setting.stage, setting.hub
    stage.scene("The row stays, and what it is about has changed")
    stage.talk("To publish a document again is to update it. The car parks are counted by the minute now:")
    events = hub.publish(read("later/parking.ttl"))
    _tell_events(stage, events)
    stage.talk("An event knows what was said about its resources before and after. The difference, for Ines:")
    stage.show(*_difference(next(event for event in events if event.subscription == "ines")))
    again = hub.publish(read("later/parking.ttl"))
    stage.talk(f"Published once more, with nothing new in it, the document causes {len(again) or 'no'} events.")


def a_withdrawal(setting: Setting) -> None:
    stage, hub = setting.stage, setting.hub
    stage.scene("What matched does not match any more")
    stage.talk(
        """One batch, two changes: the harbour office gives up its mailbox (a new version of the document about
        offices), and the bathing water is withdrawn from the catalogue."""
    )
    events = hub.apply([Publish(read("later/offices-changed.ttl")), Retract(files.BASE + "bathing-water.ttl")])
    _tell_events(stage, events)
    event = next(event for event in events if event.row.get("dataset") == _FLOODS)
    stage.talk("Nothing in the flood warnings' own document has changed. The documents behind that event:")
    stage.show(*map(_name, event.documents))
    stage.talk(
        """Somebody else might still state the same triples: then the rows would have stayed. And what one batch takes
        away and gives back is no news at all."""
    )


def a_silence(setting: Setting) -> None:
    stage, hub = setting.stage, setting.hub
    stage.scene("Why does Nora not hear of the floods any more?")
    stage.talk("The hub follows her query from the dataset on, through all documents, until it gets stuck:")
    stage.show(f'hub.why_not("nora", "{_FLOODS.value}")', style="green")
    stage.show(hub.why_not("nora", _FLOODS))


def a_latecomer(setting: Setting) -> None:
    stage, hub = setting.stage, setting.hub
    stage.scene("Look before you subscribe")
    stage.talk("Ida is a doctor, comes late, and wants everything about health. What would that be?")
    stage.show('hub.preview(query, scope="graph", start="ever")', style="green")
    ahead = hub.preview(IDA.text, language=IDA.language, scope=IDA.scope, start=IDA.start)
    stage.show(
        f"answers now: {ahead.count}",
        f"events in the history so far: about {ahead.frequency.events}",
        *(f"{atom.text}: {atom.triples} triples now" for atom in ahead.atoms),
    )
    IDA.subscribe(hub)
    stage.talk("She likes it, and subscribes from ever on: what is there already comes first in her log.")
    _tell_events(stage, hub.events("ida"))


def other_themes(setting: Setting) -> None:
    stage, hub = setting.stage, setting.hub
    stage.scene("The council moves two themes")
    old, new = (set(read(name).triples) for name in ("themes.ttl", "later/themes.ttl"))
    stage.talk("Floods are a matter of safety now, and not of water; trees have turned out to be good for health:")
    stage.show(*(f"- {triple}" for triple in old - new), *(f"+ {triple}" for triple in new - old))
    stage.talk("No document has changed. But what a subscription means has, and the hub tells whom it concerns:")
    _tell_events(stage, hub.set_taxonomy(read("later/themes.ttl")))


def a_feed(setting: Setting) -> None:
    stage, hub = setting.stage, setting.hub
    stage.scene("The newspaper has a feed")
    stage.talk("The Lindhaven Courier knows nothing of RDF: it has RSS. To a hub, each item is a small document:")
    courier = read("later/courier.rss")
    assert isinstance(courier, Feed)
    stage.show(*(f"{t.predicate} {t.object}" for t in courier.items[0].triples if isinstance(t.object, Literal)))
    stage.talk("So the same languages ask for it. Sofie sails, and wants what the paper says of the harbour:")
    stage.show(SOFIE.splitlines()[-1])
    hub.subscribe(SOFIE, id="sofie")
    _tell_titles(stage, hub.publish(courier))


def a_week_later(setting: Setting) -> None:
    from triplewire import feeds

    stage, hub = setting.stage, setting.hub
    stage.scene("A week later")
    stage.talk("There is a new item, one is corrected, and two have left the window of the feed:")
    _tell_titles(stage, hub.publish(read("later/courier-changed.rss")))
    stage.talk(
        f"""What left the window was not taken back: Sofie still has {len(hub.rows("sofie"))} rows. And her log is a
        feed again, for any reader, here as Atom:"""
    )
    stage.show('triplewire.feeds.atom(hub.events("sofie"), ...)', style="green")
    told = hub.events("sofie")
    atom = feeds.atom(told, uri=files.BASE + "sofie.atom", title="Sofie's harbour")
    stage.show(*(line.strip() for line in atom.decode().splitlines() if "<title>" in line))


def a_menu(setting: Setting) -> None:
    stage, hub = setting.stage, setting.hub
    stage.scene("The café writes XML")
    stage.talk("Its menu is XML of its own kind. Emil checks prices, and asks in XPath for drinks over 1.80:")
    stage.show(EMIL)
    hub.subscribe(EMIL, language="xpath", id="emil")
    _tell_hits(stage, hub.publish(read("later/menu.xml")))
    stage.talk("The next day one drink is dearer, and another one cheaper:")
    _tell_hits(stage, hub.publish(read("later/menu-changed.xml")))


def the_restart(stage: Stage, url: str) -> None:
    """The hub was closed; who opens the same file goes on where it stood."""
    stage.scene("Closed for the night, and opened again")
    with Hub(url) as hub:
        subscriptions, documents = [*hub.subscriptions()], hub.documents()
        last = hub.events("ines")[1].cursor
        stage.talk(
            f"""All that is left is the file. Opened again, it has {len(subscriptions)} subscriptions and
            {len(documents)} documents. Ines was away: she has read up to event {last}, and asks for what came later:"""
        )
        stage.show(f'hub.events("ines", after={last})', style="green")
        _tell_events(stage, hub.events("ines", after=last))
        stage.talk("The first batch is sent again, because nobody knows whether it arrived. It has a name, and so:")
        before = [hub.rows(one.id) for one in subscriptions]
        hub.apply([Publish(read(f"catalogue/{path.name}")) for path in files.catalogue()], batch=_FIRST_DAY)
        is_same = before == [hub.rows(one.id) for one in subscriptions]
        problems = [*hub.check()]
        stage.show(
            f"rows before and after it: {'the same' if is_same else 'different'}",
            f"hub.check(): {', '.join(problems) or 'every row on record is what its query means'}",
        )


def read(name: str) -> Document:
    """A file of the story as a document of the catalogue; a later version has the address of the first."""
    uri = files.BASE + Path(name).name.replace("-changed", "")
    return triplewire.parse(files.text(name), uri=uri)


def _name(document: object) -> str:
    """A document and its versions, without the address that all of them share."""
    return str(document).removeprefix(files.BASE)


def _tell_events(stage: Stage, events: Iterable[Event]) -> None:
    told = [(e.subscription, e.kind, ", ".join(map(str, e.row.values()))) for e in events]
    stage.table(("who", "event", "row"), told)


def _tell_titles(stage: Stage, events: Iterable[Event]) -> None:
    stage.table(("who", "event", "title"), [(e.subscription, e.kind, str(e.row["title"])) for e in events])


def _tell_hits(stage: Stage, events: Iterable[Event]) -> None:
    told = [(e.subscription, e.kind, str(e.row["node"]), str(e.row["text"])) for e in events]
    stage.table(("who", "event", "where", "text"), told)


def _difference(event: Event) -> list[str]:
    """What an event's resources, or its node, lost and gained."""
    before, after = _lines(event.before), _lines(event.after)
    return [f"- {line}" for line in before if line not in after] + [f"+ {line}" for line in after if line not in before]


def _lines(content: Content) -> list[str]:
    return [content.text] if isinstance(content, Excerpt) else [*map(str, content or ())]
