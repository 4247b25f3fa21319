"""Hypothesis strategies that the tests share: small random terms, graphs, taxonomies, patterns and documents.

The worlds are small on purpose: a few nodes, a few predicates, values close to each other, so that random patterns
match random graphs often, and conditions imply and contradict each other often.
"""

from __future__ import annotations

from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Triple, Variable

from triplewire.algebra.pattern import (
    IS_A,
    LOOSE,
    STRICT,
    Call,
    Conjunction,
    Expression,
    Optional,
    Pattern,
    TriplePattern,
    columns_of,
    variable,
)
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.model import XSD, Document

EXAMPLE = "http://example.org/"


def iri(name: str) -> NamedNode:
    """An IRI of the tests' own namespace."""
    return NamedNode(EXAMPLE + name)


def typed(text: str, datatype: str) -> Literal:
    """A literal of one of XML Schema's types."""
    return Literal(text, datatype=NamedNode(XSD + datatype))


def integer(value: int) -> Literal:
    """An integer."""
    return typed(str(value), "integer")


def call(function: str, *arguments: Expression) -> Call:
    """A function applied to expressions."""
    return Call(function, arguments)


NODES = [iri(name) for name in ("n1", "n2", "n3", "n4")]
CLASSES = [iri(name) for name in ("A", "B", "C", "D", "E")]
PREDICATES = [iri(name) for name in ("p", "q", "r")]
VARIABLES = [variable(name) for name in ("x", "y", "z", "w")]
BLANKS = [BlankNode("b1"), BlankNode("b2")]

_NUMBERS = [
    *(typed(text, "integer") for text in ("1", "2", "3", "02", "-1")),
    *(typed(text, "decimal") for text in ("1.0", "1.5", "2.0", "2.00000000000000000001")),
    *(typed(text, "double") for text in ("1", "2e0", "2.5", "INF", "NaN")),
    *(typed(text, "float") for text in ("1", "1.5", "2.0000001")),
]
_TEXTS = [
    *(Literal(text) for text in ("", "a", "ab", "b", "ba", "cab", "1", "2", "1.50")),
    *(Literal(text, language=tag) for text in ("a", "ab") for tag in ("en", "fr")),
]
_OTHERS = [
    *(typed(text, "boolean") for text in ("true", "0", "maybe")),
    *(typed(text, "dateTime") for text in ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00", "2020-01-02T00:00:00+02:00")),
    *(typed(text, "date") for text in ("2020-01-01", "2020-01-02Z")),
    typed("a", "integer"),
    Literal("ab", datatype=iri("type")),
]

LITERALS = [*_NUMBERS, *_TEXTS, *_OTHERS]

literals = st.sampled_from(LITERALS)
numbers = st.sampled_from(_NUMBERS)
texts = st.sampled_from(_TEXTS)
subjects = st.sampled_from([*NODES, *CLASSES[:2], *BLANKS])
objects = st.one_of(subjects, st.sampled_from(CLASSES), literals)
predicates = st.sampled_from(PREDICATES)
triples = st.builds(Triple, subjects, predicates, objects)
graphs = st.lists(triples, max_size=12, unique=True)
documents = st.builds(Document.from_triples, st.just(EXAMPLE + "document"), graphs)


@st.composite
def taxonomies(draw: st.DrawFn) -> Taxonomy:
    """Classes below classes further down the list, several parents allowed; nodes as instances."""
    below = [(CLASSES[i], CLASSES[j]) for i in range(len(CLASSES)) for j in range(i)]
    types = [(node, c) for node in NODES[:2] for c in CLASSES]
    edges = st.lists(st.sampled_from(below), max_size=6, unique=True)
    return Taxonomy(draw(edges), draw(st.lists(st.sampled_from(types), max_size=3, unique=True)))


_LITERALS_AND_NODES = st.one_of(literals, st.sampled_from(NODES))


@st.composite
def atoms(draw: st.DrawFn, names: tuple[Variable, ...], kinds: str = "comparison text type is-a same") -> Expression:
    """A condition without `and`, `or` and `not`, on some of the variables."""
    kind = draw(st.sampled_from(kinds.split()))
    some = draw(st.sampled_from(names))
    if kind == "comparison":
        other = draw(st.one_of(numbers, texts, _LITERALS_AND_NODES, st.sampled_from(names)))
        sides = (some, other) if draw(st.booleans()) else (other, some)
        return Call(draw(st.sampled_from([*STRICT, *STRICT, *LOOSE])), sides)
    if kind == "text":
        text = draw(st.sampled_from([some, call("str", some), call("lcase", call("str", some))]))
        return call(
            draw(st.sampled_from(["contains", "starts", "ends"])),
            text,
            Literal(draw(st.sampled_from(["a", "b", "ab", "1"]))),
        )
    if kind == "type":
        return call(draw(st.sampled_from(["isiri", "isblank", "isliteral", "isnumeric"])), some)
    if kind == "is-a":
        other = draw(st.sampled_from([*CLASSES, *names]))
        sides = (some, other) if draw(st.integers(0, 3)) else (other, some)
        return Call(draw(st.sampled_from(IS_A)), sides)
    return call("same", some, draw(st.one_of(_LITERALS_AND_NODES, st.sampled_from(names))))


@st.composite
def conditions(draw: st.DrawFn, names: tuple[Variable, ...]) -> Expression:
    """A condition on some of the variables."""
    shape = draw(st.sampled_from(["atom"] * 6 + ["not", "and", "or"]))
    if shape == "atom":
        return draw(atoms(names))
    if shape == "not":
        return call("not", draw(atoms(names)))
    return call(shape, draw(atoms(names)), draw(atoms(names)))


_patterns_of_triples = st.builds(
    TriplePattern,
    st.sampled_from([*VARIABLES, *VARIABLES, *NODES[:2]]),
    st.sampled_from([*PREDICATES, *PREDICATES, VARIABLES[3]]),
    st.one_of(st.sampled_from([*VARIABLES, *VARIABLES, *NODES[:2]]), literals),
)


@st.composite
def conjunctions(draw: st.DrawFn, most_triples: int = 3, most_conditions: int = 2) -> Conjunction:
    """Triple patterns that share variables, with conditions, sometimes with a fixed binding or an optional part."""
    patterns = tuple(draw(st.lists(_patterns_of_triples, min_size=1, max_size=most_triples, unique=True)))
    names = tuple(dict.fromkeys(variable(name) for triple in patterns for name in triple.variables))
    some = draw(st.lists(conditions(names), max_size=most_conditions)) if names else []
    bindings = (("fixed", draw(st.sampled_from(NODES))),) if draw(st.integers(0, 7)) == 0 else ()
    optionals = ()
    if names and draw(st.integers(0, 7)) == 0:
        optionals = (Optional((TriplePattern(draw(st.sampled_from(names)), draw(predicates), variable("extra")),)),)
    return Conjunction(patterns, tuple(some), bindings, optionals)


@st.composite
def patterns(draw: st.DrawFn, most_branches: int = 2, most_triples: int = 3, most_conditions: int = 2) -> Pattern:
    """A union of conjunctions, and some of its columns as the answer."""
    branches = tuple(draw(st.lists(conjunctions(most_triples, most_conditions), min_size=1, max_size=most_branches)))
    columns = sorted(set().union(*map(columns_of, branches)))
    answer = tuple(draw(st.lists(st.sampled_from(columns), max_size=2, unique=True))) if columns else ()
    return Pattern(answer, branches)


@st.composite
def narrower(draw: st.DrawFn, pattern: Pattern, *, faithful: bool = False) -> Pattern:
    """A pattern made from another by adding triples and conditions, and renaming variables that are not answers.

    All of these are covered by the pattern if it is `faithful`; else a condition is left out of some.
    """
    branch = draw(st.sampled_from(pattern.branches))
    more = tuple(draw(st.lists(_patterns_of_triples, max_size=2)))
    wider = Conjunction(branch.triples + more, branch.conditions, branch.bindings, branch.optionals)
    names = tuple(map(variable, sorted(wider.variables)))
    extra = tuple(draw(st.lists(conditions(names), max_size=2))) if names else ()
    kept = branch.conditions if faithful or draw(st.integers(0, 3)) else branch.conditions[1:]
    tight = Conjunction(wider.triples, kept + extra, branch.bindings, branch.optionals)
    answer = tuple(name for name in pattern.answer if name in columns_of(tight))
    return renamed(Pattern(answer, (tight,)), draw(st.permutations(["x", "y", "z", "w"])))


def renamed(pattern: Pattern, order: list[str]) -> Pattern:
    """The pattern with other names for the variables that are not in its answer."""
    new = {
        old: f"other_{name}" for old, name in zip(["x", "y", "z", "w"], order, strict=True) if old not in pattern.answer
    }

    def node(found):  # type: ignore[no-untyped-def]
        if isinstance(found, Call):
            return Call(found.function, tuple(map(node, found.arguments)))
        return variable(new.get(found.value, found.value)) if isinstance(found, Variable) else found

    def part(found: TriplePattern) -> TriplePattern:
        return TriplePattern(*map(node, found))

    branches = tuple(
        Conjunction(
            tuple(map(part, branch.triples)),
            tuple(map(node, branch.conditions)),
            branch.bindings,
            tuple(Optional(tuple(map(part, o.triples)), tuple(map(node, o.conditions))) for o in branch.optionals),
        )
        for branch in pattern.branches
    )
    return Pattern(pattern.answer, branches)
