"""Changes that are submitted wait on the log, and a batch takes them off with what it does."""

from __future__ import annotations

import pytest

from triplewire import Document, DocumentError, Feed, Hub, Publish, Retract, StoreError, Unread, parse
from triplewire.documents import Limits
from triplewire.intake.entries import Handled, change_of, entry_of, packed, unpacked
from triplewire.store import FILE, NewEntry, NewRejection


@pytest.fixture
def hub(new_url):
    with Hub(new_url("sqlite")) as made:
        made.subscribe("SELECT ?x { ?x <urn:p> ?y }", id="all")
        yield made


def test_changes_come_back_from_the_log_as_they_went_in():
    read = parse("<urn:s> <urn:p> [] .", uri="urn:d")
    for change in (Publish(read), Publish(Document("urn:x", b"", b"<x/>")), Retract("urn:d")):
        assert change_of(entry_of(change)) == change
    assert change_of(entry_of(Unread("urn:d", b"<urn:s> <urn:p> [] .", "text/turtle"))) == Publish(read)


def test_a_document_with_xml_is_packed_and_unpacked():
    document = Document("urn:x", b"<urn:s> <urn:p> <urn:o> .\n", b"<a>\x00</a>")
    assert unpacked("urn:x", packed(Publish(document))) == Publish(document)


def test_a_feed_comes_back_from_the_log_with_its_items_and_what_is_to_be_dropped():
    text = """<rss version="2.0"><channel><title>News</title><link>https://example.org/</link><description>d</description>
    <item><guid>1</guid><title>Rain</title></item><item><guid>2</guid><title>Sun</title></item></channel></rss>"""
    feed = parse(text, uri="https://example.org/news.rss")
    assert isinstance(feed, Feed)
    for change in (Publish(feed), Publish(feed, drop_missing=True)):
        assert change_of(entry_of(change)) == change


def test_a_file_is_read_when_its_turn_comes(tmp_path):
    path = tmp_path / "d.ttl"
    entry = NewEntry(FILE, path.as_uri(), None, str(path).encode())
    with pytest.raises(DocumentError, match=r"d\.ttl cannot be read: No such file"):
        change_of(entry)
    path.write_text("<urn:s> <urn:p> <urn:o> .")
    assert change_of(entry) == Publish(Document(path.as_uri(), b"<urn:s> <urn:p> <urn:o> .\n"))
    with pytest.raises(DocumentError, match="over the limit of 5"):
        change_of(entry, Limits(bytes=5))


def test_what_is_submitted_waits_and_causes_nothing(hub):
    assert hub.submit([Unread("urn:d", b"not Turtle at all"), Retract("urn:e")]) == 1
    assert hub.submit([Publish(parse("<urn:s> <urn:p> 1 .", uri="urn:f"))]) == 2
    assert hub.submit([]) == 2
    assert hub.documents() == []
    with hub.store.reading() as reader:
        assert [one.entry.uri for one in reader.intake.entries(0, 2)] == ["urn:d", "urn:e", "urn:f"]


def test_a_name_that_no_store_can_keep_is_refused_at_once(hub):
    with pytest.raises(DocumentError, match="NUL"):
        hub.submit([Unread("urn:\0", b"")])


def test_a_batch_takes_its_submissions_off_and_sets_aside_what_is_bad(hub):
    bad = Unread("urn:d", b"not Turtle")
    hub.submit([bad])
    hub.submit([Publish(parse("<urn:s> <urn:p> 1 .", uri="urn:f"))])
    hub.submit([Retract("urn:f")])
    with hub.store.reading() as reader:
        good = [change_of(one.entry) for one in reader.intake.entries(1, 2)]
    rejected = [NewRejection(entry_of(bad), "it is not Turtle")]
    assert len(hub.apply(good, batch="1", handled=Handled(2, rejected))) == 1
    assert [(r.uri, r.content, r.reason) for r in hub.rejected()] == [("urn:d", b"not Turtle", "it is not Turtle")]
    with hub.store.reading() as reader:
        assert reader.intake.first() == 3
    hub.apply(good, batch="1", handled=Handled(2, rejected))
    assert len(hub.rejected()) == 1, "a batch that comes again sets nothing aside again"


def test_a_batch_that_fails_leaves_the_log_as_it_was(hub, monkeypatch):
    hub.submit([Retract("urn:d")])
    monkeypatch.setattr(Handled, "note", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        hub.apply([Publish(parse("<urn:s> <urn:p> 1 .", uri="urn:f"))], handled=Handled(1))
    assert hub.documents() == []
    with hub.store.reading() as reader:
        assert reader.intake.waiting() == 1


def test_what_another_one_has_taken_off_is_not_applied_again(hub):
    hub.submit([Publish(parse("<urn:s> <urn:p> 1 .", uri="urn:f"))])
    hub.apply([], handled=Handled(1, first=1))
    with pytest.raises(StoreError, match="another stream"):
        hub.apply([Publish(parse("<urn:s> <urn:p> 1 .", uri="urn:f"))], handled=Handled(1, first=1))
    assert hub.documents() == []
