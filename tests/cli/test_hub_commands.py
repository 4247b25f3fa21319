"""The commands that work on a store: publish, retract, subscribe, unsubscribe, rows, events, why, why-not, preview,
query."""

import json
import subprocess
import sys

import pytest

from triplewire.store import Store

HUB = "hub.db"
PARKING = "https://data.lindhaven.example/dataset/parking"
DATASETS = "SELECT ?d { ?d a <http://www.w3.org/ns/dcat#Dataset> }"


@pytest.fixture
def hub(play, call):
    """A store with the demo's subscriptions and documents."""
    assert call("subscribe", HUB, "subscriptions", "--scope", "graph").exit_code == 0
    assert call("publish", HUB, "catalogue", "-t", "themes.ttl").exit_code == 0
    return HUB


def test_subscribing_prints_the_ids(play, call):
    result = call("subscribe", HUB, "subscriptions")
    assert result.stdout.split() == ["ines", "jonas", "lene", "maja", "omar", "tomas"]
    assert "6 subscriptions registered" in result.stderr


def test_a_text_is_subscribed_to_with_its_language(play, call):
    assert call("subscribe", HUB, "-l", "sparql", DATASETS, "--id", "datasets").stdout == "datasets\n"
    made = call("subscribe", HUB, "-l", "sparql", DATASETS).stdout.strip()
    assert call("rows", HUB, made).exit_code == 0


def test_an_id_that_is_taken_is_a_problem_and_the_others_are_served(play, call):
    call("subscribe", HUB, "subscriptions/maja.rq")
    result = call("subscribe", HUB, "subscriptions")
    assert result.exit_code == 1
    assert "maja" in result.stderr
    assert "5 subscriptions registered" in result.stderr


def test_one_id_for_many_is_a_usage_error(play, call):
    assert call("subscribe", HUB, "subscriptions", "--id", "all").exit_code == 2


def test_publishing_prints_the_events(hub, call, call_for_rows):
    call("retract", hub, "catalogue/parking.ttl")
    told = call_for_rows("publish", hub, "catalogue/parking.ttl", "--json")
    assert {(event["kind"], event["subscription"]) for event in told} == {("matched", "ines"), ("matched", "omar")}
    assert call("publish", hub, "catalogue/parking.ttl").stdout == "", "the same content again changes nothing"


def test_publishing_prints_a_table_for_people(hub, call):
    call("retract", hub, "catalogue/parking.ttl")
    text = call("publish", hub, "catalogue/parking.ttl", "-f", "table", "-p", f"d={PARKING[:-7]}").stdout
    assert "subscription" in text
    assert "?dataset = d:parking" in text


def test_a_bad_document_is_a_problem_and_the_others_are_published(play, call):
    result = call("publish", HUB, "catalogue", "broken/lost-and-found.ttl", "--create")
    assert result.exit_code == 1
    assert "lost-and-found.ttl" in result.stderr
    assert json.loads(call("store", "info", HUB, "--json").stdout)["documents"] == 13


def test_a_document_may_have_another_uri_than_its_file(play, call):
    call("publish", HUB, "catalogue/parking.ttl", "--uri", "urn:parking", "--create")
    found = call("query", HUB, "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }", "--json").stdout
    assert json.loads(found) == {"g": "<urn:parking>"}
    assert call("publish", HUB, "catalogue", "--uri", "urn:all").exit_code == 2


def test_a_batch_that_comes_again_changes_nothing_and_tells_the_same(hub, call):
    call("retract", hub, "catalogue/parking.ttl")
    first = call("publish", hub, "catalogue/parking.ttl", "--batch", "monday", "--json").stdout
    assert first
    assert call("publish", hub, "catalogue/parking.ttl", "--batch", "monday", "--json").stdout == first


def test_a_taxonomy_with_a_cycle_ends_the_command_before_anything_is_published(play, call):
    below = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
    (play / "cycle.ttl").write_text(f"<urn:a> {below} <urn:b> . <urn:b> {below} <urn:a> .")
    result = call("publish", HUB, "catalogue", "-t", "cycle.ttl", "--create")
    assert result.exit_code == 2
    assert "cannot be used" in result.stderr
    assert json.loads(call("store", "info", HUB, "--json").stdout)["documents"] == 0


def test_one_document_that_the_hub_refuses_is_named_and_the_others_are_published(play, call):
    below = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
    (play / "some").mkdir()
    for number in range(30):
        (play / "some" / f"{number:02}.ttl").write_text(f"<urn:{number}> <urn:p> 1 .")
    (play / "some" / "05a.ttl").write_text(f"<urn:a> {below} <urn:b> .")
    (play / "some" / "21a.ttl").write_text(f"<urn:b> {below} <urn:a> .")
    result = call("publish", HUB, "some", "--create")
    assert result.exit_code == 1
    (told,) = [line for line in result.stderr.splitlines() if "21a.ttl" in line]
    assert "cycle" in told
    assert "31 documents" in result.stderr
    assert json.loads(call("store", "info", HUB, "--json").stdout)["documents"] == 31


def test_retracting_what_is_not_there_is_a_problem(hub, call):
    result = call("retract", hub, "urn:nothing", "catalogue/parking.ttl")
    assert result.exit_code == 1
    assert "urn:nothing: there is no document with this uri" in result.stderr
    assert "1 document: 2 events" in result.stderr


def test_rows_are_printed_as_lines_and_as_a_table(hub, call, call_for_rows):
    found = call_for_rows("rows", hub, "maja")
    assert {row["title"] for row in found} == {
        '"Bathing water at the harbour beaches"@en',
        '"Flood warnings and gauge levels"@en',
    }
    text = call("rows", hub, "maja", "-f", "table").stdout
    assert "dataset" in text
    assert "Flood warnings" in text


def test_events_are_printed_after_a_cursor(hub, call, call_for_rows):
    everything = call_for_rows("events", hub, "maja", "--json")
    assert [event["kind"] for event in everything] == ["matched", "matched"]
    later = call_for_rows("events", hub, "maja", "--after", everything[0]["cursor"], "--json")
    assert later == everything[1:]
    assert call_for_rows("events", hub, "maja", "--limit", "1", "--json") == everything[:1]
    (with_contents,) = call_for_rows("events", hub, "maja", "--limit", "1", "--contents", "--json")
    assert with_contents["after"]


def test_events_are_listed_by_their_times(hub, call, call_for_rows):
    (event,) = call_for_rows("events", hub, "maja", "--limit", "1", "--json")
    table = call("events", hub, "maja", "-f", "table").stdout
    assert table.split()[:3] == ["time", "kind", "row"]
    assert event["time"][:19].replace("T", " ") in table
    assert event["batch"] not in table
    assert event in call_for_rows("events", hub, "maja", "--since", event["time"], "--json")
    assert call_for_rows("events", hub, "maja", "--until", event["time"], "--json") == []
    assert call_for_rows("events", hub, "maja", "--since", "2999-01-01", "--json") == []
    for wrong in (["--since", "noon"], ["--until", "2026-13-01"], ["--since", "2026-03-02", "--follow"]):
        assert call("events", hub, "maja", *wrong).exit_code == 2


def test_why_names_triples_and_documents(hub, call):
    """X4"""
    text = call("why", hub, "omar", f"dataset={PARKING}").stdout
    assert f"?dataset = <{PARKING}> answers omar" in text
    assert "catalogue/parking.ttl (version 1)" in text


def test_why_without_a_row_explains_all_of_them(hub, call, call_for_rows):
    assert len(call_for_rows("why", hub, "maja", "--json")) == 2
    assert len(call_for_rows("why", hub, "maja", "--json", "--limit", "1")) == 1


def test_why_of_what_is_no_answer_is_a_problem_that_says_why(hub, call):
    result = call("why", hub, "maja", f"dataset={PARKING}")
    assert result.exit_code == 1
    assert "is not one of its answers" in result.stderr


@pytest.mark.parametrize("value", ["dataset", "=x", "dataset=no iri"])
def test_a_value_that_is_none_is_a_usage_error(hub, call, value):
    assert call("why", hub, "maja", value).exit_code == 2


def test_why_not_names_what_fails_and_what_was_seen(hub, call):
    """X4"""
    text = call("why-not", hub, "maja", PARKING).stdout
    assert f"<{PARKING}> does not answer maja" in text
    assert "?theme is, or is below, <https://data.lindhaven.example/theme/Water>` failed: ?theme was" in text
    assert json.loads(call("why-not", hub, "omar", PARKING, "--json").stdout)["matches"]


def test_preview_tells_answers_cost_and_who_has_it(hub, call):
    """X5"""
    text = call("preview", hub, "subscriptions/maja.rq", "--scope", "graph").stdout
    assert "answers now: 2" in text
    assert "an estimate" in text
    assert "the same as: maja" in text
    told = json.loads(call("preview", hub, "-l", "sparql", DATASETS, "--limit", "3", "--json").stdout)
    assert (told["count"], len(told["rows"])) == (13, 3)
    assert told["atoms"][0]["triples"] == 13


def test_query_answers_in_every_form(hub, call, call_for_rows):
    assert len(call_for_rows("query", hub, DATASETS, "--json")) == 13
    assert "dataset/parking" in call("query", hub, DATASETS, "-f", "table").stdout
    assert call("query", hub, f"ASK {{ <{PARKING}> ?p ?o }}").stdout == "yes\n"
    triples = call("query", hub, f"DESCRIBE <{PARKING}>").stdout
    assert all(line.endswith(" .") for line in triples.splitlines())


def test_query_may_be_in_a_file(hub, call_for_rows, play):
    (play / "datasets.rq").write_text(DATASETS)
    assert len(call_for_rows("query", hub, "datasets.rq", "--json")) == 13


def test_an_update_is_refused(hub, call):
    result = call("query", hub, "DELETE WHERE { ?s ?p ?o }")
    assert result.exit_code == 1
    assert "publish and retract" in result.stderr


def test_unsubscribing_forgets(hub, call):
    result = call("unsubscribe", hub, "maja", "nobody")
    assert result.exit_code == 1
    assert "1 subscription forgotten" in result.stderr
    assert call("rows", hub, "maja").exit_code == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("rows", "nothing.db", "maja"),
        ("events", "nothing.db", "maja"),
        ("why-not", "nothing.db", "maja", "urn:x"),
        ("retract", "nothing.db", "urn:x"),
        ("query", "nothing.db", "ASK {}"),
        ("store", "check", "nothing.db"),
    ],
    ids=" ".join,
)
def test_a_store_that_is_not_there_is_a_usage_error_and_is_not_made(play, call, arguments):
    result = call(*arguments)
    assert result.exit_code == 2
    assert "nothing.db" in result.stderr
    assert not (play / "nothing.db").exists()


def test_a_file_that_is_no_store_is_a_usage_error(play, call):
    result = call("publish", "themes.ttl", "catalogue")
    assert result.exit_code == 2
    assert "themes.ttl" in result.stderr


@pytest.mark.parametrize("command", [("rows", "hub.db", "maja"), ("store", "info", "hub.db")], ids=" ".join)
def test_without_sqlalchemy_the_command_says_how_to_get_it(command):
    code = f"import sys\nsys.modules['sqlalchemy'] = None\nfrom triplewire.cli.app import app\napp({list(command)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'triplewire[store]'" in done.stderr


def test_every_command_teaches_by_an_example(call):
    names = ["publish", "retract", "subscribe", "unsubscribe", "rows", "events", "why", "why-not", "preview", "query"]
    for command in [[name] for name in names] + [
        ["store", n] for n in ["info", "check", "compact", "backup", "restore"]
    ]:
        text = call(*command, "--help").stdout
        assert f"triplewire {' '.join(command)}" in text.partition("Example")[2], command


def test_publishing_what_is_not_there_makes_no_store(tmp_path, call):
    result = call("publish", str(tmp_path / "hub.db"), str(tmp_path / "nosuch.ttl"))
    assert result.exit_code != 0
    assert "documents" not in result.stderr
    assert not (tmp_path / "hub.db").exists()


def test_a_named_batch_with_a_bad_document_is_not_published(tmp_path, call):
    (tmp_path / "bad.ttl").write_text("<urn:a> <urn:b")
    (tmp_path / "good.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    store = str(tmp_path / "hub.db")
    Store.open(store).close()
    first = call("publish", store, str(tmp_path / "bad.ttl"), str(tmp_path / "good.ttl"), "--batch", "monday")
    assert first.exit_code != 0
    assert "whole or not at all" in first.stderr
    (tmp_path / "bad.ttl").write_text("<urn:a> <urn:b> <urn:d> .")
    again = call("publish", store, str(tmp_path / "bad.ttl"), str(tmp_path / "good.ttl"), "--batch", "monday")
    assert again.exit_code == 0
    assert "2 documents" in again.stderr


def test_a_store_without_a_name_is_refused(call):
    result = call("rows", "", "maja")
    assert result.exit_code == 2
    assert "the name of the store is empty" in result.stderr


def test_a_cursor_beyond_all_there_can_be_finds_nothing(tmp_path, call):
    store = str(tmp_path / "hub.db")
    call("subscribe", store, "-l", "sparql", "SELECT ?s { ?s <urn:p> ?o }", "--id", "one")
    result = call("events", store, "one", "--after", "9" * 30)
    assert (result.exit_code, result.stdout.strip()) == (0, "") or "integer" in result.stderr


def test_an_empty_name_is_not_the_current_folder(play, call):
    result = call("subscribe", HUB, "")
    assert result.exit_code == 1
    assert "an empty name is no file or folder" in result.stderr


def test_a_text_without_its_language_is_told_about_the_option(play, call):
    result = call("subscribe", HUB, DATASETS)
    assert result.exit_code == 1
    assert "--language" in result.stderr


def test_a_query_file_that_is_not_there_is_a_usage_error(hub, call):
    result = call("query", hub, "nosuch.rq")
    assert result.exit_code == 2
    assert "there is no file nosuch.rq" in result.stderr
