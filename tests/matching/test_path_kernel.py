"""The compiled pass over XML: what it reads and leaves out, against Python's own words for the same (N1)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from effort import examples
from triplewire import Index, compile, parse
from triplewire.algebra.xpath.evaluate import matches, tree_of
from triplewire.algebra.xpath.numbers import number_of
from triplewire.matching.xml.grams import Grams
from triplewire.matching.xml.kernel.values import number_in
from triplewire.matching.xml.machine import Machine

WRITTEN = st.text("0123456789.-eE \t+x", max_size=24) | st.floats(allow_nan=False).map(str) | st.integers().map(str)
TEXTS = st.text("ab é", min_size=1, max_size=30)


@settings(max_examples=examples(400), deadline=None)
@given(WRITTEN)
def test_a_number_is_read_as_python_reads_it_or_left_to_python(text: str) -> None:
    raw = np.frombuffer(f"<{text}>".encode(), dtype=np.uint8)
    kind, number = number_in(raw, 1, raw.size - 1)
    expected = number_of(text)
    if kind == 0:
        assert expected is None
    elif kind == 1:
        assert (number, True) == expected


@settings(max_examples=examples(400), deadline=None)
@given(st.text("0123456789", min_size=1, max_size=15), st.integers(0, 15), st.booleans())
def test_a_number_that_is_known_exactly_is_the_one_that_lxml_has(digits: str, point: int, is_negative: bool) -> None:
    text = ("-" if is_negative else "") + (f"{digits[:point]}.{digits[point:]}" if point < len(digits) else digits)
    element = etree.Element("a")
    element.text = text
    assert number_of(text) == (element.xpath("number(.)"), True) == (element.xpath(text), True)


def test_a_number_of_fifteen_digits_is_not_left_to_python() -> None:
    for text, number in (("12345678901234.5", 12345678901234.5), (" -.000000000000001\n", -1e-15), ("7.", 7.0)):
        raw = np.frombuffer(text.encode(), dtype=np.uint8)
        assert number_in(raw, 0, raw.size) == (1, number)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(TEXTS, max_size=12), st.lists(TEXTS, max_size=12), st.lists(TEXTS, max_size=6))
def test_a_gram_is_found_where_a_text_that_waits_under_it_is(kept: list[str], gone: list[str], read: list[str]) -> None:
    grams = Grams()
    waiting = [(text, grams.add(text)) for text in gone]
    under = {text: grams.add(text) for text in kept}
    for text, gram in waiting:
        grams.remove(text, gram)
    for text in read:
        found = grams.found_in(text.encode())
        there = {gram for piece, gram in under.items() if gram is not None and piece in text}
        assert set(found.everywhere) == there
        assert set(found.between(0, len(text.encode()))) == there


def test_thousands_of_texts_come_and_go_and_those_that_stay_are_found() -> None:
    grams = Grams()
    texts = [f"{number:04} is a text of its own" for number in range(5_000)]
    under = {text: grams.add(text) for text in texts}
    for text in texts[::2]:
        grams.remove(text, under[text])
    again = {text: grams.add(text) for text in texts[:100:2]}
    assert again.keys() <= under.keys()
    for number, text in enumerate(texts):
        is_there = number % 2 == 1 or number < 100
        assert bool(len(grams.found_in(f"so {text}.".encode()))) == is_there


def test_a_long_text_is_compared_to_its_end() -> None:
    start = "a text that is longer than what the kernel compares of any, and so "
    index = Index()
    for end in ("right", "wrong"):
        index.add(end, compile(f"//a[contains(., '{start}{end}')]", language="xpath"))
    found = index.match(parse(f"<a>{start}right</a>", uri="urn:x:long", media_type="application/xml"))
    assert len(start) > 64
    assert found.subscriptions == ["right"]


def test_a_document_with_more_states_than_are_remembered_is_matched(monkeypatch) -> None:
    monkeypatch.setattr("triplewire.matching.xml.automaton.MOST_STATES", 5)
    index = Index()
    for number in range(20):
        index.add(str(number), compile(f"/a/b{number}[. = '{number % 2}']", language="xpath"))
    text = "<a>" + "".join(f"<b{number}>0</b{number}>" for number in range(20)) + "</a>"
    for _ in range(2):
        found = index.match(parse(text, uri="urn:x:wide", media_type="application/xml"))
        assert found.subscriptions == [str(number) for number in range(0, 20, 2)]


DOCUMENT = (
    '<a xml:lang="de" n="17.50" t="a long text, in an attribute"><b>12</b><b>3.5e1</b><b> 5 </b>'
    "<c>before <d>and inside of it</d> and behind</c><xml:e>so</xml:e><f xml:space='preserve'/></a>"
)
EXPRESSIONS = [
    "/a[@xml:lang = 'de']",
    "/a[@xml:lang = 'en']",
    "/a/f[@xml:*]",
    "//@xml:space",
    "//@xml:base",
    "/a/f[@*]",
    "/a/f[@xml:lang]",
    "//xml:e",
    "/a/xml:*",
    "/a[@n > 17.4999]",
    "/a[@n > 17.5]",
    "/a[@n >= 17.5]",
    "/a[@n = 17.5]",
    "/a[@n < 17.5]",
    "/a[b > 34.9]",
    "/a[b > 35]",
    "/a[b < 5.1]",
    "/a[b < 5]",
    "/a[b = 5]",
    "/a[@t[contains(., 'long text, in an attribute')]]",
    "/a[contains(@t, 'long text, in an attributf')]",
    "/a[contains(@t, 'long')]",
    "/a[contains(@t, 'in')]",
    "//c[contains(., 'before and inside of it and')]",
    "//c[contains(., 'and inside of it')]",
    "//c/text()[contains(., 'and inside of it')]",
    "//c/text()[contains(., ' and behind')]",
    "//d[. = 'and inside of it']",
    "//c[. = 'before and inside of it and behind']",
]


def test_a_document_without_declarations_matches_as_lxml_says() -> None:
    """One by one, and all together, where looks are shared."""
    document = parse(DOCUMENT, uri="urn:x:plain", media_type="application/xml")
    tree = tree_of(document.xml)
    prefixes = {"xml": "http://www.w3.org/XML/1998/namespace"}
    together = Index()
    expected = []
    for text in EXPRESSIONS:
        query = compile(text, language="xpath", prefixes=prefixes)
        alone = Index()
        alone.add(text, query)
        together.add(text, query)
        is_true = matches(query, tree)
        assert bool(alone.match(document)) == is_true, text
        expected += [text] if is_true else []
    assert list(together.match(document).subscriptions) == expected
    assert len(expected) == 20


NAMESPACES = (
    '<p:a xmlns:p="urn:p" xmlns:q="urn:q?x&amp;y"><!-- 9 < 10 --><q:b p:i="&lt;1&gt;" q:i="2" i="3">a &amp; b</q:b>'
    '<b xmlns="urn:p">1<?go on > ?>2<c xmlns="">x</c><c/></b><p:b xmlns:p="urn:r" p:i="4"/><b xmlnsp="urn:p"/></p:a>'
)
ASKED = {
    "/p:a": True,
    "/a": False,
    "/p:a/q:b[. = 'a & b']": True,
    "//b[. = 'a & b']": False,
    "//q:b[contains(., ' & b')]": True,
    "//q:*[contains(., 'amp')]": False,
    "//@p:i[. = '<1>']": True,
    "//@q:i > 1": True,
    "//@q:i > 2": False,
    "//q:b[@i = 3]": True,
    "//p:b/p:c": True,
    "//p:b/c[. = 'x']": True,
    "//p:b[. = '12x']": True,
    "//p:b/text()[. = '12']": False,
    "//p:b/text()[. = '2']": True,
    "//p:b/@p:i": False,
    "//r:b/@r:i[. = 4]": True,
    "//r:*": True,
    "//s:*": False,
    "/p:a/b": True,
    "//b[@xmlnsp = 'urn:p']": True,
    "/p:a/p:b[2]": False,
    "contains(/p:a, '9 < 10')": False,
}


@pytest.mark.parametrize("is_compiled", [True, False], ids=["compiled", "in Python"])
def test_names_have_their_namespaces_and_values_their_references(is_compiled: bool, monkeypatch) -> None:
    if not is_compiled:
        monkeypatch.setattr(Machine, "run", lambda *given: None)
    prefixes = {"p": "urn:p", "q": "urn:q?x&y", "r": "urn:r", "s": "urn:s"}
    index = Index()
    for text in ASKED:
        index.add(text, compile(text, language="xpath", prefixes=prefixes))
    found = index.match(parse(NAMESPACES, uri="urn:x:names", media_type="application/xml"))
    assert {text: text in found.subscriptions for text in ASKED} == ASKED


def test_more_namespaces_than_the_compiled_pass_keeps_are_told_apart() -> None:
    declared = "".join(f' xmlns:n{number}="urn:n:{number}"' for number in range(200))
    index = Index()
    for number in (0, 199):
        index.add(str(number), compile(f"//n:b[. = {number}]", language="xpath", prefixes={"n": f"urn:n:{number}"}))
    text = f"<a{declared}><n0:b>0</n0:b><n199:b>1</n199:b><n199:b>199</n199:b></a>"
    found = index.match(parse(text, uri="urn:x:many", media_type="application/xml"))
    assert found.subscriptions == ["0", "199"]


def test_matches_stay_what_they_were_when_thresholds_and_texts_come_and_go() -> None:
    """Neither is copied when a document matches: a change lets those who hold matches have their own before.

    Invariant of `matching.xml.paths`: matches stay what they are when the index changes.
    """
    document = parse("<a><b>7</b><c>x</c></a>", uri="urn:x:held", media_type="application/xml")
    index = Index()
    texts = {f"above {number}": f"/a[b > {number}]" for number in range(20)} | {"same": "/a[c = 'x']", "place": "/a/c"}
    for id, text in texts.items():
        index.add(id, compile(text, language="xpath"))
    expected = [f"above {number}" for number in range(7)] + ["same", "place"]
    held, asked = index.match(document), index.match(document)
    assert asked
    for id in texts:
        index.remove(id)
    index.add("new", compile("/a[b > 2.5][c]", language="xpath"))
    assert index.match(document).subscriptions == ["new"]
    assert held
    assert asked
    assert held.subscriptions == asked.subscriptions == expected
