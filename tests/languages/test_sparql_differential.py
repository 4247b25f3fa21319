"""Random graphs and random queries: what a text means here is what it means to another implementation (pyoxigraph).

The generator keeps away from where pyoxigraph is not SPARQL 1.1 to the letter:
- its store keeps `01` and `1` as one term, so all terms here are first passed through a store;
- it takes a number that is none ("abc"^^xsd:integer) as an error where section 17.2.2 says false;
- it takes `?x <= ?x` as true for terms without an order, where section 17.3 has no such operator (an error);
- it takes an order with NaN as an error, where XPath says false, and does not order booleans;
- it takes "a"@en and a literal of an unknown type as different, where section 17.4.1.7 says that this is an error;
- it takes `?x IN ()` as an error for an unbound ?x, where section 17.4.1.9 says false;
- it subtracts dates, which SPARQL 1.1 does not.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QueryBoolean, Store, Triple

from effort import examples
from triplewire.algebra.evaluate import evaluate
from triplewire.algebra.pattern import Conjunction, Pattern
from triplewire.errors import UnsupportedQuery
from triplewire.languages import compile, render, sparql
from triplewire.languages.context import Context

EX = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = {"ex": EX, "xsd": XSD}


def _stored(term: Literal) -> Literal:
    """The term as a store gives it back: numbers and times in their canonical form."""
    store = Store()
    store.add(Quad(NamedNode("urn:s"), NamedNode("urn:p"), term))
    return next(iter(store)).object


def _typed(kind: str, *texts: str) -> list[Literal]:
    return [_stored(Literal(text, datatype=NamedNode(XSD + kind))) for text in texts]


NAMES = [NamedNode(EX + name) for name in "abc"]
PREDICATES = [NamedNode(EX + name) for name in "pqr"]
NODES = [*NAMES, BlankNode("x"), BlankNode("y")]
LITERALS = [
    *(Literal(text) for text in ("", "a", "abc", "ABC", "1")),
    *(Literal("a", language=tag) for tag in ("en", "en-gb", "de")),
    Literal("abc", language="en"),
    *_typed("integer", "0", "1", "2", "10", "-3"),
    *_typed("decimal", "1.5", "2", "-0.5"),
    *_typed("double", "1", "1.5", "INF", "-INF"),
    *_typed("float", "2.5", "0.1"),
    *_typed("boolean", "true", "false"),
    *_typed("date", "2024-01-31", "2024-02-01", "2024-01-31Z", "2024-02-01-05:00"),
    *_typed("dateTime", "2024-01-31T00:00:00Z", "2024-01-31T12:00:00", "2024-03-01T00:00:00+01:00"),
]
VARIABLES = [f"?{name}" for name in "xyzw"]

RANGES = ['"en"', '"*"', '"EN-gb"', '""']
REGEXES = ['"a"', '"^A", "i"', '"b.$"', '"[0-9]+"']
ORDERED = [str(literal) for literal in LITERALS if literal.language is None and literal.value not in ("true", "false")]
TERMS = [str(term) for term in (*NAMES, *LITERALS)]

graphs = st.sets(
    st.builds(Triple, st.sampled_from(NODES), st.sampled_from(PREDICATES), st.sampled_from([*NODES, *LITERALS])),
    min_size=3,
    max_size=16,
).map(list)


class Author:
    """Writes queries, one draw at a time."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def any(self, *choices: str) -> str:
        return self._draw(st.sampled_from(choices))

    def many(self, write: Callable[[], str], least: int, most: int, glue: str = " ") -> str:
        return glue.join(write() for _ in range(self._draw(st.integers(least, most))))

    def query(self) -> str:
        head = self.any("SELECT *", "SELECT *", "SELECT ?x ?y", "ASK")
        return f"{head} {{ {self.group(2)} }} {self.any('', '', '', self.values())}"

    def group(self, depth: int) -> str:
        return self.many(lambda: self.part(depth), 1, 3)

    def part(self, depth: int) -> str:
        kinds = ["triple", "triple", "triple", "filter", "values", "optional"]
        kind = self.any(*kinds, *(["union", "nested"] if depth else []))
        if kind == "union":
            return f"{{ {self.group(depth - 1)} }} UNION {{ {self.group(depth - 1)} }}"
        if kind == "nested":
            return f"{{ {self.group(depth - 1)} }}"
        if kind == "optional":
            return f"OPTIONAL {{ {self.many(lambda: self.any(self.triple(), self.filter()), 1, 3)} }}"
        return {"triple": self.triple, "filter": self.filter, "values": self.values}[kind]()

    def triple(self) -> str:
        predicate = self.any(*map(str, PREDICATES), self.any(*VARIABLES), self.path(2))
        return (
            f"{self.any(*VARIABLES, str(NAMES[0]), '[]')} {predicate} {self.any(*VARIABLES, self.any(*TERMS), '[]')} ."
        )

    def path(self, depth: int) -> str:
        if not depth or self.any("step", "path") == "step":
            return self.any(*map(str, PREDICATES))
        one, other = self.path(depth - 1), self.path(depth - 1)
        return self.any(f"({one}/{other})", f"({one}|{other})", f"^{one}" if one.startswith("<") else f"^({one})")

    def values(self) -> str:
        if self.any("one", "two") == "one":
            return f"VALUES {self.any(*VARIABLES)} {{ {self.many(self.constant, 0, 3)} }}"
        return f"VALUES (?x ?y) {{ {self.many(lambda: f'({self.constant()} {self.constant()})', 0, 3)} }}"

    def constant(self) -> str:
        return self.any("UNDEF", *TERMS)

    def filter(self) -> str:
        return f"FILTER({self.condition(2)})"

    def condition(self, depth: int) -> str:
        if not depth or self.any("test", "logic") == "test":
            return self.test()
        one, other = self.condition(depth - 1), self.condition(depth - 1)
        return self.any(f"({one} && {other})", f"({one} || {other})", f"!({one})")

    def test(self) -> str:
        kind = self.any(
            "comparison", "comparison", "order", "order", "bound", "kind", "text", "language", "regex", "in", "value"
        )
        one, other = self.value(), self.value()
        if kind == "comparison":
            return f"{one} {self.any('=', '!=')} {other}"
        if kind == "order":
            sign, constant = self.any("<", "<=", ">", ">="), self.any(*ORDERED)
            return self.any(f"{one} {sign} {constant}", f"(isNumeric({one}) && {one} {sign} {other})")
        if kind == "in":
            return f"{one} {self.any('IN', 'NOT IN')} ({self.many(self.simple, 1, 3, ', ')})"
        return {
            "bound": f"BOUND({self.any(*VARIABLES)})",
            "kind": f"{self.any('isIRI', 'isBlank', 'isLiteral', 'isNumeric')}({one})",
            "text": f"{self.any('CONTAINS', 'STRSTARTS', 'STRENDS', 'sameTerm')}({one}, {other})",
            "language": f"LANGMATCHES(LANG({one}), {self.any(*RANGES)})",
            "regex": f"REGEX({one}, {self.any(*REGEXES)})",
            "value": one,
        }[kind]

    def value(self) -> str:
        kind = self.any("simple", "simple", "call", "sum")
        if kind == "call":
            return f"{self.any('STR', 'LANG', 'DATATYPE', 'LCASE', 'UCASE', 'STRLEN', '-', '+')}({self.simple()})"
        if kind == "sum":
            return self.any(f"({self.simple()} {self.any(*'+*/')} {self.simple()})", f"({self.simple()} - 1.5)")
        return self.simple()

    def simple(self) -> str:
        return self.any(*VARIABLES, *VARIABLES, self.any(*TERMS), self.any(*TERMS))


@st.composite
def queries(draw: st.DrawFn) -> str:
    return Author(draw).query()


def _theirs(text: str, graph: list[Triple]) -> set[frozenset[tuple[str, object]]]:
    store = Store()
    store.extend(Quad(*triple) for triple in graph)
    found = store.query(text)
    if isinstance(found, QueryBoolean):
        return {frozenset()} if found else set()
    columns = [variable.value for variable in found.variables]
    return {frozenset((name, row[name]) for name in columns if row[name] is not None) for row in found}


def _ours(pattern: Pattern, graph: list[Triple]) -> set[frozenset[tuple[str, object]]]:
    return {frozenset(row.items()) for row in evaluate(pattern, graph)}


@given(queries(), graphs)
@settings(deadline=None, max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow])
def test_a_query_means_what_it_means_to_another_implementation(text: str, graph: list[Triple]) -> None:
    """X1, N6: a text has the rows that pyoxigraph finds, before and after normalization."""
    try:
        pattern = sparql.compile(text, Context())
    except UnsupportedQuery:
        event("refused")
        return
    theirs = _theirs(text, graph)
    event("with rows" if theirs else "without rows")
    assert _ours(pattern, graph) == theirs
    normal = compile(text, language="sparql")
    assert _ours(normal, graph) == theirs
    assert _ours(compile(render(normal, language="sparql"), language="sparql"), graph) == theirs


P_AND_R = "?x <http://example.org/p> ?x . ?x <http://example.org/r> ?x ."


@example("SELECT * { ?x <http://example.org/p> ?x . { " + P_AND_R + " } UNION { ?x <http://example.org/r> ?x } }")
@given(queries())
@settings(deadline=None, max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
def test_a_rendered_pattern_compiles_to_itself(text: str) -> None:
    """X1: printed and read again, a pattern is the same pattern."""
    try:
        pattern = sparql.compile(text, Context())
    except UnsupportedQuery:
        return
    again = sparql.compile(sparql.render(pattern, PREFIXES), Context())
    assert again.answer == pattern.answer
    assert [_unordered(branch) for branch in again.branches] == [_unordered(branch) for branch in pattern.branches]


def _unordered(branch: Conjunction) -> tuple[object, ...]:
    return frozenset(branch.triples), frozenset(branch.conditions), branch.bindings, branch.optionals
