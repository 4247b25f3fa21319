"""Crowds: records that queries share."""

import pytest

from store.filling import lines, publish
from triplewire.store import CHANGED, MATCHED, NewEvent, NewRow, Store, migrations

QUERIES = (1, 2, 3, 4, 5, 6)


def fill(writer, queries):
    """A document, and queries that have a subscription each."""
    for number in queries:
        writer.queries.add("graph", 0, f"query {number}", [])
        writer.subscriptions.add(
            f"s{number}",
            query=number,
            text="",
            language="rules",
            owner=None,
            columns=("x",),
            first_cursor=0,
            created=0,
        )
    publish(writer, {"urn:d": lines("<urn:a> <urn:b> <urn:c>")})


@pytest.fixture
def filled(store):
    """A store with a document and six queries, each with a subscription."""
    with store.writing() as writer:
        fill(writer, QUERIES)
    return store


def share(writer, queries, text, document=0):
    """Give queries a row and tell them; the number of its record."""
    (term,) = writer.terms.find([text])
    (number,) = writer.rows.insert([NewRow(queries, document, (term,), (term,))])
    batch = writer.batches.next()
    writer.log.append(batch, [NewEvent(queries, MATCHED, (term,), (), ())])
    writer.batches.add(f"batch {batch}", committed="now", documents=1, events=len(queries))
    return number


def unsubscribe(store, query):
    with store.writing() as writer:
        writer.subscriptions.remove(f"s{query}")
        writer.queries.remove(query)


def owners(reader, text):
    (term,) = reader.terms.find([text])
    return [row.query for row in reader.rows.binding([term])]


def counted(store, table):
    with store._database.reading() as sql:
        return sql.number(f"SELECT count(*) FROM {table}")


def test_rows_of_a_crowd_are_one_record_and_the_rows_of_each(filled):
    with filled.writing() as writer:
        number = share(writer, QUERIES, "<urn:a>")
        share(writer, (2,), "<urn:b>")
    with filled.reading() as reader:
        a, b = reader.terms.find(["<urn:a>", "<urn:b>"])
        assert [row.terms for row in reader.rows.of_query(2)] == [(a,), (b,)]
        assert [[row.id for row in rows] for rows in reader.rows.find([(3, (a,)), (3, (b,)), (9, (a,))])] == [
            [number],
            [],
            [],
        ]
        assert owners(reader, "<urn:a>") == list(QUERIES)
        assert reader.rows.of_documents([1]) == [[]]
    assert counted(filled, "rows") == 2
    assert list(filled.problems()) == []


def test_the_same_queries_are_the_same_crowd(filled):
    with filled.writing() as writer:
        share(writer, QUERIES, "<urn:a>")
    with filled.writing() as writer:
        share(writer, QUERIES, "<urn:b>")
        share(writer, QUERIES[1:], "<urn:c>")
    assert (counted(filled, "crowds"), counted(filled, "events")) == (2, 3)
    assert list(filled.problems()) == []


def test_events_of_a_crowd_have_a_cursor_for_each_query(filled):
    with filled.writing() as writer:
        share(writer, QUERIES, "<urn:a>")
        share(writer, (4,), "<urn:b>")
        last = writer.batches.next()
        writer.log.append(last, [NewEvent((2, 4, 6), CHANGED, (1,)), NewEvent((4, 5), MATCHED, (1,))])
        writer.batches.add("last", committed="now", documents=1, events=5)
    with filled.reading() as reader:
        assert [event.cursor for event in reader.log.of_query(4)] == [4, 7, 9, 11]
        assert [event.cursor for event in reader.log.of_query(4, after=4)] == [7, 9, 11]
        assert [event.cursor for event in reader.log.of_query(4, after=3, limit=2)] == [4, 7]
        assert [event.cursor for event in reader.log.of_query(6, after=5)] == [6, 10]
        assert [(event.cursor, event.query) for event in reader.log.of_batch(last)] == list(
            zip(range(8, 13), (2, 4, 6, 4, 5), strict=True)
        )
        everything = reader.log.after(0)
        assert [event.cursor for event in everything] == list(range(1, 13))
        for after in range(13):
            assert reader.log.after(after, 4) == everything[after : after + 4]
    assert list(filled.problems()) == []


def test_row_that_ends_for_some_stays_for_the_others(filled):
    with filled.writing() as writer:
        number = share(writer, QUERIES, "<urn:a>")
        writer.rows.delete([(number, 1), (number, 4)])
        assert owners(writer, "<urn:a>") == [2, 3, 5, 6]
        writer.rows.delete([(number, 2), (number, 3), (number, 6)])
        assert owners(writer, "<urn:a>") == [5]
    assert list(filled.problems()) == []
    with filled.writing() as writer:
        writer.rows.delete([(number, 5)])
        assert owners(writer, "<urn:a>") == []
    assert (counted(filled, "rows"), counted(filled, "bindings")) == (0, 0)
    assert list(filled.problems()) == []


def test_query_that_goes_leaves_its_crowds(filled):
    with filled.writing() as writer:
        share(writer, QUERIES, "<urn:a>")
    left = list(QUERIES)
    for query in (3, 1, 6, 2, 5):
        unsubscribe(filled, query)
        left.remove(query)
        with filled.reading() as reader:
            assert owners(reader, "<urn:a>") == left
            assert [event.cursor for event in reader.log.of_query(4)] == [4]
        assert list(filled.problems()) == []
    unsubscribe(filled, 4)
    assert (counted(filled, "rows"), counted(filled, "crowd_members")) == (0, 0)
    assert list(filled.problems()) == []


def test_compaction_drops_crowds_that_nothing_is_of(filled):
    with filled.writing() as writer:
        number = share(writer, QUERIES, "<urn:a>")
        share(writer, (1, 2, 3), "<urn:b>")
        writer.rows.delete([(number, query) for query in QUERIES])
    assert filled.compact(keep_events_after=5).events == 0, "the last of the first crowd may still ask for its event"
    assert filled.compact(keep_events_after=6).events == 6
    assert counted(filled, "crowds") == 1
    for query in (1, 2, 3):
        unsubscribe(filled, query)
    assert filled.compact().events == 3
    assert [counted(filled, table) for table in ("crowds", "crowd_members", "events", "rows")] == [0, 0, 0, 0]
    assert list(filled.problems()) == []


def test_crowds_are_in_a_backup(filled, tmp_path):
    with filled.writing() as writer:
        share(writer, QUERIES, "<urn:a>")
    filled.backup(tmp_path / "backup.db")
    with Store.restore(tmp_path / "backup.db", ":memory:") as restored, restored.writing() as writer:
        assert owners(writer, "<urn:a>") == list(QUERIES)
        assert [event.cursor for event in writer.log.of_query(4)] == [4]
        share(writer, QUERIES, "<urn:b>")
    assert counted(filled, "crowds") == 1


def test_crowd_that_is_rolled_back_is_forgotten(filled):
    def fail():
        with filled.writing() as writer:
            share(writer, QUERIES, "<urn:a>")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with filled.writing() as writer:
        share(writer, QUERIES[:4], "<urn:a>")
    with filled.reading() as reader:
        assert owners(reader, "<urn:a>") == [1, 2, 3, 4]
    assert list(filled.problems()) == []


DAMAGE = {
    "UPDATE crowds SET members = 5": "crowd 1 has 6 members, but says 5",
    "UPDATE crowds SET digest = queries": "crowd 1 has the digest",
    "DELETE FROM crowds": "crowd that is not in crowds",
    "UPDATE crowd_members SET place = 7 - query": "not in their places",
    "DELETE FROM crowd_members WHERE query = 2": "crowd 1 has 5 members, but says 6",
    "UPDATE rows SET query = 2": "not of either a query or a crowd",
    "INSERT INTO rows SELECT 0, 3, document, key, terms, 0 FROM rows": "on record for query 3 already",
    "INSERT INTO events SELECT 3, batch, 1, kind, terms, triples, documents, 0 FROM events": "a cursor of a crowd's",
    "UPDATE counters SET value = 3 WHERE name = 'events'": "events go up to 6",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_check_finds_what_is_wrong_with_crowds(filled, damage):
    with filled.writing() as writer:
        share(writer, QUERIES, "<urn:a>")
    with filled._database.writing() as sql:
        sql.run(damage)
    assert DAMAGE[damage] in "\n".join(filled.problems())


def test_store_from_before_there_were_crowds_keeps_its_rows_and_events(shared_kind, new_url, monkeypatch):
    url = new_url(shared_kind)
    monkeypatch.setattr("triplewire.store.crowds.FEWEST", 99)
    before = migrations.MIGRATIONS.index(migrations._form_crowds) + 1
    with Store.open(url) as store:
        with store.writing() as writer:
            fill(writer, QUERIES[:3])
            share(writer, (1,), "<urn:a>")
            share(writer, (2,), "<urn:a>")
        with store._database.writing() as sql:
            for index in ("rows_by_key", "rows_by_crowd", "events_by_crowd"):
                sql.run(f"DROP INDEX {index}")
            for table in ("rows", "events"):
                sql.run(f"ALTER TABLE {table} DROP COLUMN crowd")
            for table in ("crowds", "crowd_members"):
                sql.run(f"DROP TABLE {table}")
            sql.run("CREATE UNIQUE INDEX rows_by_key ON rows (query, key, document)")
            sql.run(f"UPDATE settings SET value = '{before}' WHERE key = 'store.version'")
    monkeypatch.undo()
    with Store.open(url) as store:
        with store.writing() as writer:
            assert owners(writer, "<urn:a>") == [1, 2]
            assert [event.cursor for event in writer.log.after(0)] == [1, 2]
            share(writer, (1, 2, 3), "<urn:b>")
            assert owners(writer, "<urn:b>") == [1, 2, 3]
        assert counted(store, "crowds") == 1
        assert list(store.problems()) == []
