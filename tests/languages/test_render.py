"""Patterns printed back: what a language prints compiles to the pattern that was printed."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from triplewire.algebra.pattern import Call, Conjunction, Optional, Pattern, TriplePattern, variable
from triplewire.errors import UnsupportedQuery
from triplewire.languages import compile, render

PREFIXES = {"": "urn:v:", "ex": "http://example.org/ns#"}

_names = st.sampled_from(["p", "q", "ex:r", "dc:date", "rdf:type", "<http://example.org/ns#a.b>", ":member", ":not"])
_texts = st.text(st.characters(codec="utf-8", exclude_characters="\\'\r\n"), max_size=6).map(lambda text: f"'{text}'")
_constants = st.one_of(
    st.integers(-9, 9).map(str),
    st.sampled_from(["3.50", "1e3", "-.5", "'chat'@fr", "'x'^^xsd:date", "'5'^^xsd:integer", "'5'", "'a\\n\\\"b'"]),
    _texts,
)
_operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "contains"])


def _sentence(*parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map(" ".join)


def _joined(parts: st.SearchStrategy[str], sign: str, most: int) -> st.SearchStrategy[str]:
    return st.lists(parts, min_size=1, max_size=most).map(sign.join)


def _formulas(atoms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Conditions with and, or and not around atoms."""
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({' and '.join(parts)})"),
            st.lists(inner, min_size=2, max_size=2).map(lambda parts: f"({' or '.join(parts)})"),
            inner.map(lambda part: f"not {part}"),
        ),
        max_leaves=4,
    )


_variables = st.sampled_from(["?x", "?y", "?z"])
_nodes = st.one_of(_variables, _variables, _names)
_triples = st.tuples(_nodes, st.one_of(_names, _variables), st.one_of(_nodes, _constants)).map(
    lambda places: f"({', '.join(places)})"
)
_chain = st.just("(?x, p, ?y), (?y, q, ?z)")
_comparisons = st.one_of(
    _sentence(_variables, _operators, _constants),
    _sentence(_constants, _operators, _variables),
    _sentence(_variables, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), _variables),
)
_relations = st.sampled_from(["isa", "ancestorOf", "instanceOf", "below", "atOrBelow", "above", "directlyBelow"])
_is_a = _sentence(_variables, _relations, st.sampled_from(["A", "ex:B"]))

CONJUNCTIVE = _sentence(
    st.sampled_from(["?x :", "?x, ?z :", "?z, ?y, ?x :"]),
    _chain,
    st.just(","),
    _joined(st.one_of(_triples, _comparisons, _sentence(_variables, st.just("!="), _names)), " ^ ", 5),
)
GQL = _sentence(
    st.sampled_from(["SELECT ?x", "SELECT ?x, ?z", "SELECT *"]),
    st.just("WHERE"),
    _chain,
    st.just(","),
    _joined(st.one_of(_triples, _triples, st.just("(?x, member, ?z)"), st.just("(?y, p, Some Words 7)")), ", ", 3),
    st.just("SUCHTHAT"),
    _joined(st.one_of(_formulas(_comparisons), _is_a, _is_a.map(lambda part: f"({part} or ?x = ?z)")), ", ", 3),
)
QEL = _sentence(
    st.sampled_from(["ans(X) :-", "ans(Z, X) :-", "ans(X, Y, Z) :-", "ans(Y) :-"]),
    st.just("(X, p, Y), (X, q, Z),"),
    _joined(
        st.one_of(
            st.tuples(_names, _constants).map(lambda places: f"(X, {places[0]}, {places[1]})"),
            _formulas(_sentence(st.sampled_from("YZ"), _operators, _constants)),
        ),
        ", ",
        4,
    ),
)
_paths = st.sampled_from(["c.p", "c.p.q", "c.p.ex:r", "c.q", "d.p", "d.p.q", "c.dc:date", "d.ex:r.p"])
_any_paths = st.sampled_from(["c.k?", "d.k?", "c.p?.q"])
_predicates = st.one_of(
    _sentence(st.one_of(_paths, _any_paths), _operators, _constants),
    _sentence(_constants, _operators, _paths),
    _sentence(_paths, _operators, st.one_of(_paths, st.sampled_from("cd"))),
    _sentence(_paths, st.sampled_from(["=", "!="]), st.sampled_from([":A", "<urn:x>"])),
    st.sampled_from(["c = 'urn:a'", "d != <urn:b>", "c = d", "c.p", "c.q?"]),
)
RULES = _sentence(
    st.sampled_from(
        ["search A c, ex:B d register c", "search A c, ex:B d register d, c", "search A c, A d register c, d"]
    ),
    st.just("where c.p = d and"),
    _formulas(_predicates),
)


def _compiled(text: str, language: str) -> Pattern:
    pattern = compile(text, language=language, prefixes=PREFIXES)
    assume(pattern.branches)
    return pattern


@given(CONJUNCTIVE)
def test_every_conjunctive_query_is_printed_back(text: str) -> None:
    pattern = _compiled(text, "conjunctive")
    again = render(pattern, language="conjunctive", prefixes=PREFIXES)
    assert compile(again, language="conjunctive", prefixes=PREFIXES) == pattern


@given(GQL)
def test_every_gql_query_is_printed_back(text: str) -> None:
    pattern = _compiled(text, "gql")
    again = render(pattern, language="gql", prefixes=PREFIXES)
    assert compile(again, language="gql", prefixes=PREFIXES) == pattern


@pytest.mark.parametrize("language", ["qel", "rules"])
@given(data=st.data())
def test_query_is_printed_back_or_refused(language: str, data: st.DataObject) -> None:
    """A path or an aligned constraint cannot say everything that normal form makes of a text."""
    try:
        pattern = _compiled(data.draw(QEL if language == "qel" else RULES), language)
        again = render(pattern, language=language, prefixes=PREFIXES)
    except UnsupportedQuery:
        assume(False)
    assert compile(again, language=language, prefixes=PREFIXES) == pattern


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("rules", "search A c register c"),
        ("rules", "search ex:A c, B d register c, d where c.p = d"),
        ("rules", 'search A c register c where c.p.q > 64 and c.p.ex:r contains "x"'),
        ("rules", 'search A c register c where c.k? = "rdf" and c.k? = "xml"'),
        ("rules", "search A c register c where c.k < c.p and (c.p = 1 or c.q >= 2.5)"),
        ("rules", "search A c register c where c = <urn:x>"),
        ("rules", 'search A c register c where c.p and not c.q contains "z"'),
        ("rules", "search A c register c where c.p != :B"),
        ("rules", "search A ?not register ?not where ?not.p = 1"),
        ("gql", "SELECT ?x WHERE (?x, p, ?_y) SUCHTHAT (?_y isa A)"),
        ("gql", "SELECT ?x, ?y WHERE (?x, p, ?y) SUCHTHAT (?x isa A), (?y instanceOf ex:B), (?y ancestorOf ex:C)"),
        ("gql", 'SELECT ?x WHERE (?x, member, ?_y) SUCHTHAT (?_y contains "a")'),
        ("gql", "SELECT ?x WHERE (?x, p, ?_y) SUCHTHAT (?x is :member)"),
        ("gql", 'SELECT ?x WHERE (?x, p, ?_y) UNION WHERE (?x, q, "a b")'),
        ("qel", 'ans(X, Y) :- (X, p, Y) and (X, q, :Article) and (Y > 5 or Y contains "a")'),
        ("qel", 'ans(X) :- (X, p, V1) and (V1 = "a" or V1 = "b" or V1 = 5)'),
        ("conjunctive", '?x, ?y : (?x, p, ?y) ^ (?y, ?_p, "chat"@fr) ^ ?y != 5 ^ ?y != <urn:x>'),
        ("conjunctive", '?x, ?z : (?x, p, "5"^^xsd:integer) ^ ?z = "here"'),
        ("conjunctive", '?x, ?y : (?x, p, ?y) ^ "a b" contains ?y'),
        ("gql", 'SELECT ?x, ?y WHERE (?x, p, ?y) SUCHTHAT (not "a b" contains ?y)'),
    ],
)
def test_text_is_printed_with_the_words_that_a_person_would_use(language: str, text: str) -> None:
    pattern = compile(text, language=language, prefixes=PREFIXES)
    again = render(pattern, language=language, prefixes=PREFIXES)
    assert sorted(_words(again)) == sorted(_words(text))


def _words(text: str) -> list[str]:
    """The words and signs, without the order and the hidden variables' names, which normal form changes."""
    kept = text.replace("(", " ").replace(")", " ").replace(",", " ").split()
    return [word for word in kept if not word.startswith("?_")]


_X, _Y = variable("x"), variable("y")
_TRIPLE = TriplePattern(_X, compile("?x : (?x, p, ?y)", language="conjunctive").branches[0].triples[0].predicate, _Y)


@pytest.mark.parametrize(
    ("pattern", "language", "words"),
    [
        (Pattern((), ()), "gql", "can never match"),
        (Pattern((), (Conjunction((_TRIPLE,)),)), "gql", "at least one variable"),
        (Pattern(("x",), (Conjunction((_TRIPLE,), (Call(">", (_Y, _X)),)),)), "conjunctive", "no words for"),
        (Pattern(("x",), (Conjunction((_TRIPLE,), (), (), (Optional((_TRIPLE,)),)),)), "qel", "optional"),
        (Pattern(("x",), (Conjunction((_TRIPLE,)),)), "rules", "no class"),
        (
            Pattern(("x·y",), (Conjunction((TriplePattern(variable("x·y"), _TRIPLE.predicate, _Y),)),)),
            "gql",
            "the name of",
        ),
    ],
)
def test_pattern_that_a_language_cannot_say_is_refused(pattern: Pattern, language: str, words: str) -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        render(pattern, language=language)
    assert words in caught.value.reason
    assert caught.value.language == language


@pytest.mark.parametrize("language", ["rules", "gql", "qel"])
def test_query_of_another_language_is_printed_where_it_can_be_said(language: str) -> None:
    """X1: one algebra behind all languages."""
    text = "?X, ?Y : (?X, rdf:type, A) ^ (?X, p, ?Y) ^ (?Y, rdf:type, B)"
    pattern = compile(text, language="conjunctive")
    if language == "qel":
        pattern = compile("?X, ?Y : (?X, rdf:type, A) ^ (?X, p, ?Y) ^ ?Y > 5", language="conjunctive")
    assert compile(render(pattern, language=language), language=language) == pattern
