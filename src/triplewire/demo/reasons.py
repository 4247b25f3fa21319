"""A chapter: why a subscriber hears of something, why not, and what is wrong with a query or a document."""

from __future__ import annotations

from pyoxigraph import Triple

import triplewire
from triplewire import Pattern, Taxonomy
from triplewire.algebra import explain
from triplewire.algebra.wording import readable
from triplewire.demo import files
from triplewire.demo.stage import Stage
from triplewire.demo.subscribers import MISTAKE, SUBSCRIBERS
from triplewire.demo.town import Catalogue, open_catalogue, read


def tell(stage: Stage) -> None:
    """Tell the chapter."""
    catalogue = open_catalogue()
    for scene in (why, why_not, one_pattern, a_mistake, a_bad_document):
        scene(stage, catalogue)


def why(stage: Stage, catalogue: Catalogue) -> None:
    stage.scene("Why?")
    stage.talk("Every match can say which triples made it. Why does Maja hear of the flood warnings?")
    stage.show(*explain.why(*_asked(catalogue, "maja", "flood-warnings")))


def why_not(stage: Stage, catalogue: Catalogue) -> None:
    stage.scene("Why not?")
    stage.talk("And every silence can be explained. Why does Ines, who likes mobility, not hear of the bus timetables?")
    stage.show(explain.why_not(*_asked(catalogue, "ines", "bus-timetables")))


def _asked(catalogue: Catalogue, name: str, document: str) -> tuple[Pattern, tuple[Triple, ...], Taxonomy]:
    """What `Index.why` would look at, the variables that nobody named with names to read."""
    return readable(catalogue.index.pattern(name)), catalogue.documents[document].triples, catalogue.themes


def one_pattern(stage: Stage, catalogue: Catalogue) -> None:
    stage.scene("Two languages, one pattern")
    lene, tomas = (next(s for s in SUBSCRIBERS if s.name == name) for name in ("lene", "tomas"))
    stage.talk("Lene and Tomas do not know each other. She wrote a conjunctive query, he wrote SPARQL:")
    stage.show(lene.text)
    stage.show("\n".join(line for line in tomas.text.splitlines() if not line.startswith("PREFIX")).strip())
    same = "the same pattern, and it is matched once" if lene.pattern() == tomas.pattern() else "two patterns"
    stage.talk(f"Compiled, this is {same}. What the index knows of Lene's subscription:")
    stage.show(catalogue.index.explain("lene"))


def a_mistake(stage: Stage, catalogue: Catalogue) -> None:
    stage.scene("A subscription that would wait for ever")
    stage.talk(f"Viktor {MISTAKE.who}. He wants {MISTAKE.wish}. Before he waits for years, lint tells him:")
    stage.show(*triplewire.lint(readable(MISTAKE.pattern())), style="yellow")


def a_bad_document(stage: Stage, catalogue: Catalogue) -> None:
    stage.scene("A document that nobody can read")
    stage.talk("The ferry terminal forgot a semicolon. It is told where; everybody else is served:")
    try:
        read(f"broken/{files.broken().name}")
    except triplewire.DocumentError as error:
        stage.show(error, style="yellow")
