"""Opening a store: what is made, what is refused, and how an older one is brought up to date."""

import sqlite3
import threading

import pytest
from sqlalchemy import MetaData, inspect

from store.filling import lines, publish
from triplewire.errors import DamagedStore, NewerStore, NotAStore, StoreError, StoreUnavailable
from triplewire.store import RETRACT, NewEntry, Store, digest, migrations, schema, terms


def test_store_is_made_when_there_is_nothing_and_found_again(shared_kind, new_url):
    url = new_url(shared_kind)
    with Store.open(url) as store, store.writing() as writer:
        publish(writer, {"urn:d": lines("<urn:a> <urn:b> <urn:c>")})
    with Store.open(url, create=False) as store, store.reading() as reader:
        assert reader.documents.count() == 1


def test_new_store_has_the_tables_and_indexes_of_the_schema(shared_kind, new_url):
    """The statements that make them are spelled once for all stores of a kind."""
    with Store.open(new_url(shared_kind)) as store:
        found = MetaData()
        found.reflect(store._database.engine)
        indexed = {name: inspect(store._database.engine).get_indexes(name) for name in found.tables}
    assert {name: table.columns.keys() for name, table in found.tables.items()} == {
        name: table.columns.keys() for name, table in schema.tables.tables.items()
    }
    for name, table in schema.tables.tables.items():
        assert found.tables[name].primary_key.columns.keys() == table.primary_key.columns.keys()
        assert {index["name"]: index["column_names"] for index in indexed[name]} == {
            index.name: index.columns.keys() for index in table.indexes
        }


def test_store_that_is_not_there_is_not_made_when_it_must_not_be(shared_kind, new_url, tmp_path):
    with pytest.raises(StoreUnavailable):
        Store.open(new_url(shared_kind), create=False)
    assert list(tmp_path.iterdir()) == []


def test_store_of_a_newer_version_is_refused(shared_kind, new_url, monkeypatch):
    url = new_url(shared_kind)
    known = migrations.current_version()
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, lambda sql: None, lambda sql: None))
    Store.open(url).close()
    monkeypatch.undo()
    with pytest.raises(NewerStore, match="install a newer Triplewire") as caught:
        Store.open(url)
    assert (caught.value.found, caught.value.known) == (known + 2, known)


def test_store_of_an_older_version_goes_through_the_migrations_in_order(shared_kind, new_url, monkeypatch):
    url = new_url(shared_kind)
    monkeypatch.setattr(migrations, "MIGRATIONS", ())
    Store.open(url).close()
    steps = []
    new = (lambda sql: steps.append(2), lambda sql: steps.append(3))
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, *new))
    Store.open(url).close()
    Store.open(url).close()
    assert steps == [2, 3]


def test_store_from_before_xml_was_kept_gets_room_for_it(shared_kind, new_url):
    url = new_url(shared_kind)
    with Store.open(url) as store, store._database.writing() as sql:
        sql.run("ALTER TABLE versions DROP COLUMN xml")
        sql.run("UPDATE settings SET value = '1' WHERE key = 'store.version'")
    with Store.open(url) as store:
        with store.writing() as writer:
            writer.documents.save([("https://example.org/a.xml", b"")], writer.batches.next(), [b"<a></a>"])
            writer.batches.add("b", committed="2026-11-16T00:00:00+00:00", documents=1, events=0)
        with store.reading() as reader:
            (record,) = reader.documents.current(["https://example.org/a.xml"])
            assert reader.documents.xml([(record.id, record.version)]) == [b"<a></a>"]
        assert list(store.problems()) == []


def test_migration_that_fails_leaves_the_store_as_it_was(shared_kind, new_url, monkeypatch):
    url = new_url(shared_kind)
    monkeypatch.setattr(migrations, "MIGRATIONS", ())
    Store.open(url).close()

    def add_table(sql):
        sql.run("CREATE TABLE extra (x bigint)")

    def fail(sql):
        raise RuntimeError("no")

    known = migrations.MIGRATIONS
    monkeypatch.setattr(migrations, "MIGRATIONS", (*known, add_table, fail))
    with pytest.raises(RuntimeError):
        Store.open(url)
    monkeypatch.setattr(migrations, "MIGRATIONS", (*known, add_table))
    Store.open(url).close()


def key_of_version_1(text: str) -> bytes:
    body, quote, suffix = text.rpartition('"')
    spelled = (body if quote else text).encode()
    return digest(suffix.encode() + quote.encode() + spelled[:-8])[:8] + spelled[-8:]


def test_terms_of_a_first_version_are_found_again(shared_kind, new_url, monkeypatch):
    url = new_url(shared_kind)
    texts = [f"<urn:dataset:{number}>" for number in range(25)] + ['"a"@en', '"b"', "_:d1x", "<urn:a>"]
    monkeypatch.setattr(migrations, "MIGRATIONS", ())
    monkeypatch.setattr(terms, "key_of", key_of_version_1)
    with Store.open(url) as store, store.writing() as writer:
        numbers = writer.terms.ids(texts)
    monkeypatch.undo()
    monkeypatch.setattr(migrations, "_AT_ONCE", 10)
    with Store.open(url) as store:
        assert list(store.problems()) == []
        with store.reading() as reader:
            assert reader.terms.find(texts) == numbers


def test_store_of_the_first_version_gets_an_intake_log(shared_kind, new_url, monkeypatch):
    url = new_url(shared_kind)
    monkeypatch.setattr(migrations, "MIGRATIONS", ())
    with Store.open(url) as store, store.writing() as writer:
        for table in ("intake", "landed", "rejected"):
            writer.settings._sql.run(f"DROP TABLE {table}")
    monkeypatch.undo()
    with Store.open(url) as store, store.writing() as writer:
        assert writer.intake.append([NewEntry(RETRACT, "urn:d")], "now") == 1
        assert writer.intake.landed() == {}
        assert writer.intake.rejected() == []


def test_file_of_another_program_is_refused_and_stays_as_it_is(tmp_path):
    diary = tmp_path / "diary.db"
    with sqlite3.connect(diary) as connection:
        connection.execute("CREATE TABLE settings (day TEXT)")
    connection.close()
    before = diary.read_bytes()
    with pytest.raises(NotAStore, match="choose another"):
        Store.open(f"sqlite:///{diary}")
    assert diary.read_bytes() == before


def test_database_of_another_program_is_refused(postgres):
    import psycopg

    url = postgres.url()
    with psycopg.connect(url, autocommit=True) as connection:
        for name in ("settings", "counters", "statements"):
            connection.execute(f"CREATE TABLE {name} (day text)")
    with pytest.raises(NotAStore):
        Store.open(url)


def test_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("Dear diary, " * 1000)
    with pytest.raises(NotAStore):
        Store.open(f"sqlite:///{tmp_path}/notes.txt")


def test_damaged_file_is_told(tmp_path):
    path = tmp_path / "store.db"
    with Store.open(f"sqlite:///{path}") as store, store.writing() as writer:
        publish(writer, {f"urn:d{n}": lines(f"<urn:{n}> <urn:b> <urn:c>") for n in range(500)})
    content = path.read_bytes()
    path.write_bytes(content[:8192] + b"\xff" * (len(content) - 8192))
    with pytest.raises(DamagedStore), Store.open(f"sqlite:///{path}") as store:
        list(store.problems())


@pytest.mark.parametrize(
    "url", ["", "mysql://host/db", "sqlite:////nowhere/at/all.db", "postgresql://nobody@/nothing?host=/nowhere"]
)
def test_url_that_leads_nowhere_says_so(url):
    with pytest.raises(StoreUnavailable):
        Store.open(url)


def test_password_of_a_url_is_not_told():
    with pytest.raises(StoreUnavailable) as caught:
        Store.open("postgresql://nobody:secret@/nothing?host=/nowhere")
    assert "secret" not in str(caught.value)


def test_store_in_memory_has_one_transaction_at_a_time():
    with Store.open(":memory:") as store, store.writing() as writer:
        publish(writer, {"urn:d": lines("<urn:a> <urn:b> <urn:c>")})
        with store.reading() as reader:
            assert reader.documents.count() == 1
        with pytest.raises(StoreError, match="one connection"), store.writing():
            pass


def test_a_url_with_two_slashes_is_refused_because_it_names_a_host():
    with pytest.raises(StoreUnavailable, match="three slashes"):
        Store.open("sqlite://lost.db")


@pytest.mark.parametrize(("durable", "waits"), [(False, 1), (True, 2)])
def test_store_waits_for_the_disk_at_every_commit_when_it_is_to_be_durable(new_url, durable, waits):
    with Store.open(new_url("sqlite"), durable=durable) as store, store._database.connected() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == waits


def test_store_in_memory_is_closed_when_what_another_thread_does_in_it_has_ended():
    """SQLite ends the whole process if a connection is closed that another thread is in."""
    store = Store.open(":memory:")
    closing = threading.Thread(target=store.close)
    with store.writing() as writer:
        closing.start()
        closing.join(0.2)
        assert closing.is_alive()
        assert writer.documents.count() == 0
    closing.join(60)
    assert not closing.is_alive()
