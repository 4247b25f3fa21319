"""XPath together against XPath one by one: random XML, random expressions, and lxml as the definition (N1, N6)."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from tests.xml_worlds import PREFIXES, random_expression, random_xml

from effort import examples
from triplewire import Document, Index, Pattern, compile, parse
from triplewire.algebra.xpath.evaluate import MOST_HITS, rows
from triplewire.algebra.xpath.query import PathQuery
from triplewire.matching.xml.machine import Machine

SEEDS = st.integers(0, 2**32)
MANY_STEPS = (1 << 31) - 1


def document(rng: Random) -> Document:
    return parse(random_xml(rng), uri="urn:x:document", media_type="application/xml")


def is_true(text: str, xml: bytes) -> bool:
    """What lxml says of the text itself, as it was written, with the document as its context node."""
    asked = f"boolean((/)[boolean({text})])"
    return bool(etree.XPath(asked, namespaces=PREFIXES)(etree.fromstring(xml)))


def texts_of(query: PathQuery, xml: bytes) -> list[str] | None:
    """The string-values of the nodes that lxml selects, each as XPath's `string()` reads it; None: it gives a value."""

    def ask(text: str, of: object) -> Any:
        return etree.XPath(text, namespaces=query.namespaces)(of)

    tree = etree.fromstring(xml).getroottree()
    if not isinstance(found := ask(query.text, tree), list):
        return None
    values = [node[1] if isinstance(node, tuple) else _string_value(node) for node in found]
    if ask(f"boolean(({query.text})[count(. | /) = 1])", tree):
        values.append(ask("string(/)", tree))  # lxml leaves the document itself out of its lists
    return sorted(" ".join(value.split()) for value in values)


def _string_value(node: Any) -> str:
    if isinstance(node, str):
        return node
    return etree.XPath("string()")(node) if isinstance(node.tag, str) else node.text or ""


def fill(index: Index, texts: dict[str, str]) -> None:
    for id, text in texts.items():
        index.add(id, compile(text, language="xpath", prefixes=PREFIXES))


def check(index: Index, texts: dict[str, str], one: Document) -> None:
    found = index.match(one)
    served = {id: text for id, text in texts.items() if id not in found.errors}
    assert set(found.subscriptions) == {id for id, text in served.items() if is_true(text, one.xml)}
    assert len(served) > len(texts) * 0.9
    for match in found:
        query = index.pattern(match.subscription)
        assert match.rows == rows(query, one)
        assert match.rows
        meant = texts_of(query, one.xml)
        if meant is not None and len(meant) <= MOST_HITS:
            assert sorted(row["text"].value for row in match.rows) == meant
            assert len({row["node"].value for row in match.rows}) == len(match.rows)


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS)
def test_the_index_finds_what_lxml_finds_one_by_one(seed: int) -> None:
    rng = Random(seed)
    texts = {str(number): random_expression(rng) for number in range(60)}
    index = Index(max_steps=MANY_STEPS)
    fill(index, texts)
    for _ in range(3):
        check(index, texts, document(rng))


@settings(max_examples=examples(15), deadline=None)
@given(SEEDS)
def test_what_the_compiled_pass_does_not_serve_is_matched_by_the_other_one(seed: int) -> None:
    rng = Random(seed)
    texts = {str(number): random_expression(rng) for number in range(60)}
    index = Index(max_steps=MANY_STEPS)
    fill(index, texts)
    with patch.object(Machine, "run", return_value=None) as compiled:
        for _ in range(3):
            check(index, texts, document(rng))
    assert compiled.called


@settings(max_examples=examples(15), deadline=None)
@given(SEEDS)
def test_it_does_so_when_subscriptions_come_and_go(seed: int) -> None:
    rng = Random(seed)
    texts: dict[str, str] = {}
    index = Index(max_steps=MANY_STEPS)
    for turn in range(4):
        new = {f"{turn}.{number}": random_expression(rng, 2) for number in range(25)}
        fill(index, new)
        texts |= new
        for id in rng.sample(sorted(texts), 10):
            index.remove(id)
            del texts[id]
        check(index, texts, document(rng))


@settings(max_examples=8, deadline=None)
@given(SEEDS)
def test_a_saved_index_finds_the_same(tmp_path_factory, seed: int) -> None:
    rng = Random(seed)
    texts = {str(number): random_expression(rng, 2) for number in range(40)}
    index = Index(max_steps=MANY_STEPS)
    fill(index, texts)
    index.add("graph", compile("SELECT ?s { ?s <urn:p> ?o }", language="sparql"))
    path = Path(tmp_path_factory.mktemp("paths")) / "index"
    index.save(path)
    loaded = Index.load(path, verify=True, max_steps=MANY_STEPS)
    assert list(loaded) == list(index)
    check(loaded, texts, document(rng))
    loaded.remove("0")
    loaded.add("again", compile(texts["1"], language="xpath", prefixes=PREFIXES))
    one = document(rng)
    assert ("again" in loaded.match(one).subscriptions) == ("1" in loaded.match(one).subscriptions)


@settings(max_examples=examples(100), deadline=None)
@given(SEEDS)
def test_the_normal_form_has_one_spelling_and_compiles_to_itself(seed: int) -> None:
    query = compile(random_expression(Random(seed)), language="xpath", prefixes=PREFIXES)
    again: Pattern = compile(query.text, language="xpath", prefixes=query.namespaces)
    assert again == query
    assert hash(again) == hash(query)
