"""Pages of rows: together they are the rows on record, each once, however the records are shared."""

import random

import pytest

from store.filling import lines, publish
from triplewire.store import NewRow, rows

QUERIES = (1, 2, 3, 4, 5)


@pytest.fixture
def filled(store):
    """Queries alone and in crowds, with rows of several documents."""
    chance = random.Random(3)
    with store.writing() as writer:
        for number in QUERIES:
            writer.queries.add("document", 0, f"pattern {number}", [])
        publish(writer, {f"urn:{n}": lines(*(f"<urn:s{k}> <urn:p> <urn:o{n}>" for k in range(20))) for n in range(4)})
        made = set()
        for _ in range(400):
            queries = tuple(sorted(chance.sample(QUERIES, chance.randint(1, 5))))
            document, terms = chance.randint(1, 4), (chance.randint(1, 20), chance.randint(1, 20))
            new = tuple(query for query in queries if (query, document, terms) not in made)
            if new:
                made.update((query, document, terms) for query in new)
                writer.rows.insert([NewRow(new, document, terms, terms)])
    return store


@pytest.mark.parametrize("most_sorted", [1, 20_000], ids=["searched", "sorted"])
@pytest.mark.parametrize("limit", [1, 7, 1_000])
def test_pages_are_the_rows_on_record_each_once(filled, monkeypatch, most_sorted, limit):
    monkeypatch.setattr(rows, "_SORTED", most_sorted)
    with filled.reading() as reader:
        for query in QUERIES:
            found, after = [], b""
            while page := reader.rows.page(query, after, limit):
                assert len(page) <= limit
                assert [key for key, _ in page] == sorted({key for key, _ in page})
                found += [terms for _, terms in page]
                after = page[-1][0]
            assert len(found) == len(set(found))
            assert set(found) == {row.terms for row in reader.rows.of_query(query)}
            assert len(found) > 50


def test_a_query_without_rows_has_an_empty_page(filled):
    with filled.reading() as reader:
        assert reader.rows.page(9, b"", 10) == []
