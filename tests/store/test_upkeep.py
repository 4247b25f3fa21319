"""Backup, restore, compaction, and the check of all invariants."""

import sqlite3
from contextlib import closing

import pytest

from store.filling import fill, lines, publish
from triplewire.errors import NotAStore, StoreError, StoreUnavailable
from triplewire.store import AtomUse, Store, schema


def content(store):
    """All rows of all tables."""
    with store._database.reading() as sql:
        return {
            table.name: sorted(map(repr, sql.rows(f"SELECT * FROM {table.name}")))
            for table in schema.tables.sorted_tables
        }


@pytest.mark.parametrize("target", ["memory", "sqlite", "postgresql"])
def test_backup_of_either_kind_is_restored_into_either_kind(store, target, new_url, tmp_path):
    fill(store)
    store.backup(tmp_path / "backup")
    before = (tmp_path / "backup").read_bytes()
    with Store.restore(tmp_path / "backup", new_url(target)) as restored:
        assert content(restored) == content(store)
        assert list(restored.problems()) == []
        with restored.writing() as writer:
            assert publish(writer, {"urn:new": lines("<urn:a> <urn:b> <urn:n>")}) == [3]
    assert (tmp_path / "backup").read_bytes() == before
    assert sqlite3.connect(tmp_path / "backup").execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert not list(tmp_path.glob("*.tmp")) + list(tmp_path.glob("backup-*"))


def test_backup_is_the_last_commit_while_a_writer_works(shared, tmp_path):
    fill(shared)
    before = content(shared)
    with shared.writing() as writer:
        publish(writer, {"urn:later": lines("<urn:x> <urn:y> <urn:z>")})
        shared.backup(tmp_path / "backup")
    with Store.open(f"sqlite:///{tmp_path}/backup") as copy:
        assert content(copy) == before


def test_backup_is_restored_only_into_an_empty_store(store, new_url, tmp_path):
    fill(store)
    store.backup(tmp_path / "backup")
    with Store.open(f"sqlite:///{tmp_path}/full.db") as full, full.writing() as writer:
        writer.terms.ids(["<urn:a>"])
    with pytest.raises(StoreError, match="empty store"):
        Store.restore(tmp_path / "backup", f"sqlite:///{tmp_path}/full.db")


def test_file_that_is_no_backup_is_not_restored(tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(NotAStore):
        Store.restore(tmp_path / "empty", ":memory:")
    with pytest.raises(StoreUnavailable):
        Store.restore(tmp_path / "nothing", ":memory:")
    with pytest.raises(NotAStore):
        Store.restore(tmp_path / "empty", f"sqlite:///{tmp_path}/new.db")
    assert not (tmp_path / "new.db").exists(), "a backup that is none leaves no new store behind"


def test_backup_that_cannot_be_written_says_so(store, tmp_path):
    with pytest.raises(StoreError):
        store.backup(tmp_path / "no folder" / "backup")


def test_compaction_drops_what_nothing_refers_to(store):
    fill(store)
    with store.writing() as writer:
        writer.terms.ids(["<urn:unused>", '"unused"'])
    done = store.compact()
    assert (done.terms, done.versions, done.events) == (3, 0, 0)  # the blank node of the retracted document, too
    with store.reading() as reader:
        assert reader.terms.find(["<urn:unused>"]) == [0]
        assert 0 not in reader.terms.find(["<urn:a>", "<urn:b>", "<urn:c>", '"é"'])
        assert reader.log.of_query(1)[0].triples
    assert list(store.problems()) == []
    assert store.compact().terms == 0


def test_compaction_keeps_terms_that_only_a_query_an_event_or_a_row_names(store):
    fill(store)
    with store.writing() as writer:
        publish(writer, {"urn:d": None})
    store.compact()
    with store.reading() as reader:
        assert 0 not in reader.terms.find(["<urn:a>", "<urn:b>", "<urn:c>"])
        assert reader.terms.find(['"é"']) == [0]


def test_compaction_drops_old_versions_and_events_when_asked(store):
    fill(store)
    done = store.compact(keep_versions=1, keep_events_after=1)
    assert (done.versions, done.events) == (2, 1)
    with store.reading() as reader:
        assert [version.version for version in reader.documents.history(1)] == [2]
        assert reader.documents.contents([(1, 1)]) == [None]
        assert reader.log.after(0) == []
        assert reader.log.last_cursor() == 1
    assert list(store.problems()) == []
    with pytest.raises(ValueError, match="at least 1"):
        store.compact(keep_versions=0)


def test_compaction_drops_events_of_queries_that_are_gone(store):
    fill(store)
    with store.writing() as writer:
        query = writer.subscriptions.remove("s").query
        writer.queries.remove(query)
    assert store.compact().events == 1
    assert list(store.problems()) == []


def test_compaction_goes_on_beside_a_reader(shared):
    fill(shared)
    with shared.reading() as reader:
        before = reader.documents.contents([(1, 1)])
        shared.compact(keep_versions=1)
        assert reader.documents.contents([(1, 1)]) == before


DAMAGE = {
    "DELETE FROM statements WHERE o = (SELECT id FROM terms WHERE text = '<urn:c>')": "not in the store",
    "INSERT INTO statements VALUES (1, 2, 1, 1)": "not of its content",
    "INSERT INTO statements VALUES (1, 2, 3, 2)": "document 2: 1 triples",
    "INSERT INTO statements VALUES (1, 2, 99, 1)": "have a o that is not in terms",
    "UPDATE predicates SET statements = statements + 1": "the statistics say",
    "DELETE FROM documents WHERE id = 2": "versions have a document",
    "UPDATE documents SET published = 1 WHERE id = 1": "published by batch 1",
    "UPDATE documents SET version = 1 WHERE id = 2": "after the current one",
    "UPDATE documents SET digest = (SELECT key FROM terms WHERE id = 1) WHERE id = 1": "another digest",
    "UPDATE versions SET content = (SELECT key FROM terms WHERE id = 1) WHERE version = 1": "cannot be read",
    "DELETE FROM versions WHERE document = 1 AND version = 2": "version 2 is missing",
    "UPDATE terms SET text = '<urn:other>' WHERE text = '<urn:c>'": "key of another text",
    "INSERT INTO terms SELECT id + 30, key, text FROM terms WHERE id = 2": "terms 2 and 32 are the same",
    "UPDATE counters SET value = 1 WHERE name = 'terms'": "the counter terms is at 1",
    "UPDATE queries SET start = 5": "query 1 has the digest of another one",
    "DELETE FROM subscriptions": "has no subscription",
    "DELETE FROM queries": "subscriptions have a query",
    "UPDATE atoms SET users = 2": "atom 1 has 1 users, but says 2",
    "UPDATE atoms SET position = 2": "atom 1 has the digest",
    "DELETE FROM shapes": "atoms have a shape",
    "DELETE FROM bindings": "row 1 is not bound",
    "INSERT INTO bindings VALUES (2, 1)": "row 1 is not bound",
    "INSERT INTO bindings VALUES (1, 9)": "bindings have a row",
    "UPDATE rows SET key = terms": "row 1 has the key",
    "UPDATE rows SET document = 2": "not present",
    "UPDATE events SET kind = 9": "event 1 has no kind",
    "INSERT INTO events SELECT 0, 2, query, kind, terms, triples, documents, 0 FROM events": "comes after one of batch",
    "DELETE FROM batches WHERE number = 1": "there are 1 batches",
    "UPDATE images SET part = 1": "image 'graph'",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_check_finds_what_is_wrong(store, damage):
    fill(store)
    assert list(store.problems()) == []
    with store._database.writing() as sql:
        sql.run(damage)
    assert DAMAGE[damage] in "\n".join(store.problems()).replace("1 of ", "").replace("2 of ", "")


def editing(path):
    """A connection that may write what SQLite knows of its own tables."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA writable_schema = ON")
    return closing(connection)


def test_check_finds_an_index_that_lost_an_entry(tmp_path):
    path = tmp_path / "store.db"
    with Store.open(f"sqlite:///{path}") as store:
        fill(store)
    with editing(path) as connection:
        entry = connection.execute("SELECT * FROM sqlite_master WHERE name = 'events_by_batch'").fetchone()
        connection.execute("DELETE FROM sqlite_master WHERE name = 'events_by_batch'")
    with editing(path) as connection:
        connection.execute("DELETE FROM events")
        connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", entry)
    with Store.open(f"sqlite:///{path}") as store:
        assert any("events_by_batch" in problem for problem in store.problems())


def test_atoms_of_one_query_are_checked_against_the_others(store):
    fill(store)
    with store.writing() as writer:
        writer.atoms.attach(1, [AtomUse(1, 1, 0, "atom")])
    assert list(store.problems()) == []


def test_backup_takes_the_place_of_a_backup_but_of_nothing_else(store, tmp_path):
    fill(store)
    store.backup(tmp_path / "backup")
    store.backup(tmp_path / "backup")
    (tmp_path / "precious.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    with pytest.raises(StoreError, match="no backup"):
        store.backup(tmp_path / "precious.ttl")
    assert (tmp_path / "precious.ttl").read_text() == "<urn:a> <urn:b> <urn:c> ."


def test_backup_does_not_take_the_place_of_the_store_itself(tmp_path):
    with Store.open(f"sqlite:///{tmp_path}/hub.db") as store:
        fill(store)
        with pytest.raises(StoreError, match="the store itself"):
            store.backup(tmp_path / "hub.db")
        assert list(store.problems()) == []
