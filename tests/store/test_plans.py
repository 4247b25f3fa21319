"""Every question of a transaction that is asked for each batch finds its answer through an index (SQLite's plans)."""

import re

import pytest

from store.filling import fill
from triplewire.store import Store
from triplewire.store.databases import connect
from triplewire.store.dialects import SqliteSql
from triplewire.store.documents import DocumentReader
from triplewire.store.terms import Generations
from triplewire.store.transactions import Reader
from triplewire.store.triples import TripleReader


class Watched(SqliteSql):
    """A transaction that notes how each question would be answered."""

    plans: list[tuple[str, str]]

    def rows(self, text, *values):
        self.plans += [(text, row[-1]) for row in super().rows(f"EXPLAIN QUERY PLAN {text}", *values)]
        return super().rows(text, *values)


def _seen(reader: Reader) -> TripleReader:
    return TripleReader(reader._sql, reader.documents, "ada")


QUESTIONS = {
    "terms.find": lambda reader: reader.terms.find(["<urn:a>", "<urn:nothing>"]),
    "terms.texts": lambda reader: reader.terms.texts([1]),
    "documents.current": lambda reader: reader.documents.current(["urn:d"]),
    "documents.contents": lambda reader: reader.documents.contents([(1, 1)]),
    "documents.of_batches": lambda reader: reader.documents.of_batches(0, 1),
    "documents.first_of_batches": lambda reader: reader.documents.first_of_batches(0, 1),
    "log.told_in": lambda reader: list(reader.log.told_in(0, 1)),
    "documents.listing": lambda reader: reader.documents.listing("urn:d"),
    "triples.forward": lambda reader: reader.triples.forward([(1, 2), (1, 0)], after=1),
    "triples.backward": lambda reader: reader.triples.backward([(2, 3)], after=1),
    "triples.degrees": lambda reader: reader.triples.degrees([(2, 3)], 9),
    "triples.visible": lambda reader: reader.triples.visible([(1, 2, 3)], 1),
    "triples.listed": lambda reader: reader.triples.listed([(1, 2, 3)]),
    "triples.forward for a viewer": lambda reader: _seen(reader).forward([(1, 2), (1, 0)], after=1),
    "triples.backward for a viewer": lambda reader: _seen(reader).backward([(2, 3)]),
    "triples.degrees for a viewer": lambda reader: _seen(reader).degrees([(2, 3)], 9),
    "triples.stated_by for a viewer": lambda reader: _seen(reader).stated_by([(1, 2, 3)]),
    "triples.visible for a viewer": lambda reader: _seen(reader).visible([(1, 2, 3)], 1),
    "documents.current for a viewer": lambda reader: DocumentReader(reader._sql, "ada").current(["urn:d"]),
    "documents.listing for a viewer": lambda reader: DocumentReader(reader._sql, "ada").listing("urn:d"),
    "queries.find": lambda reader: reader.queries.find("graph", 0, "{}"),
    "atoms.users": lambda reader: reader.atoms.users(1, 9),
    "atoms.of_queries": lambda reader: reader.atoms.of_queries([1]),
    "subscriptions.find": lambda reader: reader.subscriptions.find(["s"]),
    "subscriptions.of_queries": lambda reader: reader.subscriptions.of_queries([1]),
    "subscriptions.hearing": lambda reader: reader.subscriptions.hearing([1]),
    "subscriptions.changes_after": lambda reader: reader.subscriptions.changes_after(1),
    "rows.find": lambda reader: reader.rows.find([(1, (1,))]),
    "rows.of_query": lambda reader: reader.rows.of_query(1),
    "rows.page": lambda reader: reader.rows.page(1, b"", 10),
    "rows.of_documents": lambda reader: reader.rows.of_documents([1]),
    "rows.binding": lambda reader: reader.rows.binding([1]),
    "log.of_query": lambda reader: reader.log.of_query(1),
    "log.of_batch": lambda reader: reader.log.of_batch(1),
    "log.after": lambda reader: reader.log.after(1),
    "batches.find": lambda reader: reader.batches.find("batch 1"),
}


@pytest.fixture(scope="module", params=["new", "compacted"])
def database(request, tmp_path_factory):
    """A store as it is after its first batches, and after a compaction, which must not gather statistics."""
    url = f"sqlite:///{tmp_path_factory.mktemp('plans')}/store.db"
    with Store.open(url) as store:
        fill(store)
        if request.param == "compacted":
            store.compact()
    opened = connect(url, 60)
    yield opened
    opened.close()


@pytest.mark.parametrize("question", QUESTIONS)
def test_question_of_every_batch_is_answered_through_an_index(database, question):
    with database.connected() as connection:
        sql = Watched(connection)
        sql.plans = []
        QUESTIONS[question](Reader(sql, Generations()))
    # of the counters there are a dozen, and one who reads asks for all of them once
    walks = [plan for plan in sql.plans if re.match(r"SCAN (?!k\b|\(|counted|counters$|(\d+ )?CONSTANT)", plan[1])]
    assert sql.plans
    assert walks == []
