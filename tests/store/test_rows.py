"""The rows on record."""

import pytest

from store.filling import lines, publish
from triplewire.store import NewRow


@pytest.fixture
def filled(store):
    """A store with two documents, two queries and five terms."""
    with store.writing() as writer:
        for number, pattern in enumerate(("first", "second"), 1):
            writer.queries.add("graph", 0, pattern, [])
            writer.subscriptions.add(
                f"s{number}",
                query=number,
                text="",
                language="rules",
                owner=None,
                columns=(),
                first_cursor=0,
                created=0,
            )
        publish(writer, {"urn:d": lines("<urn:a> <urn:b> <urn:c>"), "urn:e": lines('<urn:a> <urn:d> "x"')})
    return store


def test_rows_are_found_by_what_they_hold(filled):
    with filled.writing() as writer:
        a, b, x = writer.terms.find(["<urn:a>", "<urn:b>", '"x"'])
        numbers = writer.rows.insert(
            [
                NewRow((1,), 0, (a, x), (a,)),
                NewRow((2,), 1, (a, a), (a, a)),
                NewRow((2,), 2, (a, a), (a,)),
                NewRow((2,), 2, (b, 0), (b,)),
            ]
        )
        assert [[row.id for row in rows] for rows in writer.rows.find([(2, (a, a)), (1, (a, a)), (1, (a, x))])] == [
            numbers[1:3],
            [],
            numbers[:1],
        ]
        assert [[row.id for row in rows] for rows in writer.rows.of_documents([2, 0, 1])] == [
            numbers[2:],
            [],
            numbers[1:2],
        ]
        assert [row.id for row in writer.rows.binding([a, b])] == numbers
        assert [row.terms for row in writer.rows.binding([x, b])] == [(b, 0)]
        assert [len(writer.rows.of_query(query)) for query in (1, 2)] == [1, 3]
    assert list(filled.problems()) == []


def test_rows_of_a_query_come_once_for_each_document(filled):
    with filled.writing() as writer:
        terms = writer.terms.find(["<urn:a>", "<urn:b>", "<urn:c>", "<urn:d>"])
        writer.rows.insert([NewRow((1,), document, (term,), (term,)) for document in (1, 2) for term in terms])
    with filled.reading() as reader:
        found = [(row.document, row.terms[0]) for row in reader.rows.of_query(1)]
    assert found == [(document, term) for document in (1, 2) for term in terms]


def test_rows_that_go_take_their_bindings_along(filled):
    with filled.writing() as writer:
        a, x = writer.terms.find(["<urn:a>", '"x"'])
        one, two, _ = writer.rows.insert(
            [NewRow((1,), 0, (a, x), (a,)), NewRow((1,), 0, (a, a), (a,)), NewRow((2,), 0, (a,), (a,))]
        )
        writer.rows.delete([(one, 1), (99, 1)])
        assert [row.id for row in writer.rows.binding([a])] == [two, two + 1]
        writer.rows.clear(1)
        assert [row.query for row in writer.rows.binding([a])] == [2]
    assert list(filled.problems()) == []


def test_row_is_on_record_once(filled):
    def insert_twice():
        with filled.writing() as writer:
            writer.rows.insert([NewRow((1,), 0, (1,), (1,)), NewRow((1,), 0, (1,), (1,))])

    with pytest.raises(Exception, match=r"(?i)unique") as caught:
        insert_twice()
    assert type(caught.value).__name__ in ("IntegrityError", "UniqueViolation")
    with filled.reading() as reader:
        assert reader.rows.of_query(1) == []


def test_a_writer_finds_rows_of_terms_that_it_made_itself(store):
    with store.writing() as writer:
        (old,) = writer.terms.ids(["<urn:old>"])
        writer.rows.insert([NewRow((1,), 0, (old,), (old,))])
    with store.writing() as writer:
        (new,) = writer.terms.ids(["<urn:new>"])
        asked = [(1, (old,)), (1, (new,)), (1, (old, new))]
        assert [len(found) for found in writer.rows.find(asked)] == [1, 0, 0]
        writer.rows.insert([NewRow((1,), 0, (new,), (new,))])
        assert [len(found) for found in writer.rows.find(asked)] == [1, 1, 0]
