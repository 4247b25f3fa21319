"""Path expressions from triples: how a conjunction is written as an MDV rule.

The resources that a rule registers have classes; from them, triples are followed to the other variables, and each is
written as the path that reaches it. A property that occurs once is a plain step; several values of one property need
the any-operator, which each use has for itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pyoxigraph import NamedNode, Variable

from triplewire.algebra.pattern import Conjunction, Node, Pattern, TriplePattern, columns_of, variable, variables_of
from triplewire.languages.formula import TYPE
from triplewire.languages.rendering import Printer, any_of, fresh_names, is_keyword, printable, unbound


def rule_text(pattern: Pattern, printer: Printer) -> str:
    """The rule that says the pattern, as far as paths can."""
    branches = [_without_fixed_subjects(branch) for branch in printable(pattern, printer)]
    roots = {name: _common_class(name, branches, printer) for name in pattern.answer}
    plans = [_Plan(branch, roots, printer) for branch in branches]
    if len(plans) == 1:
        roots |= plans[0].search_unreached()
    searched = ", ".join(f"{_name(kind, printer)} {_root(name, printer)}" for name, kind in roots.items())
    registered = [_root(name, printer) for name in pattern.answer]
    predicates = [plan.predicates() for plan in plans]
    if len(plans) > 1:
        predicates = [parts or [f"{registered[0]} = {registered[0]}"] for parts in predicates]
    where = any_of(predicates, printer)
    return f"search {searched} register {', '.join(registered)}" + (f" where {' and '.join(where)}" if where else "")


def _name(iri: NamedNode, printer: Printer) -> str:
    """A class or a property: where only a name can stand, it may be bare."""
    return printer.name(iri, bare=lambda local: True)


def _root(name: str, printer: Printer) -> str:
    marked = printer.variable(name)
    return marked if is_keyword(name) else marked.removeprefix("?")


def _common_class(name: str, branches: list[Conjunction], printer: Printer) -> NamedNode:
    """A class that every branch gives to the variable."""
    classes = [{kind for found, kind in _classes(branch.triples) if found == name} for branch in branches]
    shared = set.intersection(*classes)
    if not shared:
        raise printer.refused(f"?{name} has no class to search")
    return min(shared, key=str)


def _classes(triples: Iterable[TriplePattern]) -> Iterator[tuple[str, NamedNode]]:
    for subject, predicate, kind in triples:
        if isinstance(subject, Variable) and predicate == TYPE and isinstance(kind, NamedNode):
            yield subject.value, kind


def _without_fixed_subjects(branch: Conjunction) -> Conjunction:
    """A resource that is told by its IRI, as a variable that equals it: paths start at variables."""
    fixed = dict.fromkeys(triple.subject for triple in branch.triples if isinstance(triple.subject, NamedNode))
    names = fresh_names("r", columns_of(branch))
    return unbound(replace(branch, bindings=branch.bindings + tuple(zip(names, fixed, strict=False))))


class _Plan:
    def __init__(self, branch: Conjunction, roots: Mapping[str, NamedNode], printer: Printer) -> None:
        self._branch = branch
        self._printer = printer
        self._pending = list(branch.triples)
        self._paths: dict[str, str] = {}
        self._equalities: list[tuple[str, Node]] = []
        self._plain: set[tuple[Node, Node]] = set()
        self._crowd = Counter((triple.subject, triple.predicate) for triple in branch.triples)
        self._mentions = Counter(
            [node.value for triple in branch.triples for node in triple if isinstance(node, Variable)]
            + [name for condition in branch.conditions for name in variables_of(condition)]
        )
        self._search(roots)

    def _search(self, roots: Mapping[str, NamedNode]) -> None:
        for name, kind in roots.items():
            self._paths[name] = _root(name, self._printer)
            self._pending.remove(TriplePattern(variable(name), TYPE, kind))
        while reached := [
            t for t in self._pending if isinstance(t.subject, Variable) and t.subject.value in self._paths
        ]:
            for triple in reached:
                self._pending.remove(triple)
                self._follow(triple)

    def search_unreached(self) -> dict[str, NamedNode]:
        """The variables that no path reaches, with a class to search each by; they are searched from now on."""
        added: dict[str, NamedNode] = {}
        while found := dict(list(_classes(self._pending))[:1]):
            self._search(found)
            added |= found
        return added

    def _follow(self, triple: TriplePattern) -> None:
        """A triple gives a path to its object, or says that two known values are equal."""
        text, value = self._step(triple), triple.object
        if isinstance(value, Variable) and value.value not in self._paths:
            self._paths[value.value] = text
        else:
            self._equalities.append((text, value))

    def _step(self, triple: TriplePattern) -> str:
        subject, property, value = triple
        if not isinstance(property, NamedNode):
            raise self._printer.refused("a path has names for its properties, not variables")
        assert isinstance(subject, Variable)
        text = f"{self._paths[subject.value]}.{_name(property, self._printer)}"
        if self._crowd[subject, property] == 1:
            return text
        again = isinstance(value, Variable) and self._mentions[value.value] > 2
        if again and (subject, property) not in self._plain:
            self._plain.add((subject, property))
            return text
        return f"{text}?"

    def predicates(self) -> list[str]:
        """The rule's predicates for this branch."""
        if self._pending:
            raise self._printer.refused(f"no path leads to the triple {self._pending[0]}")
        printer = replace(self._printer, paths=self._paths)
        equal = [f"{text} = {printer.operand(value)}" for text, value in self._equalities]
        exist = [path for name, path in self._paths.items() if "." in path and self._mentions[name] == 1]
        return equal + exist + printer.conditions(self._branch)
