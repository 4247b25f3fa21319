"""Queries, their shapes and atoms, and the subscriptions that ask them."""

from dataclasses import replace

import pytest

from triplewire.errors import DuplicateSubscription, UnknownSubscription
from triplewire.store import (
    HEARD_ON,
    AtomUse,
    Hearer,
    NewQuery,
    NewRow,
    RegistryChange,
    Store,
    SubscriptionRecord,
    migrations,
)


def subscribe(writer, name, query, **given):
    values = {"text": "SELECT", "language": "sparql", "owner": None, "columns": ["x"], "first_cursor": 0, "created": 0}
    return writer.subscriptions.add(name, query=query, **(values | given))


def test_query_is_found_by_exactly_what_it_asks(store):
    with store.writing() as writer:
        term = writer.terms.ids(["<urn:a>"])[0]
        query = writer.queries.add("graph", 3, '{"pattern": 1}', [term])
    with store.reading() as reader:
        assert reader.queries.find("graph", 3, '{"pattern": 1}') == query
        assert query.terms == (term,)
        for other in (("document", 3, '{"pattern": 1}'), ("graph", 0, '{"pattern": 1}'), ("graph", 3, "{}")):
            assert reader.queries.find(*other) is None
        assert reader.queries.by_ids([query.id, 99]) == [query, None]
        assert list(reader.queries.everything()) == [query]


def test_equal_atoms_are_one_and_count_their_users(store):
    """Invariant of `store.atoms`: an atom counts the rows of its users."""
    with store.writing() as writer:
        shape, other = writer.atoms.shape_ids(["shape", "other"])
        assert writer.atoms.shape_ids(["other", "shape", "other"]) == [other, shape, other]
        first = writer.queries.add("graph", 0, "first", []).id
        second = writer.queries.add("graph", 0, "second", []).id
        uses = [AtomUse(0, shape, 0, "a"), AtomUse(0, shape, 1, "a"), AtomUse(1, shape, 0, "a")]
        a, b, again = writer.atoms.attach(first, uses)
        assert (a == again, a == b) == (True, False)
        c, d = writer.atoms.attach(second, [AtomUse(0, shape, 0, "a"), AtomUse(0, other, 0, "a")])
        assert (c, d not in (a, b)) == (a, True)
    with store.reading() as reader:
        assert {atom.id: atom.users for atom in reader.atoms.atoms()} == {a: 3, b: 1, d: 1}
        assert reader.atoms.atoms([d])[0].shape == other
        assert reader.atoms.users(a, 10) == [(first, 0), (first, 1), (second, 0)]
        assert reader.atoms.users(a, 2) == [(first, 0), (first, 1)]
        assert reader.atoms.of_queries([second, first]) == [[(a, 0), (d, 0)], [(a, 0), (b, 0), (a, 1)]]
        assert [s.definition for s in reader.atoms.shapes([other])] == ["other"]


def test_query_that_goes_takes_what_only_it_used(store):
    """Invariant of `store.atoms`: no atom is without users."""
    with store.writing() as writer:
        shape, other = writer.atoms.shape_ids(["shape", "other"])
        term = writer.terms.ids(["<urn:a>"])[0]
        first, second = (writer.queries.add("graph", 0, name, []).id for name in ("first", "second"))
        subscribe(writer, "s", first)
        kept = writer.atoms.attach(first, [AtomUse(0, shape, 0, "a")])
        writer.atoms.attach(second, [AtomUse(0, shape, 0, "a"), AtomUse(0, other, 0, "b")])
        writer.rows.insert([NewRow((second,), 0, (term,), (term,)), NewRow((first,), 0, (term,), (term,))])
        writer.queries.remove(second)
        assert [(atom.id, atom.users) for atom in writer.atoms.atoms()] == [(kept[0], 1)]
        assert [record.id for record in writer.atoms.shapes()] == [shape]
        assert [row.query for row in writer.rows.binding([term])] == [first]
        assert writer.queries.by_ids([second]) == [None]
    assert list(store.problems()) == []


def test_subscriptions_are_found_by_id_query_and_owner(store):
    with store.writing() as writer:
        query = writer.queries.add("document", 0, "q", []).id
        one = subscribe(writer, "one", query, owner="ada", columns=["x", "é"], first_cursor=7, created=2)
        two = subscribe(writer, "two", query)
    with store.reading() as reader:
        assert reader.subscriptions.find(["two", "three", "one"]) == [two, None, one]
        assert one.columns == ("x", "é")
        assert reader.subscriptions.of_queries([99, query]) == [[], [one, two]]
        assert reader.subscriptions.hearing([99, query, query]) == {
            query: [Hearer(record.first_cursor, record.id, record.columns) for record in (one, two)]
        }
        assert reader.subscriptions.listing(owner="ada") == [one]
        assert reader.subscriptions.listing(after="one", limit=1) == [two]
        assert reader.subscriptions.count() == 2


def test_id_is_taken_once_and_removed_once(store):
    with store.writing() as writer:
        query = writer.queries.add("document", 0, "q", []).id
        added = subscribe(writer, "s", query)
        with pytest.raises(DuplicateSubscription):
            subscribe(writer, "s", query)
        assert writer.subscriptions.remove("s") == added
        with pytest.raises(UnknownSubscription):
            writer.subscriptions.remove("s")


def test_many_queries_and_their_atoms_are_written_as_if_one_by_one(store):
    asked = [NewQuery("graph", 0, name) for name in ("first", "second", "third")]
    with store.writing() as writer:
        (shape,) = writer.atoms.shape_ids(["shape"])
        known = writer.queries.add("graph", 0, "second", []).id
        writer.atoms.attach(known, [AtomUse(0, shape, 0, "a")])
        assert writer.queries.find_many([*asked, asked[0]]) == [0, known, 0, 0]
        first, third = writer.queries.add_many([asked[0], asked[2]])
        assert writer.queries.find_many(asked) == [first, known, third]
        both = [AtomUse(0, shape, 0, "a"), AtomUse(0, shape, 1, "b")]
        (a, b), (c, again, d) = writer.atoms.attach_many([(first, both), (third, [both[0], both[1], both[1]])])
        assert (a, b, b) == (c, again, d)
        assert writer.atoms.attach_many([]) == writer.queries.add_many([]) == []
    with store.reading() as reader:
        assert {atom.id: atom.users for atom in reader.atoms.atoms()} == {a: 3, b: 2}
        assert reader.atoms.users(a, 10) == [(known, 0), (first, 0), (third, 0)]


def test_of_many_subscriptions_the_first_whose_id_is_taken_is_named(store):
    with store.writing() as writer:
        query = writer.queries.add("document", 0, "q", []).id
        subscribe(writer, "there", query)
        new = [SubscriptionRecord(id, query, "", "sparql", None, ("x",), 0, 0, 0, "now") for id in "abcdb"]
        with pytest.raises(DuplicateSubscription, match="'b'"):
            writer.subscriptions.add_many(new)
        with pytest.raises(DuplicateSubscription, match="'there'"):
            writer.subscriptions.add_many([new[0], replace(new[1], id="there"), new[1], new[4]])
        assert [record.number for record in writer.subscriptions.add_many(new[:4])] == [2, 3, 4, 5]
        assert writer.subscriptions.add_many([]) == []
    with store.reading() as reader:
        assert [record.id for record in reader.subscriptions.of_queries([query])[0]] == ["there", *"abcd"]


def test_another_process_catches_up_with_the_changes(shared):
    with shared.writing() as writer:
        query = writer.queries.add("document", 0, "q", []).id
        subscribe(writer, "early", query)
    with Store.open(shared.url) as other:
        with other.reading() as reader:
            known = reader.subscriptions.last_change()
        with shared.writing() as writer:
            subscribe(writer, "late", query)
            subscribe(writer, "passing", query)
            writer.subscriptions.remove("early")
            writer.subscriptions.remove("passing")
        with other.reading() as reader:
            assert reader.subscriptions.changes_after(known) == [
                RegistryChange(2, "late", query, True),
                RegistryChange(4, "early", query, False),
                RegistryChange(5, "passing", query, False),
            ]
            assert reader.subscriptions.changes_after(reader.subscriptions.last_change()) == []


def test_an_edited_subscription_is_what_it_is_now_and_has_what_it_asked_before(store):
    with store.writing() as writer:
        first, second = (writer.queries.add("graph", 0, text, []).id for text in ("one", "two"))
        before = subscribe(writer, "a", first)
        known = writer.subscriptions.last_change()
        writer.subscriptions.close_span(before, 7)
        after = writer.subscriptions.alter(before, replace(before, query=second, columns=("y",), first_cursor=7))
        assert (after.tag, before.tag) == ("1-2", "1-1")
    with store.reading() as reader:
        assert reader.subscriptions.find(["a"]) == [after]
        assert [(each.query, each.columns) for each in reader.subscriptions.spans(after)] == [
            (first, ("x",)),
            (second, ("y",)),
        ]
        assert {change.query for change in reader.subscriptions.changes_after(known)} == {first, second}
        assert reader.subscriptions.altered_after(known) == {first, second}
        heard = reader.subscriptions.hearing([first, second])
        assert [(each.first_cursor, each.last_cursor) for each in heard[first]] == [(0, 7)]
        assert [(each.first_cursor, each.last_cursor) for each in heard[second]] == [(7, HEARD_ON)]


def test_a_span_that_is_not_whole_is_found_by_a_check(store):
    with store.writing() as writer:
        query = writer.queries.add("graph", 0, "one", []).id
        record = subscribe(writer, "a", query, first_cursor=9)
        writer.subscriptions.close_span(record, 7)
    assert "spans that overlap" in "\n".join(store.problems())


def test_store_from_before_subscriptions_could_be_edited_keeps_them(shared_kind, new_url):
    url = new_url(shared_kind)
    with Store.open(url) as opened:
        with opened.writing() as writer:
            subscribe(writer, "a", writer.queries.add("graph", 0, "one", []).id)
        with opened._database.writing() as sql:
            for table in ("spans", "alterations", "past_members", "marks"):
                sql.run(f"DROP TABLE {table}")
            for column in ("title", "description", "last_cursor", "paused_since", "revision"):
                sql.run(f"ALTER TABLE subscriptions DROP COLUMN {column}")
            sql.run("DROP INDEX batches_by_time")
            before = 1 + migrations.MIGRATIONS.index(migrations._let_subscriptions_change)
            sql.run("UPDATE settings SET value = ? WHERE key = 'store.version'", str(before))
    with Store.open(url) as opened:
        with opened.writing() as writer:
            (record,) = writer.subscriptions.find(["a"])
            assert (record.title, record.last_cursor, record.paused_since, record.revision) == (None, HEARD_ON, None, 1)
            writer.subscriptions.alter(record, replace(record, title="A"))
            assert writer.subscriptions.find(["a"])[0].title == "A"
        assert list(opened.problems()) == []
