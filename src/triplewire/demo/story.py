"""The story: a city opens its data, and six people listen. What happens when the data changes is the sequel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from pyoxigraph import Triple
from rich.console import Console

import triplewire
from triplewire import Document, Index, Pattern, Taxonomy
from triplewire.algebra import explain
from triplewire.algebra.wording import readable
from triplewire.demo import files, sequel, stream
from triplewire.demo.crowd import crowd
from triplewire.demo.stage import Stage
from triplewire.demo.subscribers import MISTAKE, SUBSCRIBERS

CROWD = 100_000
PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Setting:
    """What the scenes share: the stage, the catalogue by name, the themes, and the index with everybody in it."""

    stage: Stage
    documents: dict[str, Document]
    themes: Taxonomy
    index: Index


def tell(console: Console | None = None, size_of_crowd: int = CROWD) -> None:
    """Tell the whole story on a console."""
    stage = Stage(console or Console(), files.prefixes())
    documents = {path.stem: read(path) for path in files.catalogue()}
    themes = Taxonomy.from_triples(read(files.themes()).triples)
    index = Index(taxonomy=themes)
    for subscriber in SUBSCRIBERS:
        index.add(subscriber.name, subscriber.pattern())
    setting = Setting(stage, documents, themes, index)
    for scene in SCENES:
        scene(setting)
    the_crowd(setting, size_of_crowd)
    sequel.tell(stage)
    stream.tell(stage)
    goodbye(stage)


def read(path: Path) -> Document:
    """A document of the story, published under the catalogue's address."""
    return triplewire.parse(path.read_bytes(), uri=files.BASE + path.name)


def the_city(setting: Setting) -> None:
    stage = setting.stage
    stage.scene("A city opens its data")
    triples = sum(len(document) for document in setting.documents.values())
    kinds = ", ".join(sorted({path.suffix[1:] for path in files.catalogue()}))
    stage.talk(
        f"""Lindhaven, a harbour town, publishes what it knows: {len(setting.documents)} datasets, each described by a
        small document in DCAT. Different offices use different tools, so these come in different syntaxes
        ({kinds}). Together they state {triples} triples. This is how one of them begins:"""
    )
    stage.show("\n".join(str(triple) for triple in setting.documents["cycle-counts"].triples[:6]) + "\n...")


def the_listeners(setting: Setting) -> None:
    stage = setting.stage
    stage.scene("Six people want to hear about it")
    stage.talk("Nobody wants to look every day. So each of them says once what they want, in the language they like:")
    stage.table(("name", "who", "wants", "language"), ((s.name, s.who, s.wish, s.language) for s in SUBSCRIBERS))
    stage.talk("Jonas, for example, wrote a rule:")
    stage.show(SUBSCRIBERS[1].text)


def publication(setting: Setting) -> None:
    stage = setting.stage
    stage.scene("The documents are published, and somebody hears of them")
    rows = []
    for name, document in setting.documents.items():
        listeners = [match.subscription for match in setting.index.match(document)]
        rows.append((name, ", ".join(sorted(listeners)) or "(nobody)"))
    stage.table(("document", "who hears of it"), rows)
    found = setting.index.match(setting.documents["parking"])
    row = next(match.rows[0] for match in found if match.subscription == "ines")
    stage.talk("They are told more than that: each gets the values that they asked for. Ines, of the parking data:")
    stage.show("\n".join(f"?{name} = {term}" for name, term in row.items()))


def below_water(setting: Setting) -> None:
    stage = setting.stage
    stage.scene("Maja asked for water, and got a beach")
    themes = {
        name: str(triple.object)
        for name, document in setting.documents.items()
        for triple in document.triples
        if triple.predicate.value.endswith("dcat#theme")
    }
    stage.talk(
        f"""No document has the theme Water. But the taxonomy says that {stage.short(themes["bathing-water"])} and
        {stage.short(themes["flood-warnings"])} are below it, and Maja's query asks for whatever is:"""
    )
    stage.show("?dataset dcat:theme/rdfs:subClassOf* theme:Water")


def why(setting: Setting) -> None:
    stage = setting.stage
    stage.scene("Why?")
    stage.talk("Every match can say which triples made it. Why does Maja hear of the flood warnings?")
    stage.show(*explain.why(*_asked(setting, "maja", "flood-warnings")))


def why_not(setting: Setting) -> None:
    stage = setting.stage
    stage.scene("Why not?")
    stage.talk("And every silence can be explained. Why does Ines, who likes mobility, not hear of the bus timetables?")
    stage.show(explain.why_not(*_asked(setting, "ines", "bus-timetables")))


def _asked(setting: Setting, name: str, document: str) -> tuple[Pattern, tuple[Triple, ...], Taxonomy]:
    """What `Index.why` would look at, the variables that nobody named with names to read."""
    return readable(setting.index.pattern(name)), setting.documents[document].triples, setting.themes


def one_pattern(setting: Setting) -> None:
    stage = setting.stage
    stage.scene("Two languages, one pattern")
    lene, tomas = (next(s for s in SUBSCRIBERS if s.name == name) for name in ("lene", "tomas"))
    stage.talk("Lene and Tomas do not know each other. She wrote a conjunctive query, he wrote SPARQL:")
    stage.show(lene.text)
    stage.show("\n".join(line for line in tomas.text.splitlines() if not line.startswith("PREFIX")).strip())
    same = "the same pattern, and it is matched once" if lene.pattern() == tomas.pattern() else "two patterns"
    stage.talk(f"Compiled, this is {same}. What the index knows of Lene's subscription:")
    stage.show(setting.index.explain("lene"))


def a_mistake(setting: Setting) -> None:
    stage = setting.stage
    stage.scene("A subscription that would wait for ever")
    stage.talk(f"Viktor {MISTAKE.who}. He wants {MISTAKE.wish}. Before he waits for years, lint tells him:")
    stage.show(*triplewire.lint(readable(MISTAKE.pattern())), style="yellow")


def a_bad_document(setting: Setting) -> None:
    stage = setting.stage
    stage.scene("A document that nobody can read")
    stage.talk("The ferry terminal forgot a semicolon. It is told where; everybody else is served:")
    try:
        read(files.broken())
    except triplewire.DocumentError as error:
        stage.show(error, style="yellow")


SCENES: tuple[Callable[[Setting], None], ...] = (
    the_city,
    the_listeners,
    publication,
    below_water,
    why,
    why_not,
    one_pattern,
    a_mistake,
    a_bad_document,
)


def the_crowd(setting: Setting, size: int) -> None:
    """The whole town subscribes, and a document costs little more than before."""
    stage, index = setting.stage, setting.index
    stage.scene("The whole town listens")
    stage.talk(f"The paper writes about it, and {size:,} people subscribe: to keywords, words in titles, large files.")
    path = next(path for path in files.catalogue() if path.stem == "bathing-water")
    text, document = path.read_bytes(), read(path)
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
    """Add the crowd; on a slow machine only those who come in time, because a story should not keep anybody waiting."""
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


def goodbye(stage: Stage) -> None:
    """Where to go from here."""
    stage.scene("Your turn")
    stage.talk("The files of this story are yours to change:")
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
