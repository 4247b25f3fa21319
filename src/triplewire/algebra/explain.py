"""Why a pattern matches some triples, and why it does not (X4).

Both are computed from scratch, by the same definitions as `evaluate`; they are for people who ask about one
subscription and one document, so they explain rather than hurry.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pyoxigraph import BlankNode, Triple, Variable

from triplewire.algebra.covering import contradiction
from triplewire.algebra.evaluate import Binding, Graph, solutions, substitute, unify
from triplewire.algebra.expressions import holds
from triplewire.algebra.pattern import Call, Conjunction, Expression, Pattern, TriplePattern, variable, variables_of
from triplewire.algebra.taxonomy import EMPTY, Taxonomy
from triplewire.algebra.wording import word_list, word_place, word_term, word_triple
from triplewire.model import Term

MOST_PARTIAL_ROWS = 10_000
"""`why_not` follows so many partial matches of a branch; the first ones stand for the rest."""
_MOST_VALUES = 5
_MOST_NEAR = 3
_MOST_NEAR_KEPT = 20

Part = TriplePattern | Expression
"""What a branch is made of."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A condition, and the values that it saw and accepted."""

    condition: Expression
    values: tuple[tuple[str, Term], ...]

    def __str__(self) -> str:
        seen = ", ".join(f"?{name} is {word_term(term)}" for name, term in self.values)
        return f"{word_place(self.condition)}" + (f": {seen}" if seen else "")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a row is an answer: its branch, all variables' values, the triples that made it, the conditions it passed."""

    row: Binding
    branch: int
    binding: Binding
    triples: tuple[Triple, ...]
    conditions: tuple[Checked, ...]

    def __str__(self) -> str:
        values = ", ".join(f"?{name} = {word_term(term)}" for name, term in self.row.items())
        lines = [f"matches with {values}" if values else "matches", "  because of the triples"]
        lines += [f"    {word_triple(triple)}" for triple in self.triples]
        if self.conditions:
            lines += ["  and the conditions", *(f"    {checked}" for checked in self.conditions)]
        return "\n".join(lines)


def why(pattern: Pattern, triples: Iterable[Triple], taxonomy: Taxonomy = EMPTY) -> list[Reason]:
    """A reason for each row of the pattern; none if it does not match."""
    graph = Graph(triples)
    reasons: dict[frozenset[tuple[str, Term]], Reason] = {}
    for number, branch in enumerate(pattern.branches):
        for solution in solutions(branch, graph, taxonomy):
            row = {name: solution[name] for name in pattern.answer if name in solution}
            if frozenset(row.items()) not in reasons:
                reasons[frozenset(row.items())] = _reason(row, number, branch, solution, graph)
    return [*reasons.values()]


def _reason(row: Binding, number: int, branch: Conjunction, solution: Binding, graph: Graph) -> Reason:
    stated = {tuple(triple): triple for triple in graph.triples}
    parts = [branch.triples, *(optional.triples for optional in branch.optionals)]
    found = [[stated.get(substitute(triple, solution)) for triple in part] for part in parts]
    used = [triple for part in found if None not in part for triple in part if triple is not None]
    checked = tuple(
        Checked(c, tuple((name, solution[name]) for name in sorted(variables_of(c)))) for c in conditions_of(branch)
    )
    return Reason(row, number, dict(solution), tuple(dict.fromkeys(used)), checked)


def conditions_of(branch: Conjunction) -> list[Expression]:
    """The branch's conditions, an `and` as its parts: the first one that fails is to be named."""
    found: list[Expression] = []
    pending = [*reversed(branch.conditions)]
    while pending:
        condition = pending.pop()
        if isinstance(condition, Call) and condition.function == "and":
            pending.extend(reversed(condition.arguments))
        else:
            found.append(condition)
    return found


@dataclass(frozen=True, slots=True)
class Failure:
    """Where a branch stops: what still matched, what then did not, and what was there instead.

    `failed` is a triple pattern or a condition; `seen` has the values that its variables had by then; `near` are
    triples that come close to a triple pattern. `never` says why the branch cannot match any triples at all.
    """

    branch: int
    matched: tuple[Part, ...]
    failed: Part
    seen: tuple[tuple[str, tuple[Term, ...]], ...] = ()
    near: tuple[Triple, ...] = ()
    never: str | None = None

    def __str__(self) -> str:
        sentences = [self._what()]
        if self.near:
            sentences.append("close to it: " + word_list((word_triple(t) for t in self.near), _MOST_NEAR, "; "))
        if self.never:
            sentences.append(f"it can never match: {self.never}")
        return "; ".join(sentences)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: parts as they are worded, terms and triples in their N-Triples spelling."""
        return {
            "alternative": self.branch + 1,
            "matched": [_worded(part) for part in self.matched],
            "failed": _worded(self.failed),
            "is_condition": not isinstance(self.failed, TriplePattern),
            "seen": {name: [str(term) for term in terms[:_MOST_VALUES]] for name, terms in self.seen},
            "near": [str(triple) for triple in self.near[:_MOST_NEAR]],
            "never": self.never,
        }

    def _what(self) -> str:
        values = [(name, word_list((word_term(term) for term in terms), _MOST_VALUES)) for name, terms in self.seen]
        if isinstance(self.failed, TriplePattern):
            where = ", ".join(f"?{name} = {text}" for name, text in values)
            return f"no triple matches `{word_triple(self.failed)}`" + (f" with {where}" if where else "")
        was = ", ".join(f"?{name} was {text}" for name, text in values)
        return f"condition `{word_place(self.failed)}` failed" + (f": {was}" if was else "")


def _worded(part: Part) -> str:
    return word_triple(part) if isinstance(part, TriplePattern) else word_place(part)


@dataclass(frozen=True, slots=True)
class PatternWhyNot:
    """Why a pattern does not match: a failure for each branch, the one that got furthest first."""

    matches: bool
    failures: tuple[Failure, ...] = ()

    @property
    def first(self) -> Failure | None:
        """The failure to look at first; None if the pattern matches, or has no branch."""
        return self.failures[0] if self.failures else None

    def __str__(self) -> str:
        if self.matches:
            return "it does match"
        if not self.failures:
            return "it can never match: it has no branch"
        if len(self.failures) == 1:
            return str(self.failures[0])
        return "\n".join(f"alternative {failure.branch + 1}: {failure}" for failure in self.failures)


def why_not(pattern: Pattern, triples: Iterable[Triple], taxonomy: Taxonomy = EMPTY) -> PatternWhyNot:
    """Where each branch of the pattern fails on the triples; `matches` is true if one does not."""
    graph = Graph(triples)
    if any(next(solutions(branch, graph, taxonomy), None) is not None for branch in pattern.branches):
        return PatternWhyNot(True)
    failures = [_failure(number, branch, graph, taxonomy) for number, branch in enumerate(pattern.branches)]
    return PatternWhyNot(False, tuple(sorted(failures, key=lambda failure: -len(failure.matched))))


def follow(number: int, branch: Conjunction, graph: Graph, taxonomy: Taxonomy, given: Binding) -> Reason | Failure:
    """How far a branch comes with values for some of its variables: a reason if all of it matches, else where it stops.

    It stops at the first part that no partial match goes beyond, so that a graph that is looked up piece by piece is
    asked for nothing that the values do not lead to.
    """
    walk = _Walk(graph, taxonomy, [{**dict(branch.bindings), **given}], stops=True)
    for name, term in branch.bindings:
        if given.get(name, term) != term and not isinstance(term, BlankNode):
            return Failure(number, (), Call("same", (variable(name), term)), ((name, (given[name],)),))
    matched, left = _added(walk, branch)
    if left:
        return _stopped(number, branch, walk, matched, left, taxonomy)
    return _reason(given, number, branch, walk.rows[0], graph)


def _failure(number: int, branch: Conjunction, graph: Graph, taxonomy: Taxonomy) -> Failure:
    walk = _Walk(graph, taxonomy, [dict(branch.bindings)])
    return _stopped(number, branch, walk, *_added(walk, branch), taxonomy)


def _added(walk: _Walk, branch: Conjunction) -> tuple[list[Part], list[Part]]:
    """Add one part after the other, as long as something matches them all; what was added, and what is left."""
    left: list[Part] = [*conditions_of(branch), *branch.triples]
    matched: list[Part] = []
    while (ready := [part for part in left if walk.is_ready(part)]) and (best := walk.best(ready)) is not None:
        part, walk.rows = best
        matched.append(part)
        left.remove(part)
    return matched, left


def _stopped(
    number: int, branch: Conjunction, walk: _Walk, matched: list[Part], left: list[Part], taxonomy: Taxonomy
) -> Failure:
    failed = walk.to_blame(left)
    never = contradiction(branch, taxonomy)
    seen = walk.seen(failed)
    near = walk.near(failed) if isinstance(failed, TriplePattern) else ()
    return Failure(number, tuple(matched), failed, seen, near, None if never is None else never.reason)


class _Walk:
    """The rows that match what has been added so far, and what comes of adding another part."""

    def __init__(self, graph: Graph, taxonomy: Taxonomy, rows: list[Binding], *, stops: bool = False) -> None:
        """`stops`: a part that shares a variable with the rows and fits none of them ends the walk."""
        self._graph = graph
        self._taxonomy = taxonomy
        self._stops = stops
        self.rows = rows

    def is_ready(self, part: Part) -> bool:
        """A triple pattern always is; a condition once its variables have values."""
        return isinstance(part, TriplePattern) or variables_of(part) <= self.rows[0].keys()

    def best(self, parts: list[Part]) -> tuple[Part, list[Binding]] | None:
        """The part to add, and the rows then: a condition before a triple pattern, the one that leaves the fewest."""
        for rank in range(3):
            tried = [(part, self._after(part)) for part in parts if self._rank(part) == rank]
            fitting = [(part, rows) for part, rows in tried if rows]
            if fitting:
                return min(fitting, key=lambda fit: len(fit[1]))
            if tried and self._stops:
                return None
        return None

    def _rank(self, part: Part) -> int:
        """Conditions come first, then triple patterns that share a variable with the rows, then the others."""
        if not isinstance(part, TriplePattern):
            return 0
        return 1 if self.rows[0].keys() & set(part.variables) else 2

    def _after(self, part: Part) -> list[Binding]:
        if not isinstance(part, TriplePattern):
            return [row for row in self.rows if holds(part, row, self._taxonomy)]
        found: list[Binding] = []
        for row in self.rows:
            places = substitute(part, row)
            wider = (unify(places, triple, row) for triple in self._graph.candidates(places))
            found.extend(row for row in wider if row is not None)
            if len(found) > MOST_PARTIAL_ROWS:
                break
        return found[:MOST_PARTIAL_ROWS]

    def to_blame(self, left: list[Part]) -> Part:
        """A condition that all rows fail says most; then a triple pattern that touches what matched."""
        return min((part for part in left if self.is_ready(part)), key=self._rank)

    def seen(self, part: Part) -> tuple[tuple[str, tuple[Term, ...]], ...]:
        """The values that the part's variables have in the rows."""
        names = part.variables if isinstance(part, TriplePattern) else sorted(variables_of(part))
        known = [name for name in names if name in self.rows[0]]
        return tuple((name, tuple(dict.fromkeys(row[name] for row in self.rows))) for name in known)

    def near(self, part: TriplePattern) -> tuple[Triple, ...]:
        """Triples with the pattern's predicate, those with one of its other values first; or else only these."""
        wanted = {node for row in self.rows for node in substitute(part, row)[::2] if not isinstance(node, Variable)}
        close = [triple for triple in self._graph.triples if {triple.subject, triple.object} & wanted]
        alike = [triple for triple in self._graph.triples if triple.predicate == part.predicate]
        first = [triple for triple in alike if triple in close]
        return tuple(dict.fromkeys((first + alike) or close))[:_MOST_NEAR_KEPT]
