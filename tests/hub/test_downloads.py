"""Rows and events as files over HTTP (M9, X7): by Accept or by ?format, all of them, for who may have them."""

from __future__ import annotations

import csv
import io
import json

import openpyxl
import pyarrow.parquet as pq
import pytest

from hub.serving import problem, serving
from hub.test_access_lists_over_http import EVERYTHING, HIDDEN, IN_THE_OPEN, OPEN, SECRET, TELLING, people
from triplewire.client import Client
from triplewire.hub import downloads
from triplewire.tables import FORMATS

__all__ = ["people"]

ROWS = "/v1/subscriptions/all/rows"
EVENTS = "/v1/subscriptions/all/events"
QUERY = "SELECT ?d ?n { ?d <urn:n> ?n }"
MANY = 2_300


def read(name: str, content: bytes) -> list[dict]:
    """The records of a file, whatever its format, as text."""
    if name == "csv":
        return list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    if name == "jsonl":
        return [json.loads(line) for line in content.decode().splitlines()]
    if name == "parquet":
        return pq.read_table(io.BytesIO(content)).to_pylist()
    head, *lines = openpyxl.load_workbook(io.BytesIO(content)).active.iter_rows(values_only=True)
    return [dict(zip(head, line, strict=True)) for line in lines]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A server with more answers than any page holds."""
    with serving(f"sqlite:///{tmp_path_factory.mktemp('hub')}/hub.db") as client:
        client.subscribe("all", QUERY)
        client.publish("urn:doc", "".join(f"<urn:d{number}> <urn:n> {number} .\n" for number in range(MANY)))
        yield client


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("way", ["accept", "format"])
def test_file_has_all_rows(filled, name, way):
    asked = {"headers": {"Accept": FORMATS[name].media_type}} if way == "accept" else {"params": {"format": name}}
    answer = filled.get(ROWS, **asked)
    assert answer.status_code == 200
    assert answer.headers["content-type"].partition(";")[0] == FORMATS[name].media_type
    assert answer.headers["content-disposition"].startswith(f'attachment; filename="all-rows.{name}"')
    assert "Accept" in answer.headers["vary"]
    found = read(name, answer.content)
    assert len(found) == MANY
    assert len({str(record["d"]) for record in found}) == MANY


@pytest.mark.parametrize("name", FORMATS)
def test_file_has_all_events_after_a_cursor(filled, name):
    first = filled.events("all", limit=1)["next"]
    found = read(name, filled.get(EVENTS, params={"format": name, "after": first}).content)
    assert len(found) == MANY - 1
    assert [int(record["cursor"]) for record in found] == sorted(int(record["cursor"]) for record in found)
    assert {record["kind"] for record in found} == {"matched"}


def test_events_as_a_file_have_their_contents_if_these_are_asked_for(filled):
    asked = {"format": "csv", "contents": "true", "after": MANY - 1}
    (event,) = read("csv", filled.get(EVENTS, params=asked).content)
    assert json.loads(event["after"]) == [f"{event['row.d'].join('<>')} <urn:n> {typed(event['row.n'])}"]


def test_file_of_events_keeps_the_columns_from_before_an_edit(served):
    served.subscribe("edited", "SELECT ?old { ?old <urn:p> 1 }")
    served.publish("urn:doc", "<urn:s> <urn:p> 1 ; <urn:q> 2 .")
    served.put("/v1/subscriptions/edited", json={"text": "SELECT ?new { ?new <urn:q> 2 }"})
    place = "/v1/subscriptions/edited"
    found = read("csv", served.get(f"{place}/events", params={"format": "csv"}).content)
    assert [(event["kind"], event["row.old"], event["row.new"]) for event in found] == [
        ("matched", "urn:s", ""),
        ("unmatched", "urn:s", ""),
        ("matched", "", "urn:s"),
    ]
    told = served.get(place).json()
    assert (told["columns"], told["past_columns"]) == (["new"], ["old"])
    with Client(str(served.base_url)) as client:
        assert client.log_columns("edited") == ("new", "old")


def typed(number: str) -> str:
    return f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>'


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("*/*", "application/json"),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "application/json"),
        ("text/csv;q=0.5, application/x-ndjson", "application/x-ndjson"),
        ("text/*", "text/csv"),
        ("application/json, text/csv", "application/json"),
        ("application/json;q=0.1, text/csv;q=0.2", "text/csv"),
    ],
)
def test_accept_chooses_by_its_qualities(filled, accept, expected):
    for address in (ROWS, EVENTS):
        answer = filled.get(address, headers={"Accept": accept})
        assert answer.headers["content-type"].partition(";")[0] == expected


def test_format_counts_more_than_accept(filled):
    answer = filled.get(ROWS, params={"format": "json"}, headers={"Accept": "text/csv"})
    assert len(answer.json()["rows"]) == 1_000


@pytest.mark.parametrize("address", [ROWS, EVENTS])
def test_what_is_not_offered_is_refused_with_what_is(filled, address):
    told = problem(filled.get(address, headers={"Accept": "image/png"}), 406, "not-acceptable")
    assert {"application/json", *(each.media_type for each in FORMATS.values())} == set(told["offered"])


def test_format_that_there_is_not_is_refused_in_words(filled):
    told = problem(filled.get(ROWS, params={"format": "pdf"}), 400, "bad-request")
    assert "json, csv, xlsx, parquet, jsonl" in told["detail"]


@pytest.mark.parametrize("format", FORMATS)
def test_subscription_that_there_is_not_is_told_before_any_file(filled, format):
    for kind in ("rows", "events"):
        answer = filled.get(f"/v1/subscriptions/none/{kind}", params={"format": format})
        problem(answer, 404, "unknown-subscription")


def test_name_of_a_file_is_harmless_and_true(served):
    name = 'süß "x"; filename=evil.exe'
    served.subscribe(name, QUERY)
    answer = served.get(f"/v1/subscriptions/{name}/rows", params={"format": "csv"})
    disposition = answer.headers["content-disposition"]
    assert disposition.startswith('attachment; filename="s____x___filename_evil.exe-rows.csv"; ')
    assert disposition.endswith("filename*=UTF-8''s%C3%BC%C3%9F%20%22x%22%3B%20filename%3Devil.exe-rows.csv")


def test_only_so_many_files_are_made_at_a_time(tmp_path):
    """Those that grow on disk; what is text is sent as it is made."""
    with serving(f"sqlite:///{tmp_path}/hub.db", downloads=0) as client:
        client.subscribe("all", QUERY)
        problem(client.get(ROWS, params={"format": "xlsx"}), 503, "service-unavailable")
        assert client.get(ROWS, params={"format": "csv"}).status_code == 200


def test_file_that_was_sent_makes_room_for_the_next(tmp_path):
    with serving(f"sqlite:///{tmp_path}/hub.db", downloads=1) as client:
        client.subscribe("all", QUERY)
        answers = [client.get(ROWS, params={"format": name}) for name in ("xlsx", "parquet", "xlsx")]
        assert [answer.status_code for answer in answers] == [200] * 3


def test_what_is_not_installed_is_not_offered(monkeypatch):
    monkeypatch.setattr("triplewire.tables.writers.find_spec", lambda name: None)
    with pytest.raises(downloads.NotAcceptable) as refused:
        downloads.wanted("xlsx", None)
    assert "application/vnd.apache.parquet" not in refused.value.offered
    with pytest.raises(downloads.NotAcceptable):
        downloads.wanted(None, "application/vnd.apache.parquet")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", ["rows", "events"])
def test_file_is_for_who_may_have_the_answers(people, format, kind):
    """P8: an access list counts for files as it does for JSON."""
    people["ada"].publish(OPEN, IN_THE_OPEN)
    people["ada"].publish(SECRET, HIDDEN, reader=people["bob"].id)
    for name in ("bob", "eve"):
        people[name].subscribe(f"of-{name}", EVERYTHING)
    own = people["eve"].get(f"/subscriptions/of-eve/{kind}", params={"format": format})
    assert own.status_code == 200
    shown = json.dumps(read(format, own.content), default=str)
    assert "thing" in shown
    assert not [word for word in TELLING if word in shown]
    problem(people["eve"].get(f"/subscriptions/of-bob/{kind}", params={"format": format}), 403, "not-allowed")


def test_file_needs_a_token_where_the_answers_do(people):
    people["bob"].subscribe("of-bob", EVERYTHING)
    del people["eve"].headers["Authorization"]
    problem(people["eve"].get("/subscriptions/of-bob/rows", params={"format": "csv"}), 401, "not-authenticated")
