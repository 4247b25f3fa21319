"""Families: the terms that a variable can be because is-a tests against the taxonomy say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice

from pyoxigraph import Variable

from triplewire.algebra.covering.demands import TRUE, Accepted
from triplewire.algebra.covering.sorts import ANY, Sort, sort_of
from triplewire.algebra.pattern import IS_A, Call, Expression
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.model import Term

FEW = 64
"""So many candidates are tried one by one; of more, only the sorts are looked at."""
_GLANCE = 8

Test = tuple[str, Term, bool]
"""A relation, the other node, and whether the variable is the first of the two."""


class Families:
    """The taxonomy's sets of terms, each computed once."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy
        self._sets: dict[Test, frozenset[Term]] = {}

    def of(self, name: str, atoms: Mapping[Expression, Accepted]) -> frozenset[Term] | None:
        """The terms that the variable can be; None if no is-a test says that it is below or above something."""
        passed, failed = _tests(name, atoms)
        if not passed:
            return None
        if any(self._contradict(one, other) for one in passed for other in failed):
            return frozenset()
        members = frozenset.intersection(*(self._set(test) for test in passed))
        return members.difference(*(self._set(test) for test in failed))

    def some_member(
        self, name: str, atoms: Mapping[Expression, Accepted], places: Mapping[str, frozenset[Sort]]
    ) -> bool:
        """True if a glance shows that a variable with nothing but is-a tests on it can be something."""
        passed, failed = _tests(name, atoms)
        if len(passed) != 1:
            return False
        fitting = (term for term in self._members(passed[0]) if sort_of(term) in places.get(name, ANY))
        glance = islice(fitting, _GLANCE if failed else 1)
        return any(not any(self._is_member(term, test) for test in failed) for term in glance)

    def _contradict(self, passed: Test, failed: Test) -> bool:
        """True if what is below one class is always below the other, because the class itself is."""
        (one, lower, first), (two, upper, also_first) = passed, failed
        if not (first and also_first) or two == "child":
            return False
        if lower == upper:
            return two == "descendant-or-self" or one != "descendant-or-self"
        return upper in self._taxonomy.broader(lower)

    def _is_member(self, term: Term, test: Test) -> bool:
        relation, other, first = test
        return self._taxonomy.relates(relation, term, other) if first else self._taxonomy.relates(relation, other, term)

    def _set(self, test: Test) -> frozenset[Term]:
        if test not in self._sets:
            self._sets[test] = frozenset(self._members(test))
        return self._sets[test]

    def _members(self, test: Test) -> Iterator[Term]:
        relation, other, first = test
        if relation == "child":
            return iter(self._taxonomy.children(other) if first else self._taxonomy.parents(other))
        itself = [other] if relation == "descendant-or-self" else []
        return chain(itself, self._taxonomy.descendants(other) if first else self._taxonomy.ancestors(other))


def is_family_test(atom: Expression) -> bool:
    """True for an is-a test between a variable and a constant."""
    if not isinstance(atom, Call) or atom.function not in IS_A:
        return False
    kinds = {type(argument) for argument in atom.arguments}
    return len(kinds) == 2 and Variable in kinds and Call not in kinds


def _tests(name: str, atoms: Mapping[Expression, Accepted]) -> tuple[list[Test], list[Test]]:
    """The is-a tests that the variable passes, and those that it fails."""
    passed: list[Test] = []
    failed: list[Test] = []
    for atom, accepted in atoms.items():
        if is_family_test(atom):
            assert isinstance(atom, Call)
            one, two = atom.arguments
            first = isinstance(one, Variable)
            if (one if first else two).value == name:  # type: ignore[union-attr]
                test = (atom.function, two if first else one, first)
                (passed if accepted == TRUE else failed).append(test)  # type: ignore[arg-type]
    return passed, failed
