"""Canonical names and order: two conjunctions that differ only in names and order become the same.

Colour refinement tells variables apart by where they stand; what stays alike is told apart by the names of answer
variables, then by trying each (individualise and refine, as nauty does) and keeping the smallest outcome. The order of
variables depends on structure before names, so that patterns that differ only in the names of their answers are laid
out alike and share one plan in the index.

The search has a number of steps to spend. When they are gone the first variable is taken of those that are alike, which
is still canonical where they are alike because of a symmetry, as they nearly always are.
"""

from __future__ import annotations

from pyoxigraph import Variable

from triplewire.algebra.conditions import SYMMETRIC, arranged
from triplewire.algebra.pattern import (
    Call,
    Conjunction,
    Expression,
    Node,
    Optional,
    TriplePattern,
    render,
    variable,
)
from triplewire.algebra.substitution import replace_nodes, replace_variables

MOST_STEPS = 100_000
"""How many places of variables may be looked at to order the variables of one conjunction."""

_MOST_DEPTH = 20
"""How many choices are tried in all ways; below, the first way is taken."""

_UNORDERED = frozenset(("and", "or", *SYMMETRIC))
_Fact = list[tuple[str, int]]
"""Texts, each with the vertex that it stands for; -1 where there is none."""


def label(branch: Conjunction, answer: frozenset[str], most_steps: int = MOST_STEPS) -> Conjunction:
    """The conjunction with canonical names for variables that are not answers, and everything in order."""
    order = _Graph(branch).order(answer, most_steps)
    prefix = "_"
    while any(name.startswith(prefix) for name in answer):
        prefix += "_"
    hidden = [name for name in order if name not in answer]
    swap: dict[str, Node] = {name: variable(f"{prefix}{i}") for i, name in enumerate(hidden)}
    places = {name: f"?{i:04}" for i, name in enumerate(order)}

    def triples(found: tuple[TriplePattern, ...]) -> tuple[TriplePattern, ...]:
        keys = [(_place(p, places), _place(s, places), _place(o, places)) for s, p, o in found]
        return tuple([replace_nodes(found[i], swap) for i in sorted(range(len(found)), key=keys.__getitem__)])

    def conditions(found: tuple[Expression, ...]) -> tuple[Expression, ...]:
        unordered = {arranged(replace_variables(condition, swap)) for condition in found}
        return tuple(sorted(unordered, key=render) if len(unordered) > 1 else unordered)

    return Conjunction(
        triples(branch.triples),
        conditions(branch.conditions),
        branch.bindings,
        tuple(Optional(triples(part.triples), conditions(part.conditions)) for part in branch.optionals),
    )


def _place(node: Node, places: dict[str, str]) -> str:
    return places[node.value] if type(node) is Variable else str(node)


class _Graph:
    """What tells vertices apart: the facts that they stand in.

    A vertex is a variable, or an operation whose operands have no order: each operand is a fact of its own. A fact is
    a text with vertices in some places.
    """

    def __init__(self, branch: Conjunction) -> None:
        self.numbers: dict[str, int] = {}
        self.vertices = 0
        self.facts: list[_Fact] = []
        for triple in branch.triples:
            self._add("t", triple)
        for condition in branch.conditions:
            self._add("c", (condition,))
        for i, part in enumerate(branch.optionals):
            for triple in part.triples:
                self._add(f"o{i}", triple)
            for condition in part.conditions:
                self._add(f"p{i}", (condition,))

    def _add(self, kind: str, nodes: tuple[Node | Call, ...]) -> None:
        fact = [(kind, -1)]
        for node in nodes:
            self._write(node, fact)
        self.facts.append(fact)

    def _write(self, node: Node | Call, fact: _Fact) -> None:
        if type(node) is Variable:
            number = self.numbers.get(node.value)
            if number is None:
                number = self.numbers[node.value] = self._vertex()
            fact.append(("?", number))
        elif not isinstance(node, Call):
            fact.append((str(node), -1))
        elif node.function in _UNORDERED:
            number = self._vertex()
            for argument in node.arguments:
                inner = [(f"({node.function}", -1), ("?", number)]
                self._write(argument, inner)
                self.facts.append(inner)
            fact.append(("?", number))
        else:
            fact.append((f"({node.function}", -1))
            for argument in node.arguments:
                self._write(argument, fact)
            fact.append((")", -1))

    def _vertex(self) -> int:
        self.vertices += 1
        return self.vertices - 1

    def order(self, answer: frozenset[str], most_steps: int) -> list[str]:
        """The variables in canonical order."""
        names = list(self.numbers)
        if len(names) < 2:
            return names
        looks: list[list[str]] = [[] for _ in range(self.vertices)]
        others: list[list[list[int]]] = [[] for _ in range(self.vertices)]
        for fact in self.facts:
            for own in {place for _, place in fact if place >= 0}:
                looks[own].append("\t".join(["*" if place == own else text for text, place in fact]))
                others[own].append([place for _, place in fact if place >= 0 and place != own])
        keys = [tuple(sorted(look)) for look in looks]
        colours = {key: i for i, key in enumerate(sorted(set(keys)))}
        if len(colours) == self.vertices:
            return sorted(names, key=lambda name: keys[self.numbers[name]])
        ranks = {look: i for i, look in enumerate(sorted({look for key in keys for look in key}))}
        uses = [
            [(ranks[look], *around) for look, around in zip(looks[v], others[v], strict=True)]
            for v in range(self.vertices)
        ]
        cells: dict[int, list[int]] = {}
        for vertex, key in enumerate(keys):
            cells.setdefault(colours[key], []).append(vertex)
        found = _Search(uses, self._preference(answer), most_steps).best(_Colouring(cells, self.vertices))
        return sorted(names, key=lambda name: (found.colours[self.numbers[name]], len(name), name))

    def _preference(self, answer: frozenset[str]) -> list[tuple[bool, int, str]]:
        """For each vertex, what comes first of those that are alike: answers by name; the others in a fixed order."""
        preference = [(True, 0, "")] * self.vertices
        for name, number in self.numbers.items():
            preference[number] = (False, 0, name) if name in answer else (True, len(name), name)
        return preference


Facts = tuple[tuple[int, ...], ...]
"""Facts with colours for the vertices in them, in order."""


class _Colouring:
    """A partition of the vertices; the colours that name its cells do not depend on the vertices' names."""

    def __init__(self, cells: dict[int, list[int]], vertices: int) -> None:
        self.cells = cells
        self.colours = [0] * vertices
        for colour, cell in cells.items():
            for vertex in cell:
                self.colours[vertex] = colour

    def copy(self) -> _Colouring:
        return _Colouring(dict(self.cells), len(self.colours))

    def tied(self) -> list[int]:
        """The first cell of several vertices; empty if there is none."""
        colour = min((colour for colour, cell in self.cells.items() if len(cell) > 1), default=None)
        return [] if colour is None else self.cells[colour]

    def divide(self, colour: int, parts: list[list[int]]) -> list[int]:
        """Put parts in the place of a cell; the largest keeps the colour. Returns the vertices that change theirs."""
        largest = max(range(len(parts)), key=lambda i: len(parts[i]))
        self.cells[colour] = parts[largest]
        changed = []
        for i, part in enumerate(parts):
            if i != largest:
                fresh = len(self.cells)
                self.cells[fresh] = part
                for vertex in part:
                    self.colours[vertex] = fresh
                changed += part
        return changed


class _Search:
    """The way to the smallest outcome, as far as the steps last."""

    def __init__(self, uses: list[list[tuple[int, ...]]], preference: list[tuple[bool, int, str]], steps: int) -> None:
        self.uses = uses
        """For each vertex, the facts that it stands in: how the fact looks from there, then the others in it."""
        self.preference = preference
        self.steps = steps
        self.neighbours = [sorted({v for use in found for v in use[1:]}) for found in uses]

    def best(self, start: _Colouring) -> _Colouring:
        self._refine(start, list(range(len(self.uses))))
        return self._explore(start, 0, set())[1]

    def _explore(self, colouring: _Colouring, depth: int, seen: set[Facts]) -> tuple[Facts, _Colouring]:
        """The smallest outcome below a colouring, which is used up; the outcomes met are added to `seen`."""
        members = self._choice(colouring)
        if not members or depth >= _MOST_DEPTH or self.steps <= 0:
            return self._first(colouring, seen)
        here: set[Facts] = set()
        found = self._explore(self._individualised(colouring.copy(), members[0]), depth + 1, here)
        for member in members[1:]:
            if self.steps <= 0:
                break
            # An outcome that was met below this colouring shows a symmetry: all that is below the member is known.
            probe = self._first(self._individualised(colouring.copy(), member), set())
            if self.steps > 0 and probe[0] not in here:
                below = self._explore(self._individualised(colouring.copy(), member), depth + 1, here)
                found = min(found, probe, below, key=lambda pair: pair[0]) if self.steps > 0 else found
        seen |= here
        return found

    def _choice(self, colouring: _Colouring) -> list[int]:
        """The vertices to choose from, after all choices that answers make by their names."""
        while members := sorted(colouring.tied(), key=self.preference.__getitem__):
            if self.preference[members[0]][0] or self.steps <= 0:
                return members
            self._individualised(colouring, members[0])
        return []

    def _first(self, colouring: _Colouring, seen: set[Facts]) -> tuple[Facts, _Colouring]:
        """The outcome of always taking the first."""
        while self.steps > 0 and (members := self._choice(colouring)):
            self._individualised(colouring, members[0])
        outcome = self._outcome(colouring)
        seen.add(outcome)
        return outcome, colouring

    def _individualised(self, colouring: _Colouring, chosen: int) -> _Colouring:
        """The colouring with the chosen vertex in a cell of its own."""
        colour = colouring.colours[chosen]
        rest = [vertex for vertex in colouring.cells[colour] if vertex != chosen]
        self.steps -= len(self.uses) // 8
        changed = colouring.divide(colour, [rest, [chosen]])
        self._refine(colouring, self._around(changed))
        return colouring

    def _around(self, changed: list[int]) -> list[int]:
        return sorted({neighbour for vertex in changed for neighbour in self.neighbours[vertex]})

    def _refine(self, colouring: _Colouring, touched: list[int]) -> None:
        """Divide cells by the facts that their vertices stand in until nothing divides any more.

        Only vertices beside one that has just changed its colour are looked at; the others of a cell still look alike,
        so that one of them speaks for all.
        """
        while touched and self.steps > 0:
            groups: dict[int, list[int]] = {}
            for vertex in touched:
                if len(colouring.cells[colouring.colours[vertex]]) > 1:
                    groups.setdefault(colouring.colours[vertex], []).append(vertex)
            divided = [(colour, self._parts(colouring, colour, groups[colour])) for colour in sorted(groups)]
            changed = [v for colour, parts in divided if len(parts) > 1 for v in colouring.divide(colour, parts)]
            touched = self._around(changed)

    def _parts(self, colouring: _Colouring, colour: int, touched: list[int]) -> list[list[int]]:
        parts: dict[Facts, list[int]] = {}
        for vertex in touched:
            parts.setdefault(self._signature(vertex, colouring.colours), []).append(vertex)
        cell = colouring.cells[colour]
        if len(touched) < len(cell):
            known = set(touched)
            rest = [vertex for vertex in cell if vertex not in known]
            self.steps -= len(cell) // 8
            parts.setdefault(self._signature(rest[0], colouring.colours), []).extend(rest)
        return [parts[signature] for signature in sorted(parts)]

    def _signature(self, vertex: int, colours: list[int]) -> Facts:
        uses = self.uses[vertex]
        self.steps -= sum(map(len, uses))
        return tuple(sorted([(use[0], *[colours[other] for other in use[1:]]) for use in uses]))

    def _outcome(self, colouring: _Colouring) -> Facts:
        """The facts in the colours' terms: equal for two colourings if a symmetry leads from one to the other."""
        self.steps -= sum(map(len, self.uses))
        colours = colouring.colours
        facts = [
            (colours[vertex], use[0], *[colours[other] for other in use[1:]])
            for vertex, uses in enumerate(self.uses)
            for use in uses
        ]
        return tuple(sorted(facts))
