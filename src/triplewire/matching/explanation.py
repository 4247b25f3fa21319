"""How a subscription is evaluated, in words (X4): MDV's decomposition, as this index does it.

A subscription falls into atoms: conditions on one triple. Those with a constant or a test *trigger*; those that only
link two variables *join*. Equal atoms of other subscriptions are counted, conjunctions that are equal are one record,
and conjunctions that differ only in constants are one group that shares a program (MDV section 3.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pyoxigraph import NamedNode, Variable

from triplewire.algebra.encoding import slot_name
from triplewire.algebra.pattern import Conjunction, Expression, TriplePattern, render, variables_of
from triplewire.algebra.substitution import renamed
from triplewire.matching import layout
from triplewire.matching.kernel.families import find_member
from triplewire.matching.kernel.sharing import atoms, sharers
from triplewire.matching.registry import Registry


@dataclass(frozen=True, slots=True)
class ExplainedAtom:
    """One atom: its `text`, whether it triggers or joins, and how many other subscriptions have the same."""

    text: str
    kind: str
    shared_with: int
    waits: bool
    """True for the atom that the conjunction waits under; only when a triple fits it are the others looked at."""

    def __str__(self) -> str:
        waits = "  <- waits here" if self.waits else ""
        return f"{self.kind:7} {self.text}  (shared with {self.shared_with:,} others){waits}"


@dataclass(frozen=True, slots=True)
class ExplainedBranch:
    """One conjunction: its atoms in the order in which they are looked at, and what it shares."""

    atoms: tuple[ExplainedAtom, ...]
    joins: tuple[str, ...]
    """The variables that atoms share, each with the numbers of the atoms (from 1) that it joins."""
    access: str
    """What part of a triple wakes it."""
    equal: int
    """How many subscriptions want exactly this conjunction, this one included."""
    group: int
    """How many conjunctions share its program and differ only in constants, this one included."""
    family: int
    """How many of those differ only in one threshold, and are kept sorted by it; 0 if it has none."""
    residual: tuple[str, ...]
    """Conditions that are checked on the rows found, because no index serves them."""

    def __str__(self) -> str:
        lines = [f"  {i}. {atom}" for i, atom in enumerate(self.atoms, 1)]
        lines += [f"  join on {join}" for join in self.joins]
        lines += [f"  then check {condition}" for condition in self.residual]
        lines.append(f"  wakes on {self.access}; wanted by {self.equal:,}; {self.group:,} alike share its program")
        if self.family:
            lines.append(f"  one of {self.family:,} thresholds that are kept sorted")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a subscription is evaluated: a branch for each conjunction of its pattern."""

    subscription: str
    branches: tuple[ExplainedBranch, ...]

    @property
    def atoms(self) -> tuple[ExplainedAtom, ...]:
        """The atoms of all branches."""
        return tuple(atom for branch in self.branches for atom in branch.atoms)

    def __str__(self) -> str:
        if not self.branches:
            return f"{self.subscription}: can never match"
        title = f"{self.subscription}:" if len(self.branches) == 1 else f"{self.subscription}: any of"
        return "\n".join([title, *(str(branch) for branch in self.branches)])


def explain(registry: Registry, number: int, id: str) -> Explanation:
    """The explanation of a subscription that is in the registry."""
    return Explanation(id, tuple(_branch(registry, number, entry) for entry in registry.entries(number)))


def _branch(registry: Registry, number: int, entry: int) -> ExplainedBranch:
    image = registry.image
    record = int(image["entries"][entry, layout.E_RECORD])
    row = image["records"][record]
    family = int(row[layout.R_FAMILY])
    conjunction = _readable(registry.conjunction(entry))
    totals = _totals(registry, number, entry)
    found = tuple(
        ExplainedAtom(_atom_text(triple, conjunction), _kind(triple, conjunction), int(totals[i]), i == 0)
        for i, triple in enumerate(conjunction.triples)
    )
    single = [c for c in conjunction.conditions if len(variables_of(c)) == 1]
    return ExplainedBranch(
        atoms=found,
        joins=tuple(_joins(conjunction)),
        access=layout.KIND_NAMES[int(row[layout.R_KIND])],
        equal=_equal(registry, entry, record),
        group=int(np.sum(image["records"][: image.used["records"], layout.R_PROGRAM] == row[layout.R_PROGRAM])),
        family=int(image["families"][family, layout.F_SIZE]) if family >= 0 else 0,
        residual=tuple(render(c) for c in conjunction.conditions if c not in single),
    )


def _readable(conjunction: Conjunction) -> Conjunction:
    names = sorted(conjunction.variables, key=lambda name: int(name.removeprefix(slot_name(0)[:-1])))
    return renamed(conjunction, {name: chr(ord("a") + i) if i < 26 else f"v{i}" for i, name in enumerate(names)})


def _totals(registry: Registry, number: int, entry: int) -> list[int]:
    image, code = registry.image, registry.code
    record, threshold = image["entries"][entry, [layout.E_RECORD, layout.E_THRESHOLD]].tolist()
    program, base = image["records"][record, [layout.R_PROGRAM, layout.R_CONSTANTS]].tolist()
    found = np.zeros(layout.MOST_STEPS_IN_PROGRAM, dtype=np.int64)
    wanted = found[: atoms(program, base, threshold, code, image["constants"], found)]
    used, subscriptions = image.used["entries"], image.used["subscriptions"]
    totals = sharers(wanted, number, used, image["entries"], image["records"], subscriptions, image["constants"], code)
    return [int(total) for total in totals]


def conditions_on(triple: TriplePattern, conjunction: Conjunction) -> tuple[Expression, ...]:
    """The conditions of this atom: those on its object alone, or on its subject where that is no atom's object."""
    objects = {t.object for t in conjunction.triples}
    own = {triple.object, *({triple.subject} - objects)}
    names = {node.value for node in own if isinstance(node, Variable)}
    return tuple(c for c in conjunction.conditions if len(tested := variables_of(c)) == 1 and tested <= names)


def _short(node: object) -> str:
    """A node as a person would say it: an IRI by its last part."""
    if isinstance(node, NamedNode):
        return node.value.rstrip("/#").rpartition("#")[2].rpartition("/")[2].rpartition(":")[2] or str(node)
    return str(node)


def _atom_text(triple: TriplePattern, conjunction: Conjunction) -> str:
    tests = conditions_on(triple, conjunction)
    return " ".join(_short(node) for node in triple) + "".join(f" with {render(test)}" for test in tests)


def _kind(triple: TriplePattern, conjunction: Conjunction) -> str:
    links = isinstance(triple.subject, Variable) and isinstance(triple.object, Variable)
    return "join" if links and not conditions_on(triple, conjunction) else "trigger"


def _joins(conjunction: Conjunction) -> list[str]:
    joins = []
    for name in sorted(conjunction.variables):
        places = [str(i) for i, triple in enumerate(conjunction.triples, 1) if name in triple.variables]
        if len(places) > 1:
            joins.append(f"?{name}: atoms {', '.join(places)}")
    return joins


def _equal(registry: Registry, entry: int, record: int) -> int:
    """How many entries are in the chain of this one: they ask the same."""
    image = registry.image
    family = int(image["records"][record, layout.R_FAMILY])
    head = int(image["records"][record, layout.R_HEAD])
    if family >= 0:
        threshold = float(image["numbers"][image["entries"][entry, layout.E_THRESHOLD]])
        head = int(image["members"][find_member(family, threshold, image["families"], image["thresholds"])])
    count = 0
    while head >= 0:
        count += 1
        head = int(image["entries"][head, layout.E_NEXT])
    return count
