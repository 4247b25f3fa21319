"""Unions of conjunctions, and SPARQL's Join, LeftJoin and Filter on them (section 18.5).

A join distributes over unions, so a group is a list of branches at any time, each of which knows which variables it
binds for certain and which perhaps. What that list cannot say exactly is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from pyoxigraph import Variable

from triplewire.algebra.pattern import Call, Conjunction, Expression, Node, Optional, TriplePattern
from triplewire.algebra.substitution import replace_nodes
from triplewire.languages.places import TextPlace
from triplewire.languages.sparql import filters
from triplewire.model import Term

MOST_BRANCHES: Final = 256
"""The conjunctions of one pattern: UNION, `|` and VALUES multiply them."""

MOST_ATOMS: Final = 4096
"""The triple patterns and conditions of all branches together."""

Terms = dict[str, Term]


@dataclass(frozen=True, slots=True)
class IsA:
    """`subject rdfs:subClassOf* object`: a condition once the subject is bound and the object known."""

    relation: str
    subject: Node
    object: Node
    place: TextPlace

    @property
    def variables(self) -> frozenset[str]:
        """The names of its variables."""
        return frozenset(node.value for node in (self.subject, self.object) if isinstance(node, Variable))


@dataclass(frozen=True, slots=True)
class SparqlBranch:
    """A conjunction in the making; `place` is that of its last OPTIONAL.

    Invariant: no variable of `bindings` is left in `triples`.
    """

    triples: tuple[TriplePattern, ...] = ()
    conditions: tuple[Expression, ...] = ()
    bindings: tuple[tuple[str, Term], ...] = ()
    optionals: tuple[Optional, ...] = ()
    ascents: tuple[IsA, ...] = ()
    place: TextPlace | None = None

    @property
    def certain(self) -> frozenset[str]:
        """The variables that have a value in every row."""
        return frozenset(_variables(self.triples)) | {name for name, _ in self.bindings}

    @property
    def perhaps(self) -> frozenset[str]:
        """The variables that only an optional part binds."""
        return frozenset(_variables(t for part in self.optionals for t in part.triples)) - self.certain

    @property
    def touched(self) -> frozenset[str]:
        """All variables that another group could share."""
        asked = (name for ascent in self.ascents for name in ascent.variables)
        return self.certain | self.perhaps | frozenset(asked)

    def __len__(self) -> int:
        return len(self.triples) + len(self.conditions) + len(self.optionals)


def _variables(triples: Iterable[TriplePattern]) -> Iterable[str]:
    return (name for triple in triples for name in triple.variables)


def join(parts: list[list[SparqlBranch]], place: TextPlace) -> list[SparqlBranch]:
    """Every branch of each part with every branch of the others; those that contradict each other are left out.

    Halves first: joined one by one, many parts would cost the square of their number.
    """
    if len(parts) < 2:
        found = parts[0] if parts else [SparqlBranch()]
        _check_bounds(found, [SparqlBranch()], place)
        return found
    left, right = join(parts[: len(parts) // 2], place), join(parts[len(parts) // 2 :], place)
    _check_bounds(left, right, place)
    joined = (_join(one, other) for one in left for other in right)
    return [branch for branch in joined if branch is not None]


def union(parts: Iterable[list[SparqlBranch]], place: TextPlace) -> list[SparqlBranch]:
    """All branches of all parts, each once."""
    found = list(dict.fromkeys(branch for part in parts for branch in part))
    _check_bounds(found, [SparqlBranch()], place)
    return found


def _check_bounds(left: list[SparqlBranch], right: list[SparqlBranch], place: TextPlace) -> None:
    if len(left) * len(right) > MOST_BRANCHES:
        raise place.refused(
            f"UNION, VALUES and | multiply to {len(left) * len(right):,} alternatives, more than the {MOST_BRANCHES} "
            "that are served",
            hint="Split the query into several subscriptions, or use FILTER with IN instead of VALUES",
        )
    size = sum(map(len, left)) * len(right) + sum(map(len, right)) * len(left)
    if size > MOST_ATOMS:
        raise place.refused(
            f"all branches have {size:,} triples and conditions, more than the {MOST_ATOMS:,} that are served",
            hint="Split the query into several subscriptions",
        )


def _join(left: SparqlBranch, right: SparqlBranch) -> SparqlBranch | None:
    """Exact if no variable is shared that only an OPTIONAL binds: then the OPTIONAL can be asked after the join."""
    shared = left.perhaps & right.touched | right.perhaps & left.touched
    if shared:
        place = left.place if shared & left.perhaps else right.place
        assert place is not None, "what only an OPTIONAL binds has the place of that"
        raise place.refused(
            f"?{min(shared)} is bound by this OPTIONAL and used outside of it, which would decide the match",
            hint="Write OPTIONAL last, and use its variables nowhere else",
        )
    bindings: Terms = dict(left.bindings)
    for name, term in right.bindings:
        if bindings.setdefault(name, term) != term:
            return None
    triples = _fixed(left.triples + right.triples, bindings)
    if triples is None:
        return None
    return SparqlBranch(
        triples,
        left.conditions + right.conditions,
        tuple(bindings.items()),
        left.optionals + right.optionals,
        left.ascents + right.ascents,
        left.place or right.place,
    )


def _fixed(triples: tuple[TriplePattern, ...], terms: Terms) -> tuple[TriplePattern, ...] | None:
    """The triple patterns with known terms in their places; None if one of them can be no triple."""
    found = dict.fromkeys(replace_nodes(triple, terms) for triple in triples)
    return tuple(found) if all(triple.is_possible for triple in found) else None


def finished(branch: SparqlBranch) -> Conjunction | None:
    """The conjunction, with what its fixed bindings decide decided; None if it can never hold."""
    terms = dict(branch.bindings)
    triples, conditions = _fixed(branch.triples, terms), _fixed_conditions(branch.conditions, terms)
    if triples is None or conditions is None:
        return None
    optionals = (_finished_optional(optional, terms) for optional in branch.optionals)
    return Conjunction(triples, conditions, branch.bindings, tuple(o for o in optionals if o is not None))


def _finished_optional(optional: Optional, terms: Terms) -> Optional | None:
    triples, conditions = _fixed(optional.triples, terms), _fixed_conditions(optional.conditions, terms)
    return None if triples is None or conditions is None else Optional(triples, conditions)


def _fixed_conditions(conditions: tuple[Expression, ...], terms: Terms) -> tuple[Expression, ...] | None:
    found = filters.united(filters.fixed(condition, terms) for condition in conditions) if terms else conditions
    return None if found is None else tuple(dict.fromkeys(found))


def settled(branch: SparqlBranch) -> SparqlBranch:
    """The branch with its is-a tests as conditions; raises UnsupportedQuery where the taxonomy cannot answer."""
    if not branch.ascents:
        return branch
    terms = dict(branch.bindings)
    tests = tuple(_test(ascent, branch.certain, terms) for ascent in branch.ascents)
    return replace(branch, conditions=branch.conditions + tests, ascents=())


def _test(ascent: IsA, certain: frozenset[str], terms: Terms) -> Call:
    above = terms.get(ascent.object.value, ascent.object) if isinstance(ascent.object, Variable) else ascent.object
    if isinstance(above, Variable):
        raise ascent.place.refused(
            f"?{above.value}, above which nothing is known, cannot be looked for in the taxonomy",
            hint="Write the class itself, or give classes with VALUES; what is below a class can be asked, "
            "what is above one cannot",
        )
    below = ascent.subject
    if isinstance(below, Variable) and below.value not in certain:
        raise ascent.place.refused(
            f"nothing else in this group binds ?{below.value}, and the classes of the taxonomy are not listed",
            hint=f"Add a triple with ?{below.value}, for example ?x a ?{below.value}",
        )
    return Call(ascent.relation, (below, above))  # type: ignore[arg-type]  # bindings of SPARQL are never blank nodes
