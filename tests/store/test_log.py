"""Events and batches, images and settings."""

import pytest

from triplewire.errors import StoreError
from triplewire.store import CHANGED, MATCHED, UNMATCHED, NewEvent
from triplewire.store import settings as module


def commit(writer, name, *events):
    number = writer.batches.next()
    cursors = writer.log.append(number, events)
    assert writer.batches.add(name, committed="now", documents=1, events=len(events)).number == number
    return cursors


def test_events_keep_their_order_and_their_proof(store):
    with store.writing() as writer:
        matched = NewEvent((1,), MATCHED, (5, 0), ((1, 2, 3), (4, 5, 6)), ((7, 0, 1),))
        assert commit(writer, "a", matched, NewEvent((2,), MATCHED, (6,))) == range(1, 3)
    with store.writing() as writer:
        assert commit(writer, "b") == range(0)
        assert commit(writer, "c", NewEvent((1,), UNMATCHED, (5, 0)), NewEvent((1,), CHANGED, ())) == range(3, 5)
    with store.reading() as reader:
        first = reader.log.of_query(1)[0]
        assert (first.cursor, first.batch, first.kind, first.terms) == (1, 1, MATCHED, (5, 0))
        assert (first.triples, first.documents) == (matched.triples, matched.documents)
        assert [event.cursor for event in reader.log.of_query(1, after=1)] == [3, 4]
        assert [event.cursor for event in reader.log.of_query(1, after=1, limit=1)] == [3]
        assert [event.cursor for event in reader.log.of_batch(3)] == [3, 4]
        assert [event.cursor for event in reader.log.after(1, 2)] == [2, 3]
        assert reader.log.last_cursor() == 4


def test_of_what_batches_told_of_a_row_the_first_and_the_last_word_are_found_in_their_order(store):
    words = [MATCHED, CHANGED, CHANGED, UNMATCHED]
    for number, kind in enumerate(words):
        with store.writing() as writer:
            commit(writer, f"batch {number}", NewEvent((1,), kind, (5,)), NewEvent((2,), MATCHED, (number,)))
    with store.reading() as reader:
        assert list(reader.log.told_in(0, 4)) == [
            (1, MATCHED, (5,)),
            (2, MATCHED, (0,)),
            (2, MATCHED, (1,)),
            (2, MATCHED, (2,)),
            (1, UNMATCHED, (5,)),
            (2, MATCHED, (3,)),
        ]
        assert list(reader.log.told_in(1, 3))[::2] == [(1, CHANGED, (5,)), (1, CHANGED, (5,))]


def test_batch_that_was_committed_is_recognised(store):
    with store.writing() as writer:
        commit(writer, "a")
        commit(writer, "b", NewEvent((1,), MATCHED, (5,)))
    with store.reading() as reader:
        assert reader.batches.find("c") is None
        assert reader.batches.find("b").number == reader.batches.last() == 2
        assert [(batch.id, batch.events) for batch in reader.batches.listing()] == [("a", 0), ("b", 1)]
        assert [batch.id for batch in reader.batches.listing(after=1)] == ["b"]


def test_batch_that_failed_leaves_nothing(store):
    def fail():
        with store.writing() as writer:
            commit(writer, "a", NewEvent((1,), MATCHED, (5,)))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with store.reading() as reader:
        assert (reader.batches.last(), reader.log.last_cursor(), reader.log.after(0)) == (0, 0, [])
    with store.writing() as writer:
        assert commit(writer, "a", NewEvent((1,), MATCHED, (5,))) == range(1, 2)


def test_image_takes_the_place_of_the_one_before(store, monkeypatch):
    monkeypatch.setattr(module, "PART", 10)
    with store.writing() as writer:
        writer.images.save("graph", 1, bytes(range(95)))
        writer.images.save("graph", 2, b"x" * 25)
        writer.images.save("empty", 3, b"")
    with store.reading() as reader:
        assert reader.images.load("graph") == (2, b"x" * 25)
        assert reader.images.load("empty") == (3, b"")
        assert reader.images.load("other") is None
        assert reader.images.names() == {"empty": 3, "graph": 2}
    with store.writing() as writer:
        writer.images.remove("graph")
        assert writer.images.load("graph") is None


def test_settings_are_json_values(store):
    with store.writing() as writer:
        writer.settings.set("taxonomy", ["<urn:a> <urn:b> <urn:c> ."])
        writer.settings.set("strict", True)
        writer.settings.set("strict", {"é": None})
    with store.reading() as reader:
        assert reader.settings.get("strict") == {"é": None}
        assert reader.settings.get("nothing", 5) == 5
    with store.writing() as writer:
        writer.settings.remove("strict")
        assert writer.settings.get("strict") is None
        with pytest.raises(StoreError, match="belongs to the store"):
            writer.settings.set("store.version", 7)
