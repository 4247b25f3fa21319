"""Several documents state one triple; a batch is atomic, and known when it comes again."""

from __future__ import annotations

from tests.contracts.listening import HOST, HOSTS, INFO, INFOS, MEMORY, NS, PASSAU, document, publish

from triplewire import Publish, Retract


def test_a_triple_is_there_while_any_document_states_it(hub, ear):
    ear.add("graph", PASSAU).add("document", PASSAU, scope="document")
    publish(hub, HOST)
    assert ear.heard() == {"graph": ["matched host"], "document": ["matched host"]}
    publish(hub, HOST, INFOS)
    assert ear.heard() == {}, "nothing new is stated"
    hub.retract(HOSTS)
    assert ear.heard() == {}, "nothing is gone"
    hub.retract(INFOS)
    assert ear.heard() == {"graph": ["unmatched host"], "document": ["unmatched host"]}


def test_another_document_that_adds_to_a_resource_changes_its_rows(hub, ear):
    ear.add("graph", PASSAU).add("document", PASSAU, scope="document")
    publish(hub, HOST)
    ear.heard()
    publish(hub, ":host :colour 'red' .", INFOS)
    assert ear.heard() == {"graph": ["changed host"], "document": ["changed host"]}
    hub.retract(INFOS)
    assert ear.heard() == {"graph": ["changed host"], "document": ["changed host"]}


def test_what_one_batch_both_removes_and_restores_gives_no_event(hub, ear):
    ear.add("graph", PASSAU).add("document", PASSAU, scope="document")
    publish(hub, HOST)
    ear.heard()
    hub.apply([Retract(HOSTS), Publish(document(HOST, INFOS))])
    assert ear.heard() == {}
    hub.apply([Retract(INFOS), Publish(document(HOST, INFOS))])
    assert ear.heard() == {}, "the later change of a document replaces the earlier one"


def test_what_one_batch_both_publishes_and_retracts_gives_no_event(hub, ear):
    ear.add("graph", PASSAU)
    hub.apply([Publish(document(HOST)), Retract(HOSTS)])
    assert ear.heard() == {}
    assert list(hub.rows("graph")) == []


def test_the_last_change_of_a_document_in_a_batch_counts(hub, ear):
    ear.add("memory", MEMORY)
    first, last = (document(HOST + INFO.replace("92", memory)) for memory in ("128", "32"))
    hub.apply([Publish(first), Publish(last)])
    assert ear.heard() == {}
    hub.apply([Publish(last), Publish(first)])
    assert ear.heard() == {"memory": ["matched host"]}


def test_an_answer_that_one_batch_loses_and_finds_in_another_way_is_no_news_but_its_content(hub, ear):
    both = f"SELECT ?c {{ ?c <{NS}serverInformation> ?i . ?i <{NS}memory> ?m FILTER(?m > 64) }}"
    ear.add("any", both, language="sparql")
    hub.apply([Publish(document(HOST)), Publish(document(INFO, INFOS))])
    ear.heard()
    hub.apply(
        [
            Publish(document(HOST.replace(":info", ":other"))),
            Publish(document(INFO.replace(":info", ":other"), INFOS)),
        ]
    )
    assert ear.heard() == {"any": ["changed host"]}


def test_all_events_of_a_batch_have_its_id_and_are_what_apply_returns(hub, ear):
    ear.add("memory", MEMORY).add("passau", PASSAU)
    told = hub.apply([Publish(document(HOST)), Publish(document(INFO, INFOS))], batch="monday")
    logged = [event for id in ("memory", "passau") for event in hub.events(id)]
    assert sorted(told, key=lambda event: event.cursor) == sorted(logged, key=lambda event: event.cursor)
    assert {event.batch for event in told} == {"monday"}
    assert len({event.cursor for event in told}) == 2


def test_a_batch_that_is_replayed_changes_nothing_and_returns_the_events_it_gave(hub, ear):
    ear.add("passau", PASSAU)
    told = hub.apply([Publish(document(HOST))], batch="monday")
    hub.apply([Retract(HOSTS)], batch="tuesday")
    assert ear.heard() == {"passau": ["matched host", "unmatched host"]}
    again = hub.apply([Publish(document(HOST))], batch="monday")
    assert list(again) == list(told)
    assert [event.kind for event in again] == ["matched"]
    assert ear.heard() == {}
    assert list(hub.rows("passau")) == []


def test_a_log_is_read_from_any_cursor_in_pieces(hub, ear):
    ear.add("passau", PASSAU)
    publish(hub, HOST)
    publish(hub, HOST + ":host :colour 'red' .")
    hub.retract(HOSTS)
    log = list(hub.events("passau"))
    assert [event.kind for event in log] == ["matched", "changed", "unmatched"]
    assert list(hub.events("passau", after=log[0].cursor)) == log[1:]
    assert list(hub.events("passau", after=log[0].cursor, limit=1)) == log[1:2]
    assert list(hub.events("passau", after=log[-1].cursor)) == []
