"""Prefixes (X5): those that everybody knows need not be declared, in any language; of others the error says how."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import triplewire
from hub.serving import serving
from triplewire import Hub, QueryError, compile
from triplewire.client import Client
from triplewire.model.prefixes import KNOWN_PREFIXES

PAGE = Path(triplewire.__file__).parent / "hub" / "page" / "terms.js"
TEXTS = {
    "sparql": "SELECT ?d { ?d PREFIX:keyword 'a' }",
    "rules": "search PREFIX:Dataset d register d where d.PREFIX:keyword = 'a'",
    "gql": "SELECT ?x WHERE (?x, PREFIX:keyword, 'a')",
    "qel": "ans(X) :- (X, PREFIX:keyword, Y)",
    "conjunctive": '?d : (?d, PREFIX:keyword, "a")',
    "xpath": "//PREFIX:keyword",
}


def test_page_knows_the_same_prefixes():
    table = re.search(r"export const PREFIXES = \{(.*?)\};", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    of_page = dict(re.findall(r'(\w+): "([^"]+)"', table))
    assert len(of_page) > 5
    assert of_page.items() <= KNOWN_PREFIXES.items()
    assert set(re.findall(r"^\s*(\w+):", table, re.MULTILINE)) | {"dct"} == KNOWN_PREFIXES.keys()


@pytest.mark.parametrize("language", TEXTS)
def test_known_prefix_needs_no_declaration(language):
    compile(TEXTS[language].replace("PREFIX", "dcat"), language=language)


@pytest.mark.parametrize("language", TEXTS)
def test_unknown_prefix_is_named_with_how_to_give_it(language):
    with pytest.raises(QueryError) as refused:
        compile(TEXTS[language].replace("PREFIX", "town"), language=language)
    told = str(refused.value)
    assert "the prefix" in told
    assert "prefixes={'town': '...'}" in told
    assert "-p town=..." in told
    compile(TEXTS[language].replace("PREFIX", "town"), language=language, prefixes={"town": "urn:town:"})


def test_prefix_of_the_caller_and_of_the_text_win_over_the_known():
    known = compile("SELECT ?d { ?d dcat:keyword 'a' }", language="sparql")
    mine = compile("SELECT ?d { ?d dcat:keyword 'a' }", language="sparql", prefixes={"dcat": "urn:mine:"})
    own = compile("PREFIX dcat: <urn:mine:> SELECT ?d { ?d dcat:keyword 'a' }", language="sparql")
    assert known != mine
    assert mine == own


@pytest.fixture(params=["hub", "client"])
def asked(request, tmp_path):
    if request.param == "hub":
        with Hub(tmp_path / "hub.db") as hub:
            yield hub
    else:
        with serving(f"sqlite:///{tmp_path}/hub.db") as served, Client(served.url) as client:
            yield client


def test_query_knows_the_same_and_says_the_same(asked):
    asked.publish("<urn:a> <http://www.w3.org/ns/dcat#keyword> 'x' .", uri="urn:doc", media_type="text/turtle")
    assert len(list(asked.query("SELECT ?d { ?d dcat:keyword 'x' }"))) == 1
    own = "PREFIX dcat: <urn:mine:> SELECT ?d { ?d dcat:keyword 'x' }"
    assert len(list(asked.query(own))) == 0
    with pytest.raises(QueryError, match=r"the prefix town: is not declared.*prefixes=\{'town'.*-p town=") as refused:
        asked.query("SELECT ?d { ?d dcat:keyword ?k ; town:size ?n }")
    assert (refused.value.line, refused.value.column) == (1, 34)


@pytest.mark.parametrize(
    "text", ["SELECT ?s { ?s dcat:a", "SELECT ?s { ?s a:b:c", "SELECT ?s WHERE { ?s ?p 'a'@ }", "SELECT * {"]
)
def test_query_that_is_no_sparql_is_told_without_a_grammar(asked, text):
    with pytest.raises(QueryError) as refused:
        asked.query(text)
    assert "['" not in str(refused.value)
    assert "u{" not in str(refused.value)
