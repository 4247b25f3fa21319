"""XPath 1.0 as a language of subscriptions (N1, N6, X1)."""

from __future__ import annotations

import pickle

import pytest

from triplewire import QueryError, QuerySyntaxError, UnsupportedQuery, compile, covers, lint, render

PREFIXES = {"m": "urn:menu", "n": "urn:menu", "o": "urn:other"}


def xpath(text: str):
    return compile(text, language="xpath", prefixes=PREFIXES)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/a/b[c>1]", "/child::a/child::b[child::c > 1]"),
        ("/a/b[c>1]", "/a/b[1<c]"),
        ("/a/b[c > 1]", "  /a /b [ c>1.0 ] "),
        ("/a[x and y]", "/a[y and x]"),
        ("/a[x and y]", "/a[x][y]"),
        ("/a[x or y or x]", "/a[(y or x)]"),
        ("/a[not(not(b))]", "/a[b]"),
        ("/a[boolean(b)]", "/a[b]"),
        ("/a[count(b) > 0]", "/a[b]"),
        ("//a", "/descendant-or-self::node()/child::a"),
        ("//a[@b='c']", "/descendant::a['c' = attribute::b]"),
        ("a/./b", "/a/b"),
        ("/a/b/..", "/a/b/parent::node()"),
        ("/a[position()=2]", "/a[2]"),
        ("/a | /b", "b|a"),
        ("(/a/b)/c", "/a/b/c"),
        ("/m:a", "/n:a"),
        ('/a[b="x"]', "/a[b='x']"),
        ("/a[true()][b]", "/a[b]"),
        ("01.50 < /a", "/a > 1.5"),
    ],
)
def test_equivalent_spellings_are_one_query(one: str, other: str) -> None:
    assert xpath(one) == xpath(other)
    assert hash(xpath(one)) == hash(xpath(other))
    assert covers(xpath(one), xpath(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/a[1][b]", "/a[b][1]"),
        ("//a[1]", "/descendant::a[1]"),
        ("/m:a", "/o:a"),
        ("/a", "/m:a"),
        ("/a[b > 1]", "/a[b >= 1]"),
        ("/a[not(b = 1)]", "/a[b != 1]"),
        ("/a[b and c]", "/a[b or c]"),
        ("/a/b", "boolean(/a/b)"),
        ("(//a)[1]", "//a[1]"),
    ],
)
def test_what_means_something_else_stays_apart(one: str, other: str) -> None:
    assert xpath(one) != xpath(other)
    assert not covers(xpath(one), xpath(other))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("/a", ("document", "node", "text")),
        ("count(/a)", ("document", "text")),
        ("string(/a)", ("document", "text")),
        ("/a = 1", ("document",)),
    ],
)
def test_the_columns_follow_from_the_type(text: str, answer: tuple[str, ...]) -> None:
    assert xpath(text).answer == answer


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("/a[", 1, 4, "ends too early"),
        ("/a/b[c\n  == 1]", 2, 4, "one sign"),
        ("/a]", 1, 3, "an operator or the end"),
        ("/a/q:b", 1, 4, "stands for no namespace"),
        ("count(1)", 1, 1, "takes a node-set"),
        ("/a[contains(b)]", 1, 4, "takes 2 arguments"),
        ("/a/sideways::b", 1, 4, "there is no axis"),
        ("'open", 1, 1, "no closing quote"),
        ("1/a", 1, 1, "only nodes"),
        ("/a | 1", 1, 6, "unites node-sets"),
    ],
)
def test_a_text_that_is_no_xpath_is_refused_with_the_place(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        xpath(text)
    assert words in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/a[b > $price]", "no variables"),
        ("m:matches(/a, 'x')", "extension function"),
        ("matches(/a, 'x')", "no function matches"),
        ("(" * 200 + "1" + ")" * 200, "nested deeper"),
        ("+".join(["1"] * 300), "chain of more than"),
    ],
)
def test_what_nobody_could_serve_is_refused_with_the_reason(text: str, words: str) -> None:
    with pytest.raises(UnsupportedQuery, match=words):
        xpath(text)


def test_an_empty_text_is_refused() -> None:
    with pytest.raises(QueryError, match="no expression"):
        xpath("  ")


def test_a_query_is_printed_back_with_prefixes() -> None:
    query = xpath("/m:a[o:b > 1]")
    text = render(query, language="xpath", prefixes={"p": "urn:menu", "q": "urn:other"})
    assert text == "/p:a[q:b > 1]"
    with pytest.raises(UnsupportedQuery, match="no prefix stands for urn:menu"):
        render(query, language="xpath")


def test_xpath_and_the_languages_of_triples_cannot_say_each_other() -> None:
    with pytest.raises(UnsupportedQuery, match="only xpath"):
        render(xpath("/a"), language="sparql")
    with pytest.raises(UnsupportedQuery, match="triples"):
        render(compile("SELECT ?s { ?s ?p ?o }", language="sparql"), language="xpath")


def test_a_query_survives_pickling() -> None:
    query = xpath("/m:a[b = 'x']")
    assert pickle.loads(pickle.dumps(query)) == query


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("/a[b]", []),
        ("not(/a)", ["unselective"]),
        ("/a[false()]", ["never-matches"]),
        ("string-length(/) > 5", ["unselective"]),
    ],
)
def test_lint_tells_what_cannot_match_and_what_is_evaluated_every_time(text: str, kinds: list[str]) -> None:
    assert [finding.kind for finding in lint(xpath(text))] == kinds


def test_lint_tells_equal_subscriptions() -> None:
    (finding,) = lint(xpath("/a[b > 1]"), others={"other": xpath("/a[1 < b]"), "wider": xpath("/a")})
    assert (finding.kind, finding.others) == ("equivalent", ("other",))
