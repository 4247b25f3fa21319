"""How an XPath subscription is evaluated, in words (X4): its conditions, who shares them, what is left to lxml."""

from __future__ import annotations

from triplewire.algebra.xpath.conditions import ABOVE, BELOW, Condition, demand_of
from triplewire.matching.explanation import ExplainedAtom, ExplainedBranch, Explanation
from triplewire.matching.xml.paths import PathEntry, PathIndex, StandingPath

_ACCESS = {"exists": "place", "=": "place and value", ">": "place and number", "<": "place and number"}


def explain_path(index: PathIndex, number: int, id: str) -> Explanation:
    """The explanation of a subscription of the index."""
    standing = index.standing(number)
    if index.is_unguarded(standing):
        nothing = ExplainedBranch((), (), "any XML", len(standing.numbers), 1, 0, _left(standing))
        return Explanation(id, (nothing,))
    alternatives = demand_of(standing.query.expression).alternatives
    return Explanation(
        id,
        tuple(
            _branch(index, standing, index.entry(entry), sorted(conditions, key=str))
            for entry, conditions in zip(standing.entries, alternatives, strict=True)
        ),
    )


def _branch(index: PathIndex, standing: StandingPath, entry: PathEntry, conditions: list[Condition]) -> ExplainedBranch:
    first = [condition for condition in conditions if condition[:4] == entry.waiting[:4]]
    rest = [condition for condition in conditions if condition[:4] != entry.waiting[:4]]
    atoms = tuple(
        ExplainedAtom(str(condition), "trigger", index.sharing(condition, standing), condition[:4] == entry.waiting[:4])
        for condition in (*first, *rest)
    )
    kind = entry.waiting.kind
    family = sum(kind == own for own, _ in entry.node.counts) if kind in (ABOVE, BELOW) else 0
    return ExplainedBranch(
        atoms=atoms,
        joins=(),
        access=_ACCESS.get(entry.waiting.kind, "place and text"),
        equal=len(standing.numbers),
        group=max(1, entry.node.uses),
        family=family,
        residual=() if entry.is_sure else _left(standing),
    )


def _left(standing: StandingPath) -> tuple[str, ...]:
    return () if standing.is_exact else (f"{standing.query.text} (by lxml)",)
