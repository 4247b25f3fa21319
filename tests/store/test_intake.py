"""The intake log: submissions in order, whole, until a batch takes them off."""

from __future__ import annotations

from contextlib import suppress

from triplewire.store import FILE, INTAKE, RETRACT, UNREAD, NewEntry, NewRejection, WaitingEntry


def sent(*uris):
    return [NewEntry(UNREAD, uri, "text/turtle", uri.encode()) for uri in uris]


def test_entries_come_back_in_order_and_whole(store):
    with store.writing() as writer:
        assert writer.intake.append([*sent("urn:a", "urn:b"), NewEntry(RETRACT, "urn:c")], "noon") == 1
        assert writer.intake.append([NewEntry(FILE, "urn:d", None, b"/d.ttl")], "one") == 2
    with store.reading() as reader:
        found = list(reader.intake.entries(0, 2))
        assert found == [
            WaitingEntry(1, NewEntry(UNREAD, "urn:a", "text/turtle", b"urn:a"), 0, "noon", log=INTAKE),
            WaitingEntry(1, NewEntry(UNREAD, "urn:b", "text/turtle", b"urn:b"), 1, "noon", log=INTAKE),
            WaitingEntry(1, NewEntry(RETRACT, "urn:c"), 2, "noon", log=INTAKE),
            WaitingEntry(2, NewEntry(FILE, "urn:d", None, b"/d.ttl"), 0, "one", log=INTAKE),
        ]
        assert list(reader.intake.entries(1, 2)) == found[3:]
        assert reader.intake.sizes(0, 2) == [(1, 3), (2, 1)]


def test_a_batch_never_cuts_a_submission(store):
    with store.writing() as writer:
        for uris in (("urn:1", "urn:2", "urn:3"), ("urn:4",), ("urn:5", "urn:6")):
            writer.intake.append(sent(*uris), "")
        until = writer.intake.until
        assert [until(0, most) for most in (1, 2, 3, 4, 5, 6, 7)] == [1, 1, 1, 2, 2, 3, 3]
        assert [until(1, most) for most in (1, 2, 3)] == [2, 2, 3]
        assert until(3, 10) == 3


def test_what_is_taken_off_is_gone_and_its_positions_are_not_given_again(store):
    with store.writing() as writer:
        assert (writer.intake.first(), writer.intake.last(), writer.intake.waiting()) == (1, 0, 0)
        for uri in ("urn:1", "urn:2", "urn:3"):
            writer.intake.append(sent(uri), "")
        writer.intake.take(2)
        assert (writer.intake.first(), writer.intake.last(), writer.intake.waiting()) == (3, 3, 1)
        writer.intake.take(3)
        assert (writer.intake.first(), writer.intake.last(), writer.intake.waiting()) == (4, 3, 0)
        assert writer.intake.append(sent("urn:4"), "") == 4


def test_a_submission_that_is_rolled_back_never_was(store):
    with suppress(RuntimeError), store.writing() as writer:
        writer.intake.append(sent("urn:1"), "")
        raise RuntimeError("no")
    with store.writing() as writer:
        assert writer.intake.append(sent("urn:2"), "") == 1
        assert [one.entry.uri for one in writer.intake.entries(0, 9)] == ["urn:2"]


def test_what_is_set_aside_is_kept_with_its_reason(store):
    bad = sent("urn:1", "urn:2")
    with store.writing() as writer:
        writer.intake.reject([NewRejection(entry, "not Turtle") for entry in bad], "noon")
        assert writer.intake.count_rejected() == 2
        assert [(r.number, r.uri, r.content, r.reason, r.rejected) for r in writer.intake.rejected(after=1)] == [
            (2, "urn:2", b"urn:2", "not Turtle", "noon")
        ]
        assert writer.intake.forget_rejected(1) == 1
        assert [rejection.uri for rejection in writer.intake.rejected()] == ["urn:2"]


def test_files_that_were_seen_are_remembered_until_they_are_gone(store):
    with store.writing() as writer:
        writer.intake.land({"/a": "1", "/b": "1"})
        writer.intake.land({"/b": "2"})
        assert writer.intake.landed() == {"/a": "1", "/b": "2"}
        writer.intake.forget_landed(["/a"])
        assert writer.intake.landed() == {"/b": "2"}
