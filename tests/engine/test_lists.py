"""What a hub gives is a list, and more (M9): native values, data frames, files, a table in a notebook."""

from __future__ import annotations

import pickle
import threading
from itertools import islice

import pytest

from hub.serving import serving
from triplewire import Hub, UnknownSubscription
from triplewire.client import Client

QUERY = "SELECT ?d ?n { ?d <urn:n> ?n }"


@pytest.fixture(params=["hub", "client"])
def hub(request, tmp_path):
    """The same behind both doors."""
    if request.param == "hub":
        with Hub(f"sqlite:///{tmp_path}/hub.db") as opened:
            yield opened
    else:
        with serving(f"sqlite:///{tmp_path}/hub.db") as served, Client(served.url) as client:
            yield client


@pytest.fixture
def filled(hub):
    hub.subscribe(QUERY, id="all")
    hub.publish("<urn:a> <urn:n> 1 . <urn:b> <urn:n> 22 .", uri="urn:doc", media_type="text/turtle")
    return hub


def test_rows_are_a_list_with_their_columns(filled):
    rows = filled.rows("all")
    assert rows == list(rows)
    assert rows.columns == ("d", "n") == filled.columns("all")
    assert sorted(row.python()["n"] for row in rows) == [1, 22]
    again = pickle.loads(pickle.dumps(rows))
    assert (again, again.columns) == (rows, rows.columns)


def test_rows_become_a_data_frame(filled):
    frame = filled.rows("all").to_pandas()
    assert list(frame.columns) == ["d", "n"]
    assert frame["n"].sum() == 23


def test_rows_without_an_answer_have_their_columns(hub):
    hub.subscribe(QUERY, id="none")
    assert hub.rows("none").to_arrow().column_names == ["d", "n"]


def test_events_become_a_data_frame(filled):
    frame = filled.events("all").to_pandas()
    assert list(frame["kind"]) == ["matched", "matched"]
    assert sorted(frame["row.n"]) == [1, 22]


@pytest.mark.parametrize("name", ["csv", "excel", "parquet", "jsonl"])
def test_lists_write_files(filled, tmp_path, name):
    for found in (filled.rows("all"), filled.events("all")):
        path = tmp_path / "out"
        getattr(found, f"to_{name}")(path)
        assert path.stat().st_size > 20


def test_notebook_shows_rows_events_and_what_publishing_gave(filled):
    outcome = filled.publish("<urn:c> <urn:n> 3 .", uri="urn:other", media_type="text/turtle")
    for shown in (filled.rows("all"), filled.events("all"), outcome):
        assert "<td>urn:c</td>" in shown._repr_html_()


def test_file_is_published_by_its_path(filled, tmp_path):
    path = tmp_path / "a document.ttl"
    path.write_text("<urn:c> <urn:n> 333 .")
    (event,) = filled.publish(path)
    assert event.documents[0].uri == path.resolve().as_uri()
    assert filled.document(path.resolve().as_uri()) is not None
    filled.publish(path, uri="urn:named")
    assert filled.document("urn:named") is not None


def test_events_are_followed_as_they_happen(filled):
    """The one that comes later is heard as well."""
    later = threading.Timer(0.2, filled.publish, ["<urn:c> <urn:n> 3 ."], {"uri": "urn:other"})
    following = filled.follow("all")
    first = list(islice(following, 2))
    later.start()
    third = next(following)
    later.join()
    assert [*first, third] == filled.events("all")
    assert next(filled.follow("all", after=third.cursor - 1)) == third


def test_following_ends_with_the_subscription(tmp_path):
    with Hub(f"sqlite:///{tmp_path}/hub.db") as hub, pytest.raises(UnknownSubscription):
        next(hub.follow("nobody"))
