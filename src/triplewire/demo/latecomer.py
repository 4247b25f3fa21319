"""A chapter: a subscriber comes late, the council moves its themes, and the hub is closed and opened again."""

from __future__ import annotations

from triplewire import Hub
from triplewire.demo.stage import Stage
from triplewire.demo.subscribers import IDA
from triplewire.demo.town import live_through_the_story, open_hub, publish_catalogue, read, tell_events


def tell(stage: Stage) -> None:
    """Tell the chapter."""
    with open_hub() as hub:
        live_through_the_story(hub)
        a_latecomer(stage, hub)
        other_themes(stage, hub)
        hub.close()
        the_restart(stage, hub.store.url)


def a_latecomer(stage: Stage, hub: Hub) -> None:
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
    tell_events(stage, hub.events("ida"))


def other_themes(stage: Stage, hub: Hub) -> None:
    stage.scene("The council moves two themes")
    old, new = (set(read(name).triples) for name in ("themes.ttl", "later/themes.ttl"))
    stage.talk("Floods are a matter of safety now, and not of water; trees have turned out to be good for health:")
    stage.show(*(f"- {triple}" for triple in old - new), *(f"+ {triple}" for triple in new - old))
    stage.talk("No document has changed. But what a subscription means has, and the hub tells whom it concerns:")
    tell_events(stage, hub.set_taxonomy(read("later/themes.ttl")))


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
        tell_events(stage, hub.events("ines", after=last))
        stage.talk("The first batch is sent again, because nobody knows whether it arrived. It has a name, and so:")
        before = [hub.rows(one.id) for one in subscriptions]
        publish_catalogue(hub)
        is_same = before == [hub.rows(one.id) for one in subscriptions]
        problems = [*hub.check()]
        stage.show(
            f"rows before and after it: {'the same' if is_same else 'different'}",
            f"hub.check(): {', '.join(problems) or 'every row on record is what its query means'}",
        )
