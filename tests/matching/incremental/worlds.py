"""Wild conjunctions and graphs, what they mean, and a registry of conjunctions as an engine keeps it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from hypothesis import strategies as st
from pyoxigraph import NamedNode, Triple
from tests.matching.incremental.memory import Memory

from strategies import NODES, PREDICATES, VARIABLES, conditions, conjunctions
from triplewire.algebra.evaluate import Graph, evaluate, solutions, substitute
from triplewire.algebra.pattern import Conjunction, Optional, TriplePattern, variable
from triplewire.matching.incremental import Seed, atoms_of, dump_pattern, gather, shape_of

nodes = st.sampled_from(NODES)
dense_graphs = st.lists(st.builds(Triple, nodes, st.sampled_from(PREDICATES), nodes), max_size=14, unique=True)
loose_triples = st.builds(
    TriplePattern,
    st.sampled_from([*VARIABLES, *VARIABLES, *NODES[:2]]),
    st.sampled_from([*PREDICATES, *PREDICATES, VARIABLES[3], VARIABLES[0]]),
    st.sampled_from([*VARIABLES, *VARIABLES, *NODES[:2]]),
)
optional_triples = st.builds(
    TriplePattern,
    st.sampled_from([*VARIABLES, variable("extra"), variable("more"), NODES[0]]),
    st.sampled_from([*PREDICATES, variable("more")]),
    st.sampled_from([*VARIABLES, variable("extra"), variable("more"), NODES[1]]),
)


@st.composite
def wild_conjunctions(draw: st.DrawFn) -> Conjunction:
    """Like the shared ones, with optional parts of several triples that may hang from each other or from nothing."""
    base = draw(st.one_of(conjunctions(), conjunctions(4, 0)))
    triples = tuple(draw(st.lists(loose_triples, min_size=1, max_size=3, unique=True)))
    if draw(st.booleans()):
        base = Conjunction(triples)
    parts = draw(st.lists(st.lists(optional_triples, min_size=1, max_size=3, unique=True), max_size=2))
    optionals = [Optional(tuple(part)) for part in parts]
    if optionals and draw(st.booleans()):
        names = tuple(variable(name) for triple in optionals[0].triples for name in triple.variables)
        if names:
            optionals[0] = Optional(optionals[0].triples, (draw(conditions(names)),))
    return Conjunction(base.triples, base.conditions, base.bindings, (*base.optionals, *optionals))


class Registry:
    """Conjunctions by shape and atom: numbers for both, and the constants of those who use an atom."""

    def __init__(self, several: list[Conjunction]) -> None:
        self.conjunctions = several
        numbers: dict[object, int] = {}
        atoms: dict[object, int] = {}
        self.constants = defaultdict(list)
        self.atoms = {}
        self.shape_numbers = []
        for one in several:
            shaped = shape_of(one)
            shape = numbers.setdefault(shaped.shape, len(numbers))
            self.shape_numbers.append(shape)
            for atom in atoms_of(one):
                key = (shape, atom.position, dump_pattern(atom.pattern))
                number = atoms.setdefault(key, len(atoms) + 100)
                self.atoms[number] = (shape, atom)
                self.constants[number].append(shaped.constants)
        self.shapes = {number: shape for shape, number in numbers.items()}

    def seeds(self, triples, memory: Memory, taxonomy, *, optional: bool | None = None) -> Iterator[Seed]:
        """The seeds of triples, at required positions, optional ones, or both."""
        for number, (shape, atom) in self.atoms.items():
            if optional in (None, atom.is_optional):
                for triple in triples:
                    if fits(atom, triple, taxonomy):
                        yield Seed(shape, atom.position, memory.triple(triple), number)

    def gather(self, seeds, memory: Memory, high: int):
        """The triples gathered with this registry's shapes and users."""

        def users(atoms, most):
            lists = [
                list({tuple(memory.terms([str(c) for c in constants])) for constants in self.constants[atom]})
                for atom in atoms
            ]
            return [found if len(found) <= most else None for found in lists]

        gathered = gather(seeds, self.shapes, memory, users, high=high)
        assert not gathered.refused
        return triples_of(gathered.triples, memory)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Triple], list[Conjunction]]:
    """A graph, and conjunctions with answers in it: some of its triples, most nodes replaced by variables."""
    if draw(st.integers(0, 3)) == 0:
        return draw(dense_graphs), draw(populations())
    few = st.builds(Triple, st.sampled_from(NODES), st.sampled_from(PREDICATES[:2]), st.sampled_from(NODES))
    graph = draw(st.lists(few, min_size=4, max_size=12, unique=True))
    names = {node: variable(f"v{i}") for i, node in enumerate(NODES)}
    found = []
    for _ in range(draw(st.integers(1, 2))):
        kept = draw(st.sets(st.sampled_from(NODES), max_size=2))

        def node(one, kept=kept):
            return one if one in kept else names[one]

        def predicate(one):
            return variable("any") if draw(st.integers(0, 9)) == 0 else one

        def part(most, node=node, predicate=predicate):
            some = draw(st.lists(st.sampled_from(graph), min_size=1, max_size=most, unique=True))
            return tuple(dict.fromkeys(TriplePattern(node(s), predicate(p), node(o)) for s, p, o in some))

        optionals = tuple(Optional(part(3)) for _ in range(draw(st.integers(0, 2))))
        found.append(Conjunction(part(4), (), (), optionals))
    others = [shifted(draw(st.sampled_from(found)), by) for by in draw(st.sets(st.integers(1, 3)))]
    return graph, list(dict.fromkeys([*found, *others]))


@st.composite
def populations(draw: st.DrawFn) -> list[Conjunction]:
    """A few conjunctions, some of which differ from others in constants only."""
    found = draw(st.lists(wild_conjunctions(), min_size=1, max_size=3))
    for one in draw(st.lists(st.sampled_from(found), max_size=4)):
        shift = draw(st.integers(1, 3))
        found.append(shifted(one, shift))
    return list(dict.fromkeys(found))


def shifted(conjunction: Conjunction, by: int) -> Conjunction:
    """The conjunction with other nodes for its constant nodes."""

    def node(one):
        return NODES[(NODES.index(one) + by) % len(NODES)] if isinstance(one, NamedNode) and one in NODES else one

    def part(triples):
        return tuple(TriplePattern(node(s), p, node(o)) for s, p, o in triples)

    optionals = tuple(Optional(part(one.triples), one.conditions) for one in conjunction.optionals)
    return Conjunction(part(conjunction.triples), conjunction.conditions, conjunction.bindings, optionals)


def triples_of(numbers, memory):
    return [Triple(*(memory.term(number) for number in triple)) for triple in numbers]


def as_set(rows):
    return {frozenset(row.items()) for row in rows}


def required_solutions(conjunction, graph, taxonomy):
    """The solutions without what optional parts add."""
    plain = Conjunction(conjunction.triples, conjunction.conditions, conjunction.bindings)
    return list(solutions(plain, graph if isinstance(graph, Graph) else Graph(graph), taxonomy))


def whole_using(conjunction, position, triple, graph, taxonomy):
    """The solutions, optional parts included, that have the triple at a required position of the shape."""
    pattern = shape_of(conjunction).triples[position]
    return as_set(
        row for row in solutions(conjunction, graph, taxonomy) if tuple(substitute(pattern, row)) == tuple(triple)
    )


def fits(atom, triple, taxonomy):
    return bool(evaluate(atom.pattern, [triple], taxonomy))
