"""Deliveries in the store: what people want and what deliverers achieve do not get in each other's way."""

from __future__ import annotations

from dataclasses import replace

from triplewire import Hub
from triplewire.store import DeadLetter, DeliveryRecord, Store, migrations, schema


def made(writer, id, **more):
    record = DeliveryRecord(id, "s", "webhook", {"url": "https://a.example/"}, [{"secret": "x"}], "now", **more)
    return writer.deliveries.add(record)


def test_what_is_written_is_read_again(store):
    with store.writing() as writer:
        record = made(writer, "d", cursor=7, state="paused", reason="so", due=9, failures=2)
    with store.reading() as reader:
        assert reader.deliveries.find("d") == record
        assert reader.deliveries.of_subscription("s") == reader.deliveries.listing() == [record]
        assert reader.deliveries.find("other") is None
        assert reader.deliveries.revision() == record.revision


def test_deliverers_share_what_there_is_and_keep_what_they_are_busy_with(store):
    with store.writing() as writer:
        for number in range(4):
            made(writer, f"d{number}")
        writer.deliveries.hold("a", now=0, until=100)
        assert len(writer.deliveries.held_by("a")) == 4
        writer.deliveries.hold("b", now=10, until=110)
        assert writer.deliveries.held_by("b") == []
        writer.deliveries.hold("a", now=20, until=120, busy={"d0", "d1"})
        writer.deliveries.hold("b", now=30, until=130)
        assert [record.id for record in writer.deliveries.held_by("a")] == ["d0", "d1"]
        assert sorted(record.id for record in writer.deliveries.held_by("b")) == ["d2", "d3"]


def test_what_a_deliverer_held_is_anybodys_when_its_lease_is_over_or_it_ends(store):
    with store.writing() as writer:
        made(writer, "d")
        writer.deliveries.hold("a", now=0, until=100)
        writer.deliveries.hold("b", now=100, until=200)
        assert writer.deliveries.held_by("b") == []
        writer.deliveries.hold("b", now=101, until=201)
        assert len(writer.deliveries.held_by("b")) == 1
        writer.deliveries.let_go("b")
        writer.deliveries.hold("c", now=102, until=202)
        assert len(writer.deliveries.held_by("c")) == 1


def test_what_somebody_changed_counts_and_what_arrived_as_well(store):
    with store.writing() as writer:
        made(writer, "d")
        writer.deliveries.hold("a", now=0, until=100)
        (held,) = writer.deliveries.held_by("a")
        writer.deliveries.put(replace(held, state="paused"))
        writer.deliveries.note("a", [replace(held, cursor=5, delivered=5, state="disabled", due=77)])
        found = writer.deliveries.find("d")
        assert (found.cursor, found.delivered, found.state, found.due) == (5, 5, "paused", 0)
        writer.deliveries.note("b", [replace(found, cursor=9)])  # which does not hold it
        assert writer.deliveries.find("d").cursor == 5


def test_dead_letters_are_kept_replayed_and_dropped(store):
    letter = DeadLetter(0, "d", "s:1", 1, "application/json", b"{}", "refused", 3, "now")
    with store.writing() as writer:
        made(writer, "d")
        writer.deliveries.bury([letter, replace(letter, message="s:2")])
        first, second = writer.deliveries.dead("d")
        assert (first.message, second.message) == ("s:1", "s:2")
        assert writer.deliveries.count_dead() == {"d": 2}
        assert writer.deliveries.replay("d", [first.number, 999]) == 1
        assert writer.deliveries.replaying() == {"d"}
        assert [each.number for each in writer.deliveries.to_replay("d", 10)] == [first.number]
        writer.deliveries.refused_again([replace(first, attempts=4)])
        assert writer.deliveries.replaying() == set()
        writer.deliveries.arrived([first.number])
        assert writer.deliveries.drop("d") == 1
    assert list(store.problems())  # a delivery of no subscription


def test_deliveries_go_with_their_subscription_and_with_a_backup(shared, tmp_path):
    with Hub(shared.url) as hub:
        hub.subscribe("SELECT ?d { ?d <urn:p> ?o }", id="s")
        with hub.store.writing() as writer:
            made(writer, "d")
        shared.backup(tmp_path / "backup.db")
        assert list(shared.problems()) == []
        hub.unsubscribe("s")
        with hub.store.reading() as reader:
            assert reader.deliveries.find("d") is None
    with Store.restore(tmp_path / "backup.db", f"sqlite:///{tmp_path}/again.db") as again, again.reading() as reader:
        assert reader.deliveries.find("d") is not None


def test_compaction_leaves_what_has_still_to_be_delivered(new_url):
    with Hub(new_url("sqlite")) as hub:
        hub.subscribe("SELECT ?d { ?d <urn:p> ?o }", id="s")
        for number in range(4):
            hub.publish(f"<urn:{number}> <urn:p> 1 .", uri=f"urn:doc:{number}")
        with hub.store.writing() as writer:
            made(writer, "slow", cursor=2)
            made(writer, "ended", cursor=0, state="disabled")
        hub.store.compact(keep_events_after=4)
        assert [event.cursor for event in hub.events("s")] == [3, 4]


def test_store_of_an_older_version_gets_the_tables(shared_kind, new_url):
    url = new_url(shared_kind)
    with Store.open(url) as opened, opened._database.writing() as sql:
        for table in (schema.deliveries, schema.deliverers, schema.dead_letters):
            sql.run(f"DROP TABLE {table.name}")
        before = 1 + migrations.MIGRATIONS.index(migrations._add_deliveries)
        sql.run("UPDATE settings SET value = ? WHERE key = 'store.version'", str(before))
    with Store.open(url) as opened, opened.writing() as writer:
        made(writer, "d")
        assert writer.deliveries.find("d") is not None
