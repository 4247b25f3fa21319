"""Access lists (P8): a subscription sees the documents that its viewer may read, and nothing else of the others."""

from __future__ import annotations

import pytest
from tests.contracts.listening import HOST, HOSTS, INFO, INFOS, MEMORY, NS, PROVIDERS, STRONG, document, publish

from triplewire import Access, Publish, Restrict, Schema

ADA, BOB = Access(["ada"]), Access(["bob"])
COLOURED = f"SELECT ?c ?v {{ ?c a <{NS}CycleProvider> OPTIONAL {{ ?c <{NS}colour> ?v }} }}"


@pytest.fixture(params=["graph", "document"])
def three(request, ear):
    """Ada, Bob, and one who sees everything."""
    for name, viewer in (("ada", "ada"), ("bob", "bob"), ("all", None)):
        ear.add(name, PROVIDERS, viewer=viewer, scope=request.param)
    return ear


def test_a_document_with_a_list_reaches_its_readers_and_who_sees_everything(hub, three):
    publish(hub, ":a a :CycleProvider .", access=ADA)
    assert three.heard() == {"ada": ["matched a"], "all": ["matched a"]}
    assert list(hub.rows("bob")) == []


def test_writers_read_as_well(hub, three):
    publish(hub, ":a a :CycleProvider .", access=Access(writers=["bob"]))
    assert three.heard() == {"bob": ["matched a"], "all": ["matched a"]}


def test_a_list_that_names_nobody_leaves_who_sees_everything(hub, three):
    publish(hub, ":a a :CycleProvider .", access=Access())
    assert three.heard() == {"all": ["matched a"]}


def test_a_new_version_keeps_the_list(hub, three):
    publish(hub, ":a a :CycleProvider .", access=ADA)
    three.heard()
    publish(hub, ":a a :CycleProvider . :b a :CycleProvider .")
    assert three.heard() == {"ada": ["matched b"], "all": ["matched b"]}


def test_a_document_that_comes_back_still_has_its_list(hub, three):
    publish(hub, ":a a :CycleProvider .", access=ADA)
    hub.retract(HOSTS)
    three.heard()
    publish(hub, ":a a :CycleProvider .")
    assert three.heard() == {"ada": ["matched a"], "all": ["matched a"]}


def test_another_list_ends_rows_for_some_and_begins_them_for_others(hub, three):
    publish(hub, ":a a :CycleProvider .", access=ADA)
    three.heard()
    hub.restrict(HOSTS, BOB)
    assert three.heard() == {"ada": ["unmatched a"], "bob": ["matched a"]}
    hub.restrict(HOSTS, None)
    assert three.heard() == {"ada": ["matched a"]}
    hub.restrict(HOSTS, Access())
    assert three.heard() == {"ada": ["unmatched a"], "bob": ["unmatched a"]}


def test_the_same_list_again_says_nothing(hub, three):
    publish(hub, ":a a :CycleProvider .", access=ADA)
    three.heard()
    hub.restrict(HOSTS, Access(["ada", "ada"]))
    publish(hub, ":a a :CycleProvider .", access=ADA)
    assert three.heard() == {}


def test_a_row_stays_while_a_document_that_may_be_read_gives_it(hub, three):
    publish(hub, ":a a :CycleProvider .")
    publish(hub, ":a a :CycleProvider .", INFOS)
    three.heard()
    hub.restrict(HOSTS, ADA)
    assert three.heard() == {}
    hub.restrict(INFOS, ADA)
    assert three.heard() == {"bob": ["unmatched a"]}


def test_a_batch_with_a_new_version_and_another_list_is_told_as_one(hub, three):
    publish(hub, ":a a :CycleProvider . :b a :CycleProvider .", access=ADA)
    three.heard()
    hub.apply([Publish(document(":b a :CycleProvider . :c a :CycleProvider .")), Restrict(HOSTS, BOB)])
    assert three.heard() == {
        "ada": ["unmatched a", "unmatched b"],
        "bob": ["matched b", "matched c"],
        "all": ["matched c", "unmatched a"],
    }


def test_a_batch_that_opens_a_document_and_closes_it_again_says_nothing(hub, three):
    publish(hub, ":a a :CycleProvider .", access=ADA)
    three.heard()
    hub.apply([Restrict(HOSTS, None), Restrict(HOSTS, ADA)])
    assert three.heard() == {}


def test_an_answer_may_join_documents_with_different_lists_for_who_reads_both(hub, ear):
    for name in ("ada", "bob", "eve"):
        ear.add(name, MEMORY, viewer=name)
    publish(hub, HOST, access=Access(["ada", "bob"]))
    publish(hub, INFO, INFOS, access=ADA)
    assert ear.heard() == {"ada": ["matched host"]}
    hub.restrict(INFOS, Access(["bob", "eve"]))
    assert ear.heard() == {"ada": ["unmatched host"], "bob": ["matched host"]}


def test_a_subscription_that_starts_ever_is_told_what_its_viewer_may_read(hub, ear):
    publish(hub, ":a a :CycleProvider .", access=ADA)
    publish(hub, ":b a :CycleProvider .", INFOS)
    for scope in ("graph", "document"):
        ear.add(f"ada {scope}", PROVIDERS, viewer="ada", scope=scope)
        ear.add(f"bob {scope}", PROVIDERS, viewer="bob", scope=scope)
    both, one = ["matched a", "matched b"], ["matched b"]
    assert ear.heard() == {"ada graph": both, "ada document": both, "bob graph": one, "bob document": one}


def test_a_subscription_that_starts_now_does_not_count_an_older_document_that_is_opened(hub, ear):
    publish(hub, ":a a :CycleProvider .", access=ADA)
    for scope in ("graph", "document"):
        ear.add(scope, PROVIDERS, viewer="bob", start="now", scope=scope)
    hub.restrict(HOSTS, None)
    assert ear.heard() == {}
    publish(hub, ":a a :CycleProvider ; :colour 'red' .")
    assert ear.heard() == {"graph": ["matched a"], "document": ["matched a"]}


def test_what_changes_in_a_document_that_may_not_be_read_is_no_change(hub, three):
    publish(hub, ":a a :CycleProvider .")
    three.heard()
    publish(hub, ":a :colour 'red' .", INFOS, access=ADA)
    assert three.heard() == {"ada": ["changed a"], "all": ["changed a"]}
    publish(hub, ":a :colour 'blue' .", INFOS)
    assert three.heard() == {"ada": ["changed a"], "all": ["changed a"]}
    hub.restrict(INFOS, BOB)
    assert three.heard() == {"ada": ["changed a"], "bob": ["changed a"]}
    hub.retract(INFOS)
    assert three.heard() == {"bob": ["changed a"], "all": ["changed a"]}


def test_a_triple_that_moves_from_a_hidden_document_to_an_open_one_is_news_to_who_did_not_see_it(hub, three):
    publish(hub, ":a a :CycleProvider .")
    publish(hub, ":a :colour 'red' .", INFOS, access=ADA)
    three.heard()
    hub.apply([Publish(document(":a a :CycleProvider ; :colour 'red' .")), Publish(document(":x a :Y .", INFOS))])
    assert three.heard() == {"bob": ["changed a"]}


def test_a_strong_reference_in_a_hidden_document_holds_nothing_for_others(hub, ear):
    hub.set_schema(Schema.from_triples(document(STRONG).triples))
    publish(hub, ":a a :CycleProvider .")
    publish(hub, ":a :serverInformation :info .", INFOS, access=ADA)
    publish(hub, ":info :memory 1 .", "http://example.org/more")
    for name in ("ada", "bob"):
        ear.add(name, PROVIDERS, viewer=name)
    ear.heard()
    publish(hub, ":info :memory 2 .", "http://example.org/more")
    assert ear.heard() == {"ada": ["changed a"]}


def test_documents_that_may_not_be_read_are_behind_no_event(hub, ear):
    for name in ("ada", "bob"):
        ear.add(name, PROVIDERS, viewer=name)
    hub.apply(
        [
            Publish(document(":a a :CycleProvider .")),
            Publish(document(":a a :CycleProvider ; :colour 'vermilion' .", INFOS), access=ADA),
        ]
    )
    (told,) = hub.events("bob")
    assert [(behind.uri, behind.before, behind.after) for behind in told.documents] == [(HOSTS, None, 1)]
    assert "vermilion" not in str(told.after)
    (told,) = hub.events("ada")
    assert {behind.uri for behind in told.documents} == {HOSTS, INFOS}
    assert "vermilion" in str(told.after)


def test_who_loses_a_document_sees_it_go_and_who_gains_it_sees_it_come(hub, ear):
    for name in ("ada", "bob"):
        ear.add(name, PROVIDERS, viewer=name)
    publish(hub, ":a a :CycleProvider .", access=ADA)
    hub.restrict(HOSTS, BOB)
    versions = {name: [(d.before, d.after) for e in hub.events(name) for d in e.documents] for name in ("ada", "bob")}
    assert versions == {"ada": [(None, 1), (1, None)], "bob": [(None, 1)]}


def test_an_optional_column_from_a_hidden_document_is_empty_for_others(hub, ear):
    for name in ("ada", "bob"):
        ear.add(name, COLOURED, language="sparql", viewer=name)
    publish(hub, ":a a :CycleProvider .")
    publish(hub, ":a :colour 'red' .", INFOS, access=ADA)
    assert ear.heard() == {"ada": ["matched a", "matched a red", "unmatched a"], "bob": ["matched a"]}
    hub.restrict(INFOS, BOB)
    told = ear.heard()
    assert set(told["ada"]) >= {"matched a", "unmatched a red"}
    assert set(told["bob"]) >= {"matched a red", "unmatched a"}


def test_what_ends_for_an_optional_column_is_told_with_triples_that_could_be_read(hub, ear):
    ear.add("bob", COLOURED, language="sparql", viewer="bob")
    publish(hub, ":a a :CycleProvider ; :colour 'vermilion' .", access=ADA)
    publish(hub, ":a a :CycleProvider .", INFOS)
    hub.retract(INFOS)
    assert ear.heard() == {"bob": ["matched a", "unmatched a"]}
    assert all("vermilion" not in str(event.triples) for event in hub.events("bob"))
    assert {behind.uri for event in hub.events("bob") for behind in event.documents} == {INFOS}


def test_equal_queries_of_different_viewers_share_rows_and_stay_apart(hub, ear):
    for number in range(6):
        ear.add(f"s{number}", PROVIDERS, viewer="ada" if number % 2 else f"other {number}")
    publish(hub, ":a a :CycleProvider .")
    assert set(ear.heard()) == {f"s{number}" for number in range(6)}
    hub.restrict(HOSTS, ADA)
    assert ear.heard() == {f"s{number}": ["unmatched a"] for number in (0, 2, 4)}
    hub.restrict(HOSTS, Access(["other 2"]))
    assert ear.heard() == {"s2": ["matched a"], **{f"s{number}": ["unmatched a"] for number in (1, 3, 5)}}


def test_the_viewer_without_a_name_sees_what_is_for_everybody(hub, ear):
    ear.add("everybody", PROVIDERS, viewer="")
    publish(hub, ":a a :CycleProvider .", access=ADA)
    publish(hub, ":b a :CycleProvider .", INFOS)
    assert ear.heard() == {"everybody": ["matched b"]}


def test_what_a_listed_document_says_of_classes_is_not_the_taxonomy(hub, ear):
    cars = f"SELECT ?x {{ ?x a/<http://www.w3.org/2000/01/rdf-schema#subClassOf>* <{NS}Car> }}"
    ear.add("all", cars, language="sparql").add("bob", cars, language="sparql", viewer="bob")
    publish(hub, ":x a :Taxi .")
    below = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :Taxi rdfs:subClassOf :Car ."
    publish(hub, below, INFOS, access=ADA)
    assert ear.heard() == {}
    hub.restrict(INFOS, None)
    assert ear.heard() == {"all": ["matched x"], "bob": ["matched x"]}
    hub.restrict(INFOS, ADA)
    assert ear.heard() == {"all": ["unmatched x"], "bob": ["unmatched x"]}


def test_xpath_selects_in_documents_that_may_be_read(hub, ear):
    for name in ("ada", "bob"):
        ear.add(name, "//host", language="xpath", scope="document", viewer=name)
    hub.publish("<x><host>1</host></x>", uri=HOSTS, media_type="application/xml", access=ADA)
    assert ear.heard() == {"ada": ["matched host"]}
    hub.publish("<x><host>2</host></x>", uri=HOSTS, media_type="application/xml")
    assert ear.heard() == {"ada": ["changed host"]}
    hub.restrict(HOSTS, BOB)
    assert ear.heard() == {"ada": ["unmatched host"], "bob": ["matched host"]}
