"""Opening a store: what is made, what is refused, and how an older one is brought up to date."""

import sqlite3

import pytest

from store.filling import lines, publish
from triplewire.errors import DamagedStore, NewerStore, NotAStore, StoreError, StoreUnavailable
from triplewire.store import Store, migrations


def test_store_is_made_when_there_is_nothing_and_found_again(shared_kind, new_url):
    url = new_url(shared_kind)
    with Store.open(url) as store, store.writing() as writer:
        publish(writer, {"urn:d": lines("<urn:a> <urn:b> <urn:c>")})
    with Store.open(url, create=False) as store, store.reading() as reader:
        assert reader.documents.count() == 1


def test_store_that_is_not_there_is_not_made_when_it_must_not_be(shared_kind, new_url, tmp_path):
    with pytest.raises(StoreUnavailable):
        Store.open(new_url(shared_kind), create=False)
    assert list(tmp_path.iterdir()) == []


def test_store_of_a_newer_version_is_refused(shared_kind, new_url, monkeypatch):
    url = new_url(shared_kind)
    monkeypatch.setattr(migrations, "MIGRATIONS", (lambda sql: None, lambda sql: None))
    Store.open(url).close()
    monkeypatch.undo()
    with pytest.raises(NewerStore, match="install a newer Triplewire") as caught:
        Store.open(url)
    assert (caught.value.found, caught.value.known) == (3, 1)


def test_store_of_an_older_version_goes_through_the_migrations_in_order(shared_kind, new_url, monkeypatch):
    url = new_url(shared_kind)
    Store.open(url).close()
    steps = []
    monkeypatch.setattr(migrations, "MIGRATIONS", (lambda sql: steps.append(2), lambda sql: steps.append(3)))
    Store.open(url).close()
    Store.open(url).close()
    assert steps == [2, 3]


def test_migration_that_fails_leaves_the_store_as_it_was(shared_kind, new_url, monkeypatch):
    url = new_url(shared_kind)
    Store.open(url).close()

    def add_table(sql):
        sql.run("CREATE TABLE extra (x bigint)")

    def fail(sql):
        raise RuntimeError("no")

    monkeypatch.setattr(migrations, "MIGRATIONS", (add_table, fail))
    with pytest.raises(RuntimeError):
        Store.open(url)
    monkeypatch.setattr(migrations, "MIGRATIONS", (add_table,))
    Store.open(url).close()


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
