"""A subscription at the peer of its subscriber: the rows that answers give, and what was told of them (M6).

Each conjunction of the pattern is a query on the ring; so is each with some of its optional parts, because a row has
more columns where these match. An answer says what it stands on, so that it can be seen when it ends. Rows are told
when a step is settled: the net difference, in a hub's order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations

from pyoxigraph import BlankNode, NamedNode, Triple

from triplewire.algebra.evaluate import Graph, optional_rows
from triplewire.algebra.pattern import Conjunction, Expression, Pattern, TriplePattern
from triplewire.algebra.substitution import replace_in_optional, replace_nodes, replace_variables
from triplewire.algebra.taxonomy import EMPTY
from triplewire.errors import UnsupportedQuery
from triplewire.model import Behind, Changed, Event, Matched, Row, Term, Unmatched
from triplewire.network.ring.messages import Answer
from triplewire.network.ring.queries import RingQuery
from triplewire.network.ring.statements import Support, holders, stands_for, united

MOST_OPTIONAL = 4
"""How many optional parts an alternative may have: each set of them is a query."""

Parts = tuple[int, ...]
Required = tuple[int, tuple[tuple[str, Term], ...]]
"""An alternative, and the values of its required variables."""

AnswerKey = tuple[Required, Parts, tuple[tuple[str, Term], ...]]
"""What tells an answer from others: the alternative, which optional parts it has, and its values."""

Content = tuple[Triple, ...]


def conjunctions_of(
    pattern: Pattern, language: str
) -> Iterator[tuple[int, Parts, tuple[TriplePattern, ...], tuple[Expression, ...]]]:
    """The conjunctions that are asked on the ring: each alternative, with each set of its optional parts."""
    for number, branch in enumerate(pattern.branches):
        fixed = fixed_branch(branch)
        if len(fixed.optionals) > MOST_OPTIONAL:
            raise UnsupportedQuery(
                f"a ring asks for each set of optional parts, and there are {len(fixed.optionals)}",
                language=language,
                hint=f"At most {MOST_OPTIONAL} are served; make several subscriptions, or use a hub",
            )
        for size in range(len(fixed.optionals) + 1):
            for parts in combinations(range(len(fixed.optionals)), size):
                optionals = [fixed.optionals[part] for part in parts]
                triples = [*fixed.triples, *(triple for each in optionals for triple in each.triples)]
                conditions = [*fixed.conditions, *(c for each in optionals for c in each.conditions)]
                yield number, parts, tuple(dict.fromkeys(triples)), tuple(conditions)


def fixed_branch(branch: Conjunction) -> Conjunction:
    """The conjunction with its fixed values in place of variables; these are put into rows again at the end."""
    swap = dict(branch.bindings)
    if not swap:
        return branch
    return Conjunction(
        tuple(replace_nodes(triple, swap) for triple in branch.triples),
        tuple(replace_variables(condition, swap) for condition in branch.conditions),
        (),
        tuple(replace_in_optional(part, swap) for part in branch.optionals),
    )


@dataclass(slots=True)
class ToldRow:
    """A row that the subscriber knows of: what was stated of its resources then, and what it stood on."""

    content: Content
    triples: tuple[Triple, ...]


@dataclass(slots=True)
class RingSubscription:
    """A subscription: its queries, the answers so far, the rows that these give, and its log."""

    id: str
    client: str
    pattern: Pattern
    since: float
    in_one: bool
    queries: tuple[RingQuery, ...] = ()
    answers: dict[Required, dict[tuple[Parts, tuple[tuple[str, Term], ...]], Support]] = field(default_factory=dict)
    rows: dict[Row, dict[Required, None]] = field(default_factory=dict)
    given: dict[Required, tuple[Row, ...]] = field(default_factory=dict)
    told: dict[Row, ToldRow] = field(default_factory=dict)
    touched: dict[Row, None] = field(default_factory=dict)
    stale: dict[Row, None] = field(default_factory=dict)
    about: dict[Term, dict[Row, None]] = field(default_factory=dict)
    spoken_of: dict[Term, int] = field(default_factory=dict)
    """Resources that rows have begun to speak of (1), or ceased to (-1), since it was last asked."""
    log: list[Event] = field(default_factory=list)
    cursor: int = 0
    last_told: float = 0.0
    """When it was told something last; 0: never."""
    due: float | None = None
    """When it is told at the latest what is new, if nothing says before that a step is settled."""
    noted: set[AnswerKey | Row] | None = None
    """The answers, and the rows that were told, that may have changed since they were written; None: nobody does."""

    def note(self, each: AnswerKey | Row) -> None:
        """An answer, or a row that was told, may be new, other or gone."""
        if self.noted is not None:
            self.noted.add(each)

    # -- answers

    def take(self, query: RingQuery, answer: Answer) -> None:
        """An answer is there, or what is known of it has changed."""
        names = self.pattern.branches[query.branch].variables
        required = query.branch, tuple((name, term) for name, term in answer.binding if name in names)
        answers = self.answers.setdefault(required, {})
        key = query.parts, answer.binding
        known = answers.get(key)
        answers[key] = united(known or {}, answer.support)
        if answers[key] is not known:
            self.note((required, *key))
        self._give(required)

    def restore(self, answers: Iterable[tuple[AnswerKey, Support]], told: Mapping[Row, ToldRow]) -> None:
        """Begin with what was known before: answers, and rows that were told; all else follows from these."""
        for (required, parts, binding), support in answers:
            self.answers.setdefault(required, {})[parts, binding] = support
        for required in self.answers:
            self._give(required)
        self.told, self.stale = dict(told), dict.fromkeys(told)
        self.touched = {row: None for row in (*self.rows, *told) if (row in self.rows) != (row in told)}
        self.spoken_of = {}

    def _give(self, required: Required) -> None:
        """Find the rows that the answers with these values give now."""
        rows = tuple(dict.fromkeys(self._rows(required)))
        before = self.given.get(required, ())
        self.given[required] = rows
        for row in before:
            if row not in rows:
                del self.rows[row][required]
                if not self.rows[row]:
                    self._end(row)
        for row in rows:
            if row not in before:
                if row not in self.rows:
                    self._begin(row)
                self.rows[row][required] = None

    def _begin(self, row: Row) -> None:
        self.rows[row] = {}
        self.touched[row] = None
        for resource in _resources(row):
            if resource not in self.about:
                self._speak(resource, 1)
            self.about.setdefault(resource, {})[row] = None

    def _end(self, row: Row) -> None:
        del self.rows[row]
        self.touched[row] = None
        for resource in _resources(row):
            del self.about[resource][row]
            if not self.about[resource]:
                del self.about[resource]
                self._speak(resource, -1)

    def _speak(self, resource: Term, difference: int) -> None:
        self.spoken_of[resource] = self.spoken_of.get(resource, 0) + difference

    def _rows(self, required: Required) -> Iterator[Row]:
        """The rows of one alternative, with these values of the required variables."""
        answers = self.answers[required]
        if not self.in_one:
            standing = [each for each, support in answers.items() if self.since < stands_for(support)]
            yield from self._extended(required, standing)
            return
        documents = {each: holders(support, self.since) for each, support in answers.items()}
        for origin in sorted(frozenset().union(*documents.values())):
            yield from self._extended(required, [each for each, found in documents.items() if origin in found])

    def _extended(
        self, required: Required, standing: list[tuple[Parts, tuple[tuple[str, Term], ...]]]
    ) -> Iterator[Row]:
        if not any(parts == () for parts, _ in standing):
            return
        branch = self.pattern.branches[required[0]]
        fixed = fixed_branch(branch)
        graph = Graph(triple for each in standing for triple in self.answers[required][each])
        for found in optional_rows(fixed.optionals, dict(required[1]), graph, EMPTY):
            values = {**dict(branch.bindings), **found}
            yield Row({name: values[name] for name in self.pattern.answer if name in values})

    def _derivation(self, row: Row) -> tuple[Triple, ...]:
        required = next(iter(self.rows[row]))
        standing = (
            support
            for (parts, _), support in self.answers[required].items()
            if parts == () and (holders(support, self.since) if self.in_one else self.since < stands_for(support))
        )
        return tuple(sorted(next(standing, {}), key=str))

    # -- telling

    def tell(
        self,
        behind: Behind | None,
        content: Callable[[Iterable[Term]], Content],
        is_known: Callable[[Row, Iterable[Triple]], bool],
        now: float,
    ) -> bool:
        """A step is settled: what has begun, changed and ended is told, in the order of a hub.

        A row waits while not all is known of its content that it stands on; whether one does. One that has ended and
        begun `again` since may have another content, of which nobody told while it was none.
        """
        ended = [row for row in self.touched if row in self.told and row not in self.rows]
        begun = [row for row in self.touched if row not in self.told and row in self.rows]
        again = [row for row in self.touched if row in self.told and row in self.rows]
        waiting = {row: None for row in (*begun, *again) if not is_known(row, self._derivation(row))}
        changed = [
            row
            for row in dict.fromkeys((*self.stale, *again))
            if row in self.told
            and row in self.rows
            and row not in waiting
            and content(row.values()) != self.told[row].content
        ]
        self.touched, self.stale, self.due = waiting, {}, None
        for row in sorted(ended, key=str):
            before = self.told.pop(row)
            self.note(row)
            self._log(Unmatched, row, behind, now, before.triples, before.content, None)
        for row in sorted((row for row in begun if row not in waiting), key=str):
            after = self.told[row] = ToldRow(content(row.values()), self._derivation(row))
            self.note(row)
            self._log(Matched, row, behind, now, after.triples, None, after.content)
        for row in sorted(changed, key=str):
            before, after = self.told[row], ToldRow(content(row.values()), self._derivation(row))
            self.told[row] = after
            self.note(row)
            self._log(Changed, row, behind, now, after.triples, before.content, after.content)
        return bool(waiting)

    def _log(
        self,
        kind: type[Event],
        row: Row,
        behind: Behind | None,
        now: float,
        triples: tuple[Triple, ...],
        before: Content | None,
        after: Content | None,
    ) -> None:
        self.cursor, self.last_told = self.cursor + 1, now
        batch = f"{behind.uri}@{behind.after or behind.before}" if behind is not None else f"settled at {now:.6f}"
        documents = (behind,) if behind is not None else ()
        time = datetime.fromtimestamp(now, UTC)
        self.log.append(kind(self.id, row, batch, self.cursor, time, triples, documents, before, after))

    # -- content

    def restate(self, resource: Term) -> bool:
        """Something else is stated of a resource; whether that concerns a row. What has no name may be part of any."""
        rows = self.about.get(resource, {}) if isinstance(resource, NamedNode) else dict.fromkeys(self.told)
        self.stale.update(rows)
        return bool(rows)


def _resources(row: Row) -> dict[Term, None]:
    """What a row speaks of that has a content."""
    return {term: None for term in row.values() if isinstance(term, NamedNode | BlankNode)}
