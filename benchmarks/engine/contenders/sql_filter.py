"""sql-filter: MDV's filter as plain SQL joins in SQLite, updates and deletions as its section 3.5 does them.

It tells what matched and what no longer does, not what changed, and it keeps no versions and no log: it does less.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from pyoxigraph import NamedNode

from benchmarks.engine.contenders import filter_tables
from benchmarks.engine.contenders.contender import Contender, Rows, Step
from benchmarks.engine.filter_rules import SUBJECT, Reference, Rule, Trigger
from benchmarks.engine.workload import Change, Workload
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.model import RDF, Document

Atom = tuple[str, str, str, str, str]
"""Resource, property, value, class, document."""

_OPERATORS = {"=": "equal", ">": "greater", "contains": "contains", "is-a": "is_a"}


class SqlFilter(Contender):
    """Timed: everything but parsing the documents."""

    name = "sql-filter"
    events: int = 0

    def __init__(self, workload: Workload, folder: Path) -> None:
        self._database = sqlite3.connect(folder / "filter.db", isolation_level=None)
        self._database.executescript(
            "pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -65536;"
        )
        self._database.execute("pragma temp_store = memory")
        self._database.executescript(filter_tables.TABLES)
        rules = _Decomposition()
        ends = [(rules.number(workload.rule(i)), i) for i in range(workload.subscriptions)]
        self._database.execute("begin")
        rules.write(self._database)
        self._database.executemany("insert into subscriber values (?, ?)", ends)
        self._database.executemany("insert into broader values (?, ?)", _closure(workload.taxonomy))
        self._database.execute("commit")
        self._database.execute("analyze")

    def ready(self, changes: Sequence[Change]) -> list[Step]:
        atoms = [atom for _, document in changes if document is not None for atom in _atoms(document)]
        return [Step(lambda: self._apply([change.uri for change in changes], atoms))]

    def rows(self, asked: Collection[int]) -> Rows:
        query = """select r.resource from subscriber s cross join result r indexed by result_by_rule on r.rule = s.rule
            where s.subscription = ?"""
        self._database.execute("create index if not exists by_subscription on subscriber (subscription)")
        return {i: frozenset(row[0] for row in self._database.execute(query, (i,))) for i in asked}

    def close(self) -> None:
        self._database.close()

    def _apply(self, uris: Sequence[str], atoms: Sequence[Atom]) -> None:
        run = self._database.execute
        run("begin immediate")
        for table in ("atom", "changed", "delta", "found", "lost", "fresh"):
            run(f"delete from {table}")
        self._database.executemany("insert into changed values (?)", [(uri,) for uri in uris])
        self._take_away()
        self._database.executemany(
            "insert or ignore into metadata values (?, ?, ?, ?, ?)",
            [(resource, property, value, kind, document) for resource, property, value, kind, document in atoms],
        )
        run("delete from atom")
        self._database.executemany("insert into atom values (?, ?, ?, ?)", [atom[:4] for atom in atoms])
        run(filter_tables.TRIGGERED)
        self._spread("result", "fresh")
        matched = run(filter_tables.MATCHED).fetchall()
        unmatched = run(filter_tables.UNMATCHED).fetchall()
        run("commit")
        self.events += len(matched) + len(unmatched)

    def _take_away(self) -> None:
        """Candidates from the old state are taken away, and those that hold without the old documents come back."""
        run = self._database.execute
        taken = run("""insert into atom select m.resource, m.property, m.value, m.kind from changed c
            cross join metadata m on m.document = c.document""").rowcount
        if not taken:
            return
        run(filter_tables.TRIGGERED)
        self._spread("lost")
        run("delete from metadata where document in (select document from changed)")
        run("delete from result where (resource, rule) in (select resource, rule from lost)")
        run(filter_tables.SURVIVING)

    def _spread(self, *into: str) -> None:
        """From what is in `found`: write what is new, find what depends on it, and so on until nothing is new."""
        run, first = self._database.execute, into[0]
        while True:
            run(f"""delete from found where exists
                (select 1 from {first} r where r.resource = found.resource and r.rule = found.rule)""")
            for table in into:
                run(f"insert or ignore into {table} select resource, rule from found")
            run("delete from delta")
            run("insert into delta select resource, rule from found where rule in (select rule from source)")
            run("delete from found")
            if not run("select exists (select 1 from delta)").fetchone()[0]:
                return
            run(filter_tables.JOINED)


class _Decomposition:
    """Atomic rules by number; equal ones are one."""

    def __init__(self) -> None:
        self._numbers: dict[Rule, int] = {}
        self._dependencies: list[tuple[int, int, str, int]] = []

    def number(self, rule: Rule) -> int:
        known = self._numbers.get(rule)
        if known is not None:
            return known
        if isinstance(rule, Trigger):
            return self._numbered(rule)
        left, right = self.number(rule.left), self.number(rule.right)
        property = rule.property if isinstance(rule, Reference) else ""
        target = self._numbered(rule)
        self._dependencies.append((left, right, property, target))
        return target

    def _numbered(self, rule: Rule) -> int:
        return self._numbers.setdefault(rule, len(self._numbers) + 1)

    def write(self, database: sqlite3.Connection) -> None:
        """Fill the tables of the rules."""
        for rule, number in self._numbers.items():
            if not isinstance(rule, Trigger):
                continue
            if rule.operator == "any":
                database.execute("insert into rule_any values (?, ?)", (rule.kind, number))
                continue
            row = f"insert into rule_{_OPERATORS[rule.operator]} (kind, property, value, rule) values (?, ?, ?, ?)"
            database.execute(row, (rule.kind, rule.property, rule.value, number))
        database.executemany("insert into dependency values (?, ?, ?, ?)", self._dependencies)
        sources = {(rule,) for left, right, _, _ in self._dependencies for rule in (left, right)}
        database.executemany("insert into source values (?)", sorted(sources))
        links = {(rule.property,) for rule in self._numbers if isinstance(rule, Reference)}
        database.executemany("insert into link values (?)", sorted(links))


def _closure(taxonomy: Taxonomy) -> Iterator[tuple[str, str]]:
    for node in taxonomy.nodes():
        assert isinstance(node, NamedNode)
        yield node.value, node.value
        for above in taxonomy.ancestors(node):
            assert isinstance(above, NamedNode)
            yield node.value, above.value


def _atoms(document: Document) -> Iterable[Atom]:
    """Section 3.2: a document's statements, each with the class of its resource, and the resource itself."""
    triples = document.triples
    kinds = {t.subject.value: t.object.value for t in triples if t.predicate.value == RDF + "type"}  # type: ignore[union-attr]
    for subject, kind in kinds.items():
        yield subject, SUBJECT, subject, kind, document.uri
    for triple in triples:
        subject = triple.subject.value  # type: ignore[union-attr]  # no triple is about a triple here
        if triple.predicate.value != RDF + "type":
            yield subject, triple.predicate.value, triple.object.value, kinds[subject], document.uri  # type: ignore[union-attr]
