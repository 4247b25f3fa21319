"""The triples of the current metadata: who states what, found from either end.

A statement is a triple and the document that states it. Questions come in batches, and are answered with distinct
triples however many documents state them. What is asked is always a beginning of the primary key (s, p, o, document)
or of the index (p, o, s, document), so an answer costs what it finds, not what the store holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from triplewire.store import schema
from triplewire.store.access import seen
from triplewire.store.documents import DocumentReader, DocumentRecord
from triplewire.store.packing import Triple
from triplewire.store.sql import Sql

Key = tuple[int, int]
Difference = tuple[int, Sequence[Triple], Sequence[Triple]]
"""A document, the triples that it no longer states, and those that it states now."""

_STATEMENT = ("s", "p", "o", "document")
_GREATEST = (1 << 63) - 1
_PUBLISHED = " AND EXISTS (SELECT 1 FROM documents d WHERE d.id = st.document AND d.published > ?)"

_SP = "WITH k(a, b) AS ({keys}) SELECT st.s, st.p, st.o FROM k CROSS JOIN statements st WHERE st.s = k.a AND st.p = k.b"
_S = "WITH k(a) AS ({keys}) SELECT st.s, st.p, st.o FROM k CROSS JOIN statements st WHERE st.s = k.a"
_PO = "WITH k(a, b) AS ({keys}) SELECT st.s, st.p, st.o FROM k CROSS JOIN statements st WHERE st.p = k.a AND st.o = k.b"
_P = "WITH k(a) AS ({keys}) SELECT st.s, st.p, st.o FROM k CROSS JOIN statements st WHERE st.p = k.a"
_DEGREE = (
    "WITH k(a, b) AS ({keys}) SELECT k.a, k.b, (SELECT count(*) FROM"
    " (SELECT 1 FROM statements st WHERE st.p = k.a AND st.o = k.b %s LIMIT ?) counted) FROM k"
)
_STATED = (
    "WITH k(a, b, c) AS ({keys}) SELECT st.s, st.p, st.o, st.document"
    " FROM k CROSS JOIN statements st WHERE st.s = k.a AND st.p = k.b AND st.o = k.c"
)


_ABOUT = "WITH k(a) AS ({keys}) SELECT st.s, st.p, st.o, st.document FROM k CROSS JOIN statements st WHERE st.s = k.a"


class TripleSpan(NamedTuple):
    """A part of the triples with a predicate and an object, or with a predicate, or of all; 0 is any.

    The parts are by the first number that is not fixed, in the order of the index that answers it: low < it <= high.
    """

    predicate: int
    object: int
    low: int
    high: int


class TripleReader:
    """Lookups of triples; 0 in a key stands for any term, `after` leaves out documents of older batches.

    With a `viewer`, only those that it may read state anything; `predicates` counts all of them nevertheless.
    """

    def __init__(self, sql: Sql, documents: DocumentReader, viewer: str | None = None) -> None:
        self._sql = sql
        self._documents = documents
        self._seen, self._viewer = seen(viewer, "st.document")

    def forward(self, keys: Sequence[Key], after: int = 0) -> list[list[Triple]]:
        """The triples of each (subject, predicate); predicate 0 is any."""
        exact = dict.fromkeys(key for key in keys if key[1])
        any_predicate = dict.fromkeys((subject,) for subject, predicate in keys if not predicate)
        found: dict[Key, dict[Triple, None]] = {}
        for triple in self._find(_SP, list(exact), after):
            found.setdefault((triple[0], triple[1]), {})[triple] = None
        for triple in self._find(_S, list(any_predicate), after):
            found.setdefault((triple[0], 0), {})[triple] = None
        return [list(found.get(key, ())) for key in keys]

    def backward(self, keys: Sequence[Key], after: int = 0) -> list[list[Triple]]:
        """The triples of each (predicate, object); predicate 0 is any, and costs a probe for each one in use."""
        expanded = self._expanded(keys)
        exact = dict.fromkeys([*(key for key in keys if key[0]), *expanded])
        found: dict[Key, dict[Triple, None]] = {}
        for triple in self._find(_PO, list(exact), after):
            found.setdefault((triple[1], triple[2]), {})[triple] = None
        for predicate, value in expanded:
            found.setdefault((0, value), {}).update(found.get((predicate, value), {}))
        return [list(found.get(key, ())) for key in keys]

    def scan(self, predicates: Sequence[int], after: int = 0) -> list[list[Triple]]:
        """The triples of each predicate; 0 is everything."""
        found: dict[int, dict[Triple, None]] = {}
        for triple in self._find(_P, [(p,) for p in dict.fromkeys(predicates) if p], after):
            found.setdefault(triple[1], {})[triple] = None
        if 0 in predicates:
            text = "SELECT st.s, st.p, st.o FROM statements st WHERE 1 = 1"
            every = self._sql.rows(text + self._condition(after), *self._values(after))
            found[0] = dict.fromkeys(every)
        return [list(found.get(predicate, ())) for predicate in predicates]

    def page(self, span: TripleSpan, last: Triple | None, most: int) -> list[Triple]:
        """So many statements' triples of a span, from what follows `last`; one that several documents state may repeat.

        Pages may be asked for in different states of the store: what is there all the time is in one of them.
        """
        order = ("s",) if span.predicate and span.object else ("o", "s") if span.predicate else ("s", "p", "o")
        fixed = [(name, value) for name, value in (("p", span.predicate), ("o", span.object)) if value]
        begin = (span.low, *[_GREATEST] * (len(order) - 1))
        if last is not None:
            begin = tuple([last["spo".index(name)] for name in order])
        places = ", ".join("?" * len(order))
        text = (
            f"SELECT s, p, o FROM statements WHERE {''.join(f'{name} = ? AND ' for name, _ in fixed)}"
            f"({', '.join(order)}) > ({places}) AND {order[0]} <= ? ORDER BY {', '.join(order)} LIMIT ?"
        )
        return self._sql.rows(text, *(value for _, value in fixed), *begin, span.high, most)

    def degrees(self, keys: Sequence[Key], most: int, after: int = 0) -> list[int]:
        """How many statements each (predicate, object) has, counted up to `most`; predicate 0 is any.

        A triple counts once for each document that states it: the number is for choosing an order.
        """
        expanded = self._expanded(keys)
        exact = dict.fromkeys([*(key for key in keys if key[0]), *expanded])
        text = _DEGREE % self._condition(after)
        found = {(p, o): count for p, o, count in self._sql.keyed(text, list(exact), *self._values(after), most)}
        for predicate, value in expanded:
            found[0, value] = min(most, found.get((0, value), 0) + found[predicate, value])
        return [found.get(key, 0) for key in keys]

    def stated_by(self, triples: Sequence[Triple]) -> list[list[int]]:
        """The documents that state each triple, by number."""
        found: dict[Triple, list[int]] = {}
        for s, p, o, document in self._sql.keyed(_STATED + self._seen, list(dict.fromkeys(triples)), *self._viewer):
            found.setdefault((s, p, o), []).append(document)
        answers = (found.get(triple, []) for triple in triples)
        return [sorted(answer) if len(answer) > 1 else answer for answer in answers]

    def statements(self, subjects: Iterable[int]) -> list[tuple[int, int, int, int]]:
        """What is stated of each subject: the triples, and the document that states each."""
        return self._sql.keyed(_ABOUT + self._seen, [(s,) for s in dict.fromkeys(subjects)], *self._viewer)

    def subjects(self) -> list[int]:
        """All of which something is stated."""
        found = self._sql.rows(f"SELECT DISTINCT st.s FROM statements st WHERE 1 = 1{self._seen}", *self._viewer)
        return [subject for (subject,) in found]

    def visible(self, triples: Sequence[Triple], after: int) -> list[bool]:
        """Whether each triple is stated by a document that was published after this batch."""
        text = _STATED + self._condition(after)
        found = self._sql.keyed(text, list(dict.fromkeys(triples)), *self._values(after))
        stated = {(s, p, o) for s, p, o, _ in found}
        return [triple in stated for triple in triples]

    def listed(self, triples: Sequence[Triple]) -> set[Triple]:
        """Those of the triples that a document with an access list states, even if others do too."""
        text = f"{_STATED} AND EXISTS (SELECT 1 FROM access_lists al WHERE al.document = st.document)"
        return {(s, p, o) for s, p, o, _ in self._sql.keyed(text, list(dict.fromkeys(triples)))}

    def amount(self, predicate: int, most: int) -> int:
        """How many statements a predicate has, counted up to `most`; 0 is any predicate."""
        which, values = ("st.p = ?", (predicate,)) if predicate else ("1 = 1", ())
        if not self._seen:
            counted = self._sql.number(f"SELECT coalesce(sum(statements), 0) FROM predicates st WHERE {which}", *values)
            return min(most, counted)
        text = "SELECT count(*) FROM (SELECT 1 FROM statements st WHERE %s%s LIMIT ?) counted"
        return self._sql.number(text % (which, self._seen), *values, *self._viewer, most)

    def unused(self, terms: Iterable[int]) -> set[int]:
        """Those of the terms that stand in no triple; an object costs a probe for each predicate in use."""
        left = set(terms) - self.predicates().keys()
        text = "WITH k(a) AS ({keys}) SELECT k.a FROM k WHERE EXISTS (SELECT 1 FROM statements st WHERE st.s = k.a)"
        left -= {subject for (subject,) in self._sql.keyed(text, [(term,) for term in left])}
        values = [(0, term) for term in left]
        return {term for (_, term), count in zip(values, self.degrees(values, 1), strict=True) if not count}

    def documents(self, ids: Sequence[int]) -> list[DocumentRecord]:
        """Which documents these are: uri, version, and the batch that published it."""
        return self._documents.by_ids(ids)

    def last_term(self) -> int:
        """No triple has a term with a greater number."""
        return self._sql.counter("terms")

    def predicates(self) -> dict[int, int]:
        """How many statements each predicate has."""
        return dict(self._sql.rows("SELECT p, statements FROM predicates ORDER BY p"))

    def count(self) -> int:
        """How many statements there are."""
        return sum(self.predicates().values())

    def _find(self, text: str, keys: Sequence[tuple[int, ...]], after: int) -> Iterable[Triple]:
        return self._sql.keyed(text + self._condition(after), keys, *self._values(after))

    def _condition(self, after: int) -> str:
        """The SQL condition on documents: published `after`, and seen."""
        return (_PUBLISHED if after else "") + self._seen

    def _values(self, after: int) -> tuple[int | str, ...]:
        return (after, *self._viewer) if after else self._viewer

    def _expanded(self, keys: Sequence[Key]) -> list[Key]:
        """The keys without a predicate, with each one in use: an index by object alone would cost every write."""
        objects = [value for predicate, value in keys if not predicate]
        if not objects:
            return []
        predicates = list(self.predicates())
        return [(predicate, value) for value in dict.fromkeys(objects) for predicate in predicates]


class TripleWriter(TripleReader):
    """Lookups of triples, and changes of what documents state."""

    def replace(self, changes: Sequence[Difference]) -> None:
        """Let documents state other triples; what is removed is there, and what is added is not.

        Sorted, because neighbours in the index are then written together.
        """
        removed = sorted((*triple, document) for document, old, _ in changes for triple in old)
        added = sorted((*triple, document) for document, _, new in changes for triple in new)
        self._sql.delete(schema.statements, _STATEMENT, removed)
        self._sql.insert(schema.statements, added)
        balance = Counter(p for _, p, _, _ in added)
        balance.subtract(Counter(p for _, p, _, _ in removed))
        self._count(balance)

    def _count(self, balance: Counter[int]) -> None:
        """Invariant: `predicates` says how many statements each predicate has, and names none that has none."""
        changed = [p for p, change in balance.items() if change]
        before: dict[int, int] = dict(self._sql.where(schema.predicates, "p", changed))
        after = [(p, before.get(p, 0) + balance[p]) for p in changed]
        self._sql.replace(schema.predicates, [row for row in after if row[1]])
        self._sql.delete(schema.predicates, ("p",), [(p,) for p, count in after if not count])
