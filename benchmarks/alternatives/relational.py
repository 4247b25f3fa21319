"""SQL joins in SQLite, as MDV does it: subscriptions are rows of tables, a document's triples are joined with them.

What is timed is writing the documents' triples into their table (parsed beforehand), the join, and emptying the table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache

from pyoxigraph import Variable

from benchmarks.alternatives.alternative import Alternative, Timed
from benchmarks.workloads import Workload
from benchmarks.workloads.phrases import DESCRIPTION
from benchmarks.workloads.phrases import KINDS as PHRASES
from benchmarks.workloads.rules import NAMESPACE
from triplewire.algebra.evaluate import Graph, evaluate
from triplewire.algebra.pattern import Node
from triplewire.model import RDF, Document

Row = tuple[int, str, str, str]
"""A triple and the number of its document in the batch."""

_TRIPLES = """
create table triple (document integer, subject text, predicate text, object text);
create index triple_place on triple (predicate, document, subject);
"""
_RULES = "create table rule (value {} not null, number integer not null, primary key (value, number)) without rowid;"
_SERVER = f"""
from triple c
cross join triple i on i.predicate = '{NAMESPACE}serverInformation'
    and i.document = c.document and i.subject = c.subject
cross join triple m on m.predicate = '{NAMESPACE}memory' and m.document = c.document and m.subject = i.object
"""
_OF_CLASS = f"where c.predicate = '{RDF}type' and c.object = '{NAMESPACE}CycleProvider'"
_JOINS = {
    "W2-OID": f"select c.document, r.number from triple c cross join rule r on r.value = c.subject {_OF_CLASS}",
    "W2-COMP": f"""select c.document, r.number from triple c
        cross join triple v on v.predicate = '{NAMESPACE}synthValue'
            and v.document = c.document and v.subject = c.subject
        cross join rule r on r.value < cast(v.object as integer) {_OF_CLASS}""",
    "W2-PATH": f"""select c.document, r.number {_SERVER}
        cross join rule r on r.value = cast(m.object as integer) {_OF_CLASS}""",
    "W2-JOIN": f"""select c.document, r.number {_SERVER}
        cross join triple h on h.predicate = '{NAMESPACE}serverHost'
            and h.document = c.document and h.subject = c.subject and instr(h.object, 'uni-passau.de')
        cross join triple u on u.predicate = '{NAMESPACE}cpu'
            and u.document = c.document and u.subject = i.object and cast(u.object as integer) = 600
        cross join rule r on r.value = cast(m.object as integer) {_OF_CLASS}""",
    **dict.fromkeys(
        PHRASES,
        f"""select t.document, r.number from triple t cross join rule r
        where t.predicate = '{DESCRIPTION}' and instr(t.object, r.value)""",
    ),
}

_EDGES = """
create table edge (number integer primary key, subject text, predicate text, object text,
    unique (predicate, subject, object));
create table member (edge integer, subscription integer, primary key (edge, subscription)) without rowid;
create table subscription (number integer primary key, edges integer);
"""
_COUNTING = """
with hit as (
    select t.document, e.number from triple t cross join edge e
        on e.predicate = t.predicate and e.subject = t.subject and e.object = t.object
    union select t.document, e.number from triple t cross join edge e
        on e.predicate = t.predicate and e.subject = t.subject and e.object = '?'
    union select t.document, e.number from triple t cross join edge e
        on e.predicate = t.predicate and e.subject = '?' and e.object = t.object
    union select t.document, e.number from triple t cross join edge e
        on e.predicate = t.predicate and e.subject = '?' and e.object = '?'
), counted as (
    select hit.document, m.subscription, count(*) as edges from hit cross join member m on m.edge = hit.number
    group by hit.document, m.subscription
)
select c.document, s.number from counted c cross join subscription s on s.number = c.subscription
where s.edges = c.edges
"""
"""G-ToPSS's way: a subscription is a candidate when all its edges are there; an edge's variables are all alike."""


class Relational(Alternative):
    """One join for W2 and W3; for W1 edges are counted in SQL, and the few candidates evaluated in Python."""

    name = "sqlite"

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._pattern = cache(workload.pattern)
        self._database = sqlite3.connect(":memory:", isolation_level=None)
        self._database.executescript(_TRIPLES)
        self._is_graph = workload.parameter is None
        self._join = _COUNTING if self._is_graph else _JOINS[workload.name]
        if self._is_graph:
            _fill_edges(self._database, workload)
        else:
            _fill_rules(self._database, workload)

    def takes(self, batch: int) -> bool:
        return batch == 1 or not self._is_graph  # counting edges costs the same for each document, and much

    def ready(self, batch: Sequence[Document]) -> Timed:
        triples = [row for number, document in enumerate(batch) for row in _rows(number, document)]
        if not self._is_graph:
            return lambda: self._joined(triples, ())
        graphs = [Graph(document.triples) for document in batch]
        self._joined(triples, graphs)  # generates the candidates' patterns, which is not to be timed
        return lambda: self._joined(triples, graphs)

    def _joined(self, triples: list[Row], graphs: Sequence[Graph]) -> list[tuple[int, int]]:
        database = self._database
        database.execute("begin")
        database.executemany("insert into triple values (?, ?, ?, ?)", triples)
        found = database.execute(self._join).fetchall()
        database.execute("delete from triple")
        database.execute("commit")
        return [pair for pair in found if self._holds(pair, graphs)] if graphs else found

    def _holds(self, pair: tuple[int, int], graphs: Sequence[Graph]) -> bool:
        document, number = pair
        return bool(evaluate(self._pattern(number), graphs[document], self._workload.taxonomy))

    def answers(self, document: Document, asked: Collection[int]) -> set[int]:
        graphs = [Graph(document.triples)] if self._is_graph else []
        return {number for _, number in self._joined(list(_rows(0, document)), graphs)} & set(asked)


def _rows(number: int, document: Document) -> Iterator[Row]:
    for triple in document.triples:
        yield number, triple.subject.value, triple.predicate.value, triple.object.value  # type: ignore[union-attr]


def _fill_rules(database: sqlite3.Connection, workload: Workload) -> None:
    assert workload.parameter is not None
    values = [(workload.parameter(i), i) for i in range(workload.subscriptions)]
    database.executescript(_RULES.format("text" if isinstance(values[0][0], str) else "integer"))
    database.executemany("insert into rule values (?, ?)", values)
    database.execute("analyze")


def _fill_edges(database: sqlite3.Connection, workload: Workload) -> None:
    """Equal edges once; a variable is `?`, so that two edges of one subscription may become one."""
    numbers: dict[tuple[str, str, str], int] = {}
    members: list[tuple[int, int]] = []
    sizes: list[tuple[int, int]] = []
    for i in range(workload.subscriptions):
        own = {_edge(triple) for triple in workload.pattern(i).branches[0].triples}
        members += [(numbers.setdefault(edge, len(numbers)), i) for edge in own]
        sizes.append((i, len(own)))
    database.executescript(_EDGES)
    rows: Iterable[tuple[object, ...]] = ((number, *edge) for edge, number in numbers.items())
    database.executemany("insert into edge values (?, ?, ?, ?)", rows)
    database.executemany("insert into member values (?, ?)", sorted(members))
    database.executemany("insert into subscription values (?, ?)", sizes)
    database.execute("analyze")


def _edge(triple: Iterable[Node]) -> tuple[str, str, str]:
    subject, predicate, object = ("?" if isinstance(node, Variable) else node.value for node in triple)
    return subject, predicate, object
