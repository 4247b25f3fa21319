"""The story: a city opens its data, and people listen; documents change and go, and those who heard of them hear that.

It takes half a minute. The other chapters go on from here.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from pyoxigraph import NamedNode

import triplewire
from triplewire import Event, Hub, Index
from triplewire.demo import files
from triplewire.demo.crowd import crowd
from triplewire.demo.stage import Stage
from triplewire.demo.subscribers import SUBSCRIBERS
from triplewire.demo.town import (
    LISTENERS,
    Catalogue,
    open_catalogue,
    open_hub,
    publish_catalogue,
    publish_offices,
    read,
    tell_events,
    update_parking,
    withdraw_bathing_water,
)
from triplewire.model import Content, Excerpt

CROWD = 100_000
PATIENCE = 10.0
_FLOODS = NamedNode("https://data.lindhaven.example/dataset/flood-warnings")


def tell(stage: Stage, size_of_crowd: int = CROWD) -> None:
    """Tell the story."""
    catalogue = open_catalogue()
    for scene in (the_city, the_listeners, publication, below_water):
        scene(stage, catalogue)
    with open_hub() as hub:
        for step in (a_hub, two_documents, an_update, a_withdrawal, a_silence):
            step(stage, hub)
    the_crowd(stage, catalogue, size_of_crowd)


def the_city(stage: Stage, catalogue: Catalogue) -> None:
    stage.scene("A city opens its data")
    triples = sum(len(document) for document in catalogue.documents.values())
    kinds = ", ".join(sorted({path.suffix[1:] for path in files.catalogue()}))
    stage.talk(
        f"""Lindhaven, a harbour town, publishes what it knows: {len(catalogue.documents)} datasets, each described by a
        small document in DCAT. Different offices use different tools, so these come in different syntaxes
        ({kinds}). Together they state {triples} triples. This is how one of them begins:"""
    )
    stage.show("\n".join(str(triple) for triple in catalogue.documents["cycle-counts"].triples[:6]) + "\n...")


def the_listeners(stage: Stage, catalogue: Catalogue) -> None:
    stage.scene("Six people want to hear about it")
    stage.talk("Nobody wants to look every day. So each of them says once what they want, in the language they like:")
    stage.table(("name", "who", "wants", "language"), ((s.name, s.who, s.wish, s.language) for s in SUBSCRIBERS))
    stage.talk("Jonas, for example, wrote a rule:")
    stage.show(SUBSCRIBERS[1].text)


def publication(stage: Stage, catalogue: Catalogue) -> None:
    stage.scene("The documents are published, and subscribers hear of them")
    rows = []
    for name, document in catalogue.documents.items():
        listeners = [match.subscription for match in catalogue.index.match(document)]
        rows.append((name, ", ".join(sorted(listeners)) or "(nobody)"))
    stage.table(("document", "who hears of it"), rows)
    found = catalogue.index.match(catalogue.documents["parking"])
    row = next(match.rows[0] for match in found if match.subscription == "ines")
    stage.talk("They are told more than that: each gets the values that they asked for. Ines, of the parking data:")
    stage.show("\n".join(f"?{name} = {term}" for name, term in row.items()))


def below_water(stage: Stage, catalogue: Catalogue) -> None:
    stage.scene("Maja asked for water, and got a beach")
    themes = {
        name: str(triple.object)
        for name, document in catalogue.documents.items()
        for triple in document.triples
        if triple.predicate.value.endswith("dcat#theme")
    }
    stage.talk(
        f"""No document has the theme Water. But the taxonomy says that {stage.short(themes["bathing-water"])} and
        {stage.short(themes["flood-warnings"])} are below it, and Maja's query asks for whatever is:"""
    )
    stage.show("?dataset dcat:theme/rdfs:subClassOf* theme:Water")


def a_hub(stage: Stage, hub: Hub) -> None:
    stage.scene("The town keeps a hub")
    stage.talk("So far every document was looked at alone, and forgotten. A hub remembers, here in one SQLite file:")
    stage.show('hub = triplewire.Hub("sqlite:///town.db")\nhub.set_taxonomy(themes)')
    hub.set_taxonomy(read("themes.ttl"))
    stage.table(("who", "wants", "scope"), ((s.name, s.wish, s.subscribe(hub).scope) for s in LISTENERS))
    events = publish_catalogue(hub)
    count = len(files.catalogue())
    stage.talk(f"The {count} documents of the catalogue are published in one batch. What the hub says to it:")
    tell_events(stage, events)
    stage.talk("Nora hears nothing yet: each document names the office behind its dataset, and none has a mailbox.")


def two_documents(stage: Stage, hub: Hub) -> None:
    stage.scene("Two documents, one answer")
    stage.talk("Then the town hall publishes a document about its offices, with their mailboxes:")
    events = publish_offices(hub)
    tell_events(stage, events)
    stage.talk(
        """The scope of Nora's subscription is the graph: the triples of one answer may come from several documents, in
        any order, days apart. Where does the first of these answers come from?"""
    )
    stage.show('hub.why("nora", event.row)', style="green")
    stated = hub.why("nora", events[0].row).stated
    stage.show(*(f"{triple}\n  in {', '.join(map(_name, sources))}" for triple, sources in stated))


def an_update(stage: Stage, hub: Hub) -> None:
    stage.scene("The row stays, and what it is about has changed")
    stage.talk("To publish a document again is to update it. The car parks are counted by the minute now:")
    events = update_parking(hub)
    tell_events(stage, events)
    stage.talk("An event knows what was said about its resources before and after. The difference, for Ines:")
    stage.show(*_difference(next(event for event in events if event.subscription == "ines")))
    again = update_parking(hub)
    stage.talk(f"Published once more, with nothing new in it, the document causes {len(again) or 'no'} events.")


def a_withdrawal(stage: Stage, hub: Hub) -> None:
    stage.scene("What matched does not match any more")
    stage.talk(
        """One batch, two changes: the harbour office gives up its mailbox (a new version of the document about
        offices), and the bathing water is withdrawn from the catalogue."""
    )
    events = withdraw_bathing_water(hub)
    tell_events(stage, events)
    event = next(event for event in events if event.row.get("dataset") == _FLOODS)
    stage.talk("Nothing in the flood warnings' own document has changed. The documents behind that event:")
    stage.show(*map(_name, event.documents))
    stage.talk(
        """Another document might still state the same triples: then the rows would have stayed. And what one batch
        takes away and gives back is no news at all."""
    )


def a_silence(stage: Stage, hub: Hub) -> None:
    stage.scene("Why does Nora not hear of the floods any more?")
    stage.talk("The hub follows her query from the dataset on, through all documents, until it gets stuck:")
    stage.show(f'hub.why_not("nora", "{_FLOODS.value}")', style="green")
    stage.show(hub.why_not("nora", _FLOODS))


def the_crowd(stage: Stage, catalogue: Catalogue, size: int) -> None:
    """The whole town subscribes, and a document costs little more than before."""
    index = catalogue.index
    stage.scene("The whole town listens")
    stage.talk(f"The paper writes about it, and {size:,} people subscribe: to keywords, words in titles, large files.")
    path = next(path for path in files.catalogue() if path.stem == "bathing-water")
    text, document = path.read_bytes(), catalogue.documents[path.stem]
    costs = [("parse it", _best(lambda: triplewire.parse(text, uri=document.uri)))]
    costs.append((f"find who of {len(index):,} wants it", _best(lambda: index.match(document))))
    with stage.console.status("they are subscribing..."):
        seconds = _time(lambda: _join(index, size))
    costs.append((f"find who of {len(index):,} wants it", _best(lambda: index.match(document))))
    told = _best(lambda: index.match(document).subscriptions)
    costs.append((f"name all {len(index.match(document)):,} of them", told - costs[-1][1]))
    stage.talk(f"After {seconds:.1f} s, {len(index):,} are waiting. What the bathing water's document costs:")
    stage.table(("step", "time"), ((step, f"{max(best, 0) * 1e6:,.0f} µs") for step, best in costs))
    stage.talk(
        """What it costs follows those who hear of it, not all who listen. (Most of the finding is Maja's language and
        Omar's day: no index serves these, so they are checked on the few rows that everything else has found.)"""
    )


def _join(index: Index, size: int) -> None:
    """Add the crowd; on a slow machine only those who come in time, because a story should not keep one waiting."""
    started = perf_counter()
    for number, (id, pattern) in enumerate(crowd(size)):
        index.add(id, pattern)
        if number % 1000 == 0 and perf_counter() - started > PATIENCE:
            return


def _time(action: Callable[[], object]) -> float:
    started = perf_counter()
    action()
    return perf_counter() - started


def _best(action: Callable[[], object], times: int = 20) -> float:
    """The fastest of some runs: what it costs when nothing else is going on."""
    return min(_time(action) for _ in range(times))


def _name(document: object) -> str:
    """A document and its versions, without the address that all of them share."""
    return str(document).removeprefix(files.BASE)


def _difference(event: Event) -> list[str]:
    """What an event's resources, or its node, lost and gained."""
    before, after = _lines(event.before), _lines(event.after)
    return [f"- {line}" for line in before if line not in after] + [f"+ {line}" for line in after if line not in before]


def _lines(content: Content) -> list[str]:
    return [content.text] if isinstance(content, Excerpt) else [*map(str, content or ())]
