"""What a viewer may read of a hub, who may change what, and how lists come to documents."""

from __future__ import annotations

import pytest

from triplewire import Access, Document, DocumentError, Hub, Publish, Restrict, Retract, parse
from triplewire.errors import AccessDenied, UnknownDocument, UnknownRow
from triplewire.intake.entries import change_of, entry_of
from triplewire.intake.settlement import is_refused

OPEN, HIDDEN, FEED = "urn:open", "urn:hidden", "https://example.org/news.rss"
THINGS = "SELECT ?s ?t { ?s <urn:title> ?t }"
RSS = "<rss version='2.0'><channel><title>News</title>{}</channel></rss>"
ITEM = "<item><guid>urn:item:{0}</guid><title>news {0}</title></item>"


@pytest.fixture
def hub():
    with Hub() as hub:
        hub.publish("<urn:thing> a <urn:Thing> ; <urn:title> 'open' .", uri=OPEN)
        hub.publish(
            "<urn:thing> <urn:title> 'hidden' . <urn:h> <urn:p> <urn:thing> .", uri=HIDDEN, access=Access(["ada"])
        )
        yield hub


def test_a_viewer_reads_what_it_may(hub):
    assert [version.uri for version in hub.documents(viewer="ada")] == [HIDDEN, OPEN]
    assert [version.uri for version in hub.documents(viewer="bob")] == [OPEN]
    assert hub.document(HIDDEN, viewer="bob") is None
    assert hub.document(HIDDEN, 1, viewer="bob") is None
    assert hub.history(HIDDEN, viewer="bob") == []
    assert hub.document(HIDDEN, viewer="ada") == hub.document(HIDDEN)
    found = {viewer: hub.resource("urn:thing", viewer=viewer) for viewer in ("ada", "bob")}
    assert (len(found["ada"].triples), found["ada"].references) == (3, 1)
    assert (len(found["bob"].triples), found["bob"].references) == (2, 0)
    assert [source.uri for source in found["bob"].documents] == [OPEN]
    assert [len(list(hub.query("SELECT * { ?s ?p ?o }", viewer=viewer))) for viewer in ("ada", "bob", "")] == [4, 2, 2]
    named = "SELECT ?g { GRAPH ?g { ?s ?p ?o } }"
    assert {str(one["g"]) for one in hub.query(named, viewer="bob")} == {f"<{OPEN}>"}
    assert [d.uri for d in hub.find(THINGS, language="sparql", viewer="bob")] == [OPEN]
    assert [hub.preview(THINGS, viewer=viewer).count for viewer in ("ada", "bob")] == [2, 1]


def test_sparql_follows_lists_that_change(hub):
    def count(viewer):
        return len(list(hub.query("SELECT * { ?s ?p ?o }", viewer=viewer)))

    assert (count("ada"), count("bob"), count(None)) == (4, 2, 4)
    hub.restrict(HIDDEN, Access(["bob"]))
    assert (count("ada"), count("bob"), count(None)) == (2, 4, 4)
    hub.publish("<urn:thing> <urn:title> 'hidden' .", uri=HIDDEN)
    assert (count("ada"), count("bob"), count(None)) == (2, 3, 3)
    hub.restrict(HIDDEN, None)
    assert (count("ada"), count("bob"), count(None)) == (3, 3, 3)


def test_reasons_are_what_the_viewer_may_read(hub):
    for viewer in ("ada", "bob"):
        hub.subscribe(THINGS, id=viewer, scope="graph", start="ever", viewer=viewer)
    hub.publish("<urn:thing> <urn:title> 'open' .", uri="urn:third", access=Access(["ada"]))
    (row,) = hub.rows("bob")
    assert [source.uri for source in hub.why("bob", row).documents] == [OPEN]
    assert [source.uri for source in hub.why("ada", row).documents] == [OPEN, "urn:third"]
    hidden = next(row for row in hub.rows("ada") if row["t"].value == "hidden")
    with pytest.raises(UnknownRow) as caught:
        hub.why("bob", hidden)
    assert HIDDEN not in str(caught.value)
    assert not hub.why_not("bob", "urn:h").is_mentioned
    assert hub.why_not("ada", "urn:h").is_mentioned


def test_why_not_names_no_hidden_document_that_was_published_before(hub):
    hub.subscribe("SELECT ?s { ?s <urn:p> ?t }", id="bob", scope="graph", viewer="bob")
    hub.subscribe("SELECT ?s { ?s <urn:p> ?t }", id="ada", scope="graph", viewer="ada")
    assert hub.why_not("bob", "urn:h").earlier == ()
    assert [source.uri for source in hub.why_not("ada", "urn:h").earlier] == [HIDDEN]


def test_an_event_that_was_told_stays_told(hub):
    """Who could read a document then was told of it, and may read that again."""
    hub.subscribe(THINGS, id="ada", start="ever", viewer="ada")
    hub.restrict(HIDDEN, Access())
    kinds = [(event.kind, event.row["t"].value) for event in hub.events("ada") if event.row["t"].value == "hidden"]
    assert kinds == [("matched", "hidden"), ("unmatched", "hidden")]
    assert len(hub.rows("ada")) == 1


def test_changes_are_for_writers(hub):
    document = Document(HIDDEN, b"<urn:a> <urn:b> <urn:c> .\n")
    hub.restrict(HIDDEN, Access(["ada"], ["eve"]))
    for change in (Publish(document, by="ada"), Retract(HIDDEN, "ada"), Restrict(HIDDEN, None, "bob")):
        with pytest.raises(AccessDenied) as caught:
            hub.apply([change])
        assert (caught.value.uri, caught.value.by) == (HIDDEN, change.by)
    assert hub.access(HIDDEN) == Access(["ada"], ["eve"])
    hub.apply([Publish(document, by="eve"), Restrict(HIDDEN, Access(["bob"]), "eve")])
    with pytest.raises(AccessDenied):
        hub.apply([Retract(HIDDEN, "eve")])
    hub.apply([Publish(Document(OPEN, b""), by="bob"), Retract(OPEN, "zoe")])


def test_changes_of_a_batch_are_allowed_by_what_those_before_them_have_left(hub):
    document = Document("urn:new", b"<urn:a> <urn:b> <urn:c> .\n")
    with pytest.raises(AccessDenied):
        hub.apply([Publish(document, access=Access(["bob"], ["ada"]), by="ada"), Retract("urn:new", "bob")])
    assert hub.document("urn:new") is None, "a batch is whole or not at all"
    hub.apply([Restrict(HIDDEN, None), Retract(HIDDEN, "bob")])
    assert hub.document(HIDDEN) is None


def test_a_document_that_is_not_there_has_no_list(hub):
    with pytest.raises(UnknownDocument):
        hub.restrict("urn:nothing", Access())
    with pytest.raises(UnknownDocument):
        hub.access("urn:nothing")
    with pytest.raises(DocumentError, match="publish it first"):
        hub.apply([Restrict("urn:nothing", Access())])
    hub.apply([Publish(Document("urn:nothing", b"")), Restrict("urn:nothing", Access())])
    assert hub.access("urn:nothing") == Access()


def test_names_that_no_store_can_keep_are_refused(hub):
    with pytest.raises(DocumentError, match="NUL"):
        hub.restrict(OPEN, Access(["a\0"]))
    with pytest.raises(TypeError, match="none of them empty"):
        Access([""])
    with pytest.raises(TypeError):
        Access("ada")


def test_items_of_a_feed_have_its_list(hub):
    hub.publish(RSS.format(ITEM.format(1)), uri=FEED, media_type="application/rss+xml", access=Access(["ada"]))
    hub.publish(RSS.format(ITEM.format(1) + ITEM.format(2)), uri=FEED, media_type="application/rss+xml")
    assert len([v for v in hub.documents(viewer="ada") if v.uri.startswith(FEED)]) == 3
    assert not [v for v in hub.documents(viewer="bob") if v.uri.startswith(FEED)], "not even the new item"
    hub.restrict(FEED, Access(["bob"]))
    assert len([v for v in hub.documents(viewer="bob") if v.uri.startswith(FEED)]) == 3
    hub.publish(RSS.format(ITEM.format(3)), uri=FEED, media_type="application/rss+xml")
    assert len([v for v in hub.documents(viewer="bob") if v.uri.startswith(FEED)]) == 4
    assert not [v for v in hub.documents(viewer="ada") if v.uri.startswith(FEED)]
    hub.restrict(FEED, None)
    assert len([v for v in hub.documents(viewer="ada") if v.uri.startswith(FEED)]) == 4


@pytest.mark.parametrize(
    "change",
    [
        Publish(Document(OPEN, b"<urn:a> <urn:b> <urn:c> .\n"), access=Access(["ada"], ["eve"]), by="eve"),
        Publish(Document(OPEN, b""), by="eve"),
        Publish(parse(RSS.format(ITEM.format(1)), uri=FEED, media_type="application/rss+xml"), True, Access()),
        Retract(OPEN, "eve"),
        Retract(OPEN),
        Restrict(OPEN, Access(["ada"], ["eve"]), "eve"),
        Restrict(OPEN, None),
    ],
    ids=str,
)
def test_a_change_comes_back_from_the_intake_log_as_it_was(change):
    assert change_of(entry_of(change)) == change


def test_what_somebody_may_not_change_is_refused_to_them_alone():
    error = AccessDenied(OPEN, by="bob")
    assert is_refused(Retract(OPEN, "bob"), error)
    assert not is_refused(Retract(OPEN, "ada"), error)
    assert not is_refused(Retract(HIDDEN, "bob"), error)
    assert is_refused(Retract(OPEN, "ada"), DocumentError("bad", uri=OPEN))
    assert is_refused(Retract(FEED), DocumentError("bad", uri=f"{FEED}#item=1")), "an item is a part of its feed"
    assert not is_refused(Retract(FEED), DocumentError("bad", uri=f"{FEED}2"))


def test_another_process_knows_who_sees_what_from_a_saved_index(new_url, monkeypatch):
    monkeypatch.setattr("triplewire.engine.standing._WORTH_AN_IMAGE", 2)
    url = new_url("sqlite")
    with Hub(url) as hub:
        for viewer in ("ada", "bob", "eve"):
            hub.subscribe(THINGS, id=viewer, scope="graph", viewer=viewer)
    with Hub(url) as hub:
        hub.publish("<urn:a> <urn:title> 'x' .", uri=HIDDEN, access=Access(["ada"]))
        assert [len(hub.rows(viewer)) for viewer in ("ada", "bob", "eve")] == [1, 0, 0]


def test_equal_queries_of_several_viewers_are_filled_each(hub):
    for viewer in ("ada", "bob", "zoe", None):
        for scope in ("graph", "document"):
            hub.subscribe(THINGS, id=f"{viewer} {scope}", scope=scope, start="ever", viewer=viewer, backfill="later")
    assert hub.backfill().subscriptions == 8
    for scope in ("graph", "document"):
        assert [len(hub.rows(f"{viewer} {scope}")) for viewer in ("ada", "bob", "zoe", None)] == [2, 1, 1, 2]
        assert [len(hub.events(f"{viewer} {scope}")) for viewer in ("ada", "bob", "zoe", None)] == [2, 1, 1, 2]
    assert list(hub.check()) == []
