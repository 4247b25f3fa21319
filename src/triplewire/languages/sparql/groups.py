"""From the syntax to the pattern: groups become branches, in the order that section 18.2.2 says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Final

from pyoxigraph import NamedNode, Variable

from triplewire.algebra.pattern import Optional, Pattern, TriplePattern, columns_of
from triplewire.languages.places import TextPlace
from triplewire.languages.sparql import filters, syntax
from triplewire.languages.sparql.branches import IsA, SparqlBranch, finished, join, settled, union

MOST_OPERATIONS: Final = 100_000
"""The operations in the filters of one group, counted for each branch that they are applied to."""

MOST_OPTIONALS: Final = 64
"""The optional parts of one branch: each looks at all before it."""

MOST_COLUMNS: Final = 256
"""The columns of an answer."""


def translate(query: syntax.SelectQuery) -> Pattern:
    """The pattern that a query means."""
    branches = _Translation(query).branches()
    conjunctions = tuple(dict.fromkeys(done for branch in branches if (done := finished(branch)) is not None))
    if not all(conjunction.triples for conjunction in conjunctions):
        raise _without_triples(query)
    columns = query.columns
    if columns is None:
        columns = tuple(name for name in dict.fromkeys(_visible(query)) if name not in query.hidden)
    if len(columns) > MOST_COLUMNS:
        raise query.place.refused(f"more than {MOST_COLUMNS} columns are not served", hint="Select fewer variables")
    if conjunctions:
        bound = frozenset[str]().union(*(columns_of(conjunction) for conjunction in conjunctions))
        columns = tuple(name for name in columns if name in bound)
    return Pattern(columns, conjunctions)


def _without_triples(query: syntax.SelectQuery) -> Exception:
    whole = "the query has" if not any(isinstance(part, syntax.Union) for part in query.where.parts) else "a branch has"
    return query.place.refused(
        f"{whole} no triple pattern outside of OPTIONAL, so every document would match",
        hint="Add a triple that a document must have, for example ?x a ?class",
    )


def _visible(query: syntax.SelectQuery) -> Iterator[str]:
    yield from _in_scope(query.where)
    yield from query.values.names if query.values else ()


def _in_scope(group: syntax.GroupPattern) -> Iterator[str]:
    """The variables that a group binds, in the order of the text."""
    for part in group.parts:
        if isinstance(part, syntax.Triples):
            for statement in part.statements:
                yield from statement.variables
        elif isinstance(part, syntax.Values):
            yield from part.names
        elif isinstance(part, syntax.OptionalPart):
            yield from _in_scope(part.group)
        elif isinstance(part, syntax.Union):
            for inner in part.groups:
                yield from _in_scope(inner)


class _Translation:
    """One query's translation: it makes up names for the steps of paths as it goes."""

    def __init__(self, query: syntax.SelectQuery) -> None:
        self._query = query
        self._place = query.place
        used = query.used | query.hidden
        self._steps = (name for name in (f"_step{n}" for n in count(1)) if name not in used)

    def branches(self) -> list[SparqlBranch]:
        where, values = self._group(self._query.where), self._query.values
        return join([where, self._values(values)], values.place) if values else where

    def _group(self, group: syntax.GroupPattern) -> list[SparqlBranch]:
        """A group with its filters: they see all that the group binds, wherever they stand in it."""
        branches, conditions = self._open(group)
        _check_size(branches, conditions)
        return [kept for branch in branches if (kept := _filtered(branch, conditions)) is not None]

    def _open(self, group: syntax.GroupPattern) -> tuple[list[SparqlBranch], list[syntax.Filter]]:
        """A group before its filters, and these."""
        waiting: list[list[SparqlBranch]] = []
        conditions: list[syntax.Filter] = []
        for part in group.parts:
            if isinstance(part, syntax.Filter):
                conditions.append(part)
            elif isinstance(part, syntax.OptionalPart):
                waiting = [self._left_join(join(waiting, part.place), part)]
            else:
                waiting += self._parts(part)
        return [settled(branch) for branch in join(waiting, self._place)], conditions

    def _parts(self, part: syntax.Triples | syntax.Union | syntax.Values) -> Iterator[list[SparqlBranch]]:
        """What is to be joined for a part of a group."""
        if isinstance(part, syntax.Values):
            yield self._values(part)
        elif isinstance(part, syntax.Union):
            yield union((self._group(group) for group in part.groups), self._place)
        else:
            yield [SparqlBranch(tuple(_plain(part)))]
            for statement in part.statements:
                if not isinstance(statement.path, NamedNode | Variable):
                    yield self._path(statement.subject, statement.path, statement.object)

    def _values(self, values: syntax.Values) -> list[SparqlBranch]:
        rows = (zip(values.names, row, strict=True) for row in values.rows)
        found = [SparqlBranch(bindings=tuple((name, term) for name, term in row if term is not None)) for row in rows]
        return union([found], values.place)

    def _path(self, subject: syntax.Node, path: syntax.Path, object: syntax.Node) -> list[SparqlBranch]:
        """A path as the triple patterns of its steps (section 18.4)."""
        if isinstance(path, syntax.Inverse):
            return self._path(object, path.path, subject)
        if isinstance(path, syntax.Ascent):
            return [SparqlBranch(ascents=(IsA(path.relation, subject, object, path.place),))]
        if isinstance(path, syntax.Alternatives):
            return union((self._path(subject, part, object) for part in path.parts), self._place)
        if isinstance(path, syntax.Sequence):
            return self._steps_of(subject, path, object)
        return [SparqlBranch((TriplePattern(subject, path, object),))]

    def _steps_of(self, subject: syntax.Node, path: syntax.Sequence, object: syntax.Node) -> list[SparqlBranch]:
        nodes = [subject, *(Variable(next(self._steps)) for _ in path.parts[1:]), object]
        steps = zip(nodes, path.parts, nodes[1:], strict=False)
        return join([self._path(start, part, end) for start, part, end in steps], self._place)

    def _left_join(self, branches: list[SparqlBranch], part: syntax.OptionalPart) -> list[SparqlBranch]:
        inner, conditions = self._open(part.group)
        if any(found.optionals for found in inner):
            raise _refused("another OPTIONAL", part.place)
        if any(found.bindings for found in inner):
            raise _refused("VALUES", part.place)
        if len(inner) > 1:
            raise _refused("a UNION, a path with | or VALUES", part.place)
        if not inner or not inner[0].triples:
            return branches
        _check_size(branches, conditions)
        if any(len(branch.optionals) >= MOST_OPTIONALS for branch in branches):
            raise part.place.refused(f"more than {MOST_OPTIONALS} OPTIONALs in one query are not served")
        return [replace(_extended(branch, inner[0], conditions), place=part.place) for branch in branches]


def _plain(part: syntax.Triples) -> Iterator[TriplePattern]:
    for statement in part.statements:
        if isinstance(statement.path, NamedNode | Variable):
            yield TriplePattern(statement.subject, statement.path, statement.object)


def _check_size(branches: list[SparqlBranch], conditions: list[syntax.Filter]) -> None:
    size = sum(c.condition.size for c in conditions if isinstance(c.condition, syntax.Operation)) * len(branches)
    if size > MOST_OPERATIONS:
        raise conditions[0].place.refused(
            f"the filters have {size:,} operations in all branches, more than the {MOST_OPERATIONS:,} that are served",
            hint="Split the query into several subscriptions",
        )


def _filtered(branch: SparqlBranch, conditions: list[syntax.Filter]) -> SparqlBranch | None:
    """The branch under its filters; None if one of them can never be true."""
    scope = filters.Scope(branch.certain, branch.perhaps)
    found = filters.united(filters.conditions(each.condition, scope, each.place) for each in conditions)
    return None if found is None else replace(branch, conditions=tuple(dict.fromkeys((*branch.conditions, *found))))


def _extended(branch: SparqlBranch, inner: SparqlBranch, conditions: list[syntax.Filter]) -> SparqlBranch:
    """LeftJoin: the filters of the OPTIONAL's group see the outer group's variables, too."""
    scope = filters.Scope(branch.certain | inner.certain, branch.perhaps - inner.certain, inside=True)
    found = filters.united(filters.conditions(each.condition, scope, each.place) for each in conditions)
    if found is None:
        return branch
    return replace(branch, optionals=(*branch.optionals, Optional(inner.triples, (*inner.conditions, *found))))


def _refused(what: str, place: TextPlace) -> Exception:
    return place.refused(
        f"an OPTIONAL with {what} inside is not served: it would make columns that depend on each other",
        hint="Write a flat OPTIONAL for each column, or several subscriptions",
    )
