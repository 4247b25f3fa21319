"""A chapter: the harbour office keeps an edge; the cable to the town's hub is cut, and it still answers."""

from __future__ import annotations

from typing import cast

from pyoxigraph import QuerySolutions

from triplewire import Edge, Hub, Schema, parse
from triplewire.demo.stage import Stage
from triplewire.demo.town import live_through_the_story, open_hub, read
from triplewire.errors import ServiceUnavailable
from triplewire.wire.edges import EdgeAnswer, EdgeQuestion

RULE = """\
search <http://www.w3.org/ns/dcat#Dataset> d register d
where d.<http://www.w3.org/ns/dcat#keyword>? = 'flood'"""
STRONG = """
<http://purl.org/dc/terms/publisher> <urn:triplewire:schema#strongReference> true ."""
NOTE = """
<https://data.lindhaven.example/dataset/flood-warnings> <urn:harbour:watch> "Piet has the night shift" ."""
ASKED = """\
SELECT ?title ?office ?note {
  ?d <http://purl.org/dc/terms/title> ?title ;
     <http://purl.org/dc/terms/publisher>/<http://xmlns.com/foaf/0.1/name> ?office
  OPTIONAL { ?d <urn:harbour:watch> ?note } }"""


class Cable:
    """What lies between the harbour and the town."""

    def __init__(self, hub: Hub) -> None:
        self.hub, self.is_cut = hub, False

    def serve_edge(self, question: EdgeQuestion) -> EdgeAnswer:
        """The hub's answer, if the cable is whole."""
        if self.is_cut:
            raise ServiceUnavailable("the cable to the town is cut")
        return self.hub.serve_edge(question, owner="harbour", viewer="harbour")


def tell(stage: Stage) -> None:
    """Tell the chapter."""
    with open_hub() as hub:
        live_through_the_story(hub)
        hub.set_schema(Schema.from_triples(parse(STRONG, uri="urn:schema").triples))
        cable = Cable(hub)
        with Edge(":memory:", hub=cable) as edge:
            an_edge(stage, hub, edge)
            the_cable(stage, edge, cable)
            the_repair(stage, hub, edge, cable)


def an_edge(stage: Stage, hub: Hub, edge: Edge) -> None:
    stage.scene("The harbour office keeps what it needs")
    stage.talk(
        """The harbour lies outside the town, and so does its computer. It keeps an edge: a hub of its own, that
        follows a rule:"""
    )
    stage.show(RULE, style="green")
    edge.follow(RULE, id="floods")
    done = edge.sync()
    stage.talk(
        f"""The town has {len(hub.documents())} documents. {done.described} resources came: the dataset, what it holds,
        and the office that publishes it, because the town's schema says that this reference is a strong one. A note
        of the harbour's own stays there: what is published at an edge is private."""
    )
    edge.publish(NOTE, uri="urn:harbour:notes")
    stage.show(edge.cause("https://data.lindhaven.example/organisation/harbour-office"))


def the_cable(stage: Stage, edge: Edge, cable: Cable) -> None:
    stage.scene("A storm cuts the cable")
    cable.is_cut = True
    try:
        edge.sync()
    except ServiceUnavailable as error:
        stage.talk(f"The edge asks, and hears: {error}. It answers all the same, and says of when its answers are:")
    found = cast("QuerySolutions", edge.query(ASKED))
    stage.table(("title", "office", "note"), ([row["title"], row["office"], row["note"]] for row in found))
    stage.show(f"as of {edge.as_of}; the link: {edge.status().problem}")


def the_repair(stage: Stage, hub: Hub, edge: Edge, cable: Cable) -> None:
    stage.scene("The cable is mended")
    before = read("catalogue/flood-warnings.ttl")
    hub.retract(before.uri)
    stage.talk(
        """Meanwhile the town has withdrawn its flood warnings. The next question brings what was missed, in one
        step:"""
    )
    cable.is_cut = False
    done = edge.sync()
    stage.show(f"moved out: {len(done.moved_out)}, deleted at the hub: {len(done.deleted)}")
    left = [version.uri for version in edge.documents()]
    stage.talk(f"What is left at the harbour is its own: {', '.join(left)}.")
