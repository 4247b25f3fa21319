"""Why an event was told: its triples, its documents, before and after (X4)."""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode, Triple
from tests.contracts.listening import HOST, HOSTS, INFO, INFOS, MEMORY, NS, PASSAU, document, publish

from triplewire.model import RDF, Behind


def only(events):
    (event,) = events
    return event


def node(name):
    return NamedNode(NS + name)


def about(name, text):
    return {triple for triple in document(text).triples if triple.subject == node(name)}


TYPE = NamedNode(RDF + "type")
WHY = {
    Triple(node("host"), TYPE, node("CycleProvider")),
    Triple(node("host"), node("serverInformation"), node("info")),
}


def test_a_match_across_documents_names_its_triples_and_both_documents(hub, ear):
    ear.add("memory", MEMORY)
    publish(hub, HOST)
    publish(hub, INFO, INFOS)
    event = only(hub.events("memory"))
    assert set(event.triples) == WHY | {Triple(node("info"), node("memory"), Literal(92))}
    assert set(event.documents) == {Behind(HOSTS, 1, 1), Behind(INFOS, None, 1)}
    assert set(event.before) == set(event.after) == about("host", HOST)


def test_an_unmatch_names_the_triples_that_made_the_match_and_what_broke_it(hub, ear):
    ear.add("memory", MEMORY)
    publish(hub, HOST)
    publish(hub, INFO, INFOS)
    publish(hub, INFO.replace("92", "32"), INFOS)
    event = list(hub.events("memory"))[-1]
    assert event.kind == "unmatched"
    assert set(event.triples) == WHY | {Triple(node("info"), node("memory"), Literal(92))}
    assert set(event.documents) == {Behind(HOSTS, 1, 1), Behind(INFOS, 1, 2)}


def test_a_change_has_the_content_before_and_after(hub, ear):
    ear.add("passau", PASSAU)
    publish(hub, HOST)
    publish(hub, HOST + ":host :colour 'red' .")
    event = list(hub.events("passau"))[-1]
    assert event.kind == "changed"
    assert set(event.documents) == {Behind(HOSTS, 1, 2)}
    assert set(event.before) == about("host", HOST)
    assert set(event.after) == about("host", HOST + ":host :colour 'red' .")


def test_a_change_that_another_document_made_names_that_document_as_well(hub, ear):
    ear.add("passau", PASSAU)
    publish(hub, HOST)
    publish(hub, ":host :colour 'red' .", INFOS)
    event = list(hub.events("passau"))[-1]
    assert set(event.documents) == {Behind(HOSTS, 1, 1), Behind(INFOS, None, 1)}
    assert set(event.after) - set(event.before) == {Triple(node("host"), node("colour"), Literal("red"))}


def test_versions_go_on_counting_after_a_retraction(hub, ear):
    """A retraction is a version without content: 1 published, 2 retracted, 3 published again."""
    ear.add("passau", PASSAU)
    publish(hub, HOST)
    hub.retract(HOSTS)
    publish(hub, HOST)
    log = list(hub.events("passau"))
    assert [event.documents for event in log] == [
        (Behind(HOSTS, None, 1),),
        (Behind(HOSTS, 1, None),),
        (Behind(HOSTS, None, 3),),
    ]
    assert [bool(event.before) for event in log] == [False, True, False]
    assert [bool(event.after) for event in log] == [True, False, True]
