"""XPath subscriptions in the index: the paper's example, rows, budgets, explanations (N1, X4)."""

from __future__ import annotations

import pytest

from triplewire import Index, MatchLimitExceeded, compile, parse
from triplewire.algebra.xpath.evaluate import MOST_HITS
from triplewire.algebra.xpath.places import MOST_TEXT

MENU = """<?xml version="1.0" encoding="ISO-8859-1"?>
<menu>
  <softdrinks>
    <brand>Minute Maid</brand>
    <fruit>Apple</fruit>
    <source>Brazil</source>
    <company>Coca Cola</company>
    <price>2.90</price>
    <year>2003</year>
  </softdrinks>
</menu>
"""
URI = "https://menus.example/1.xml"


def document(text: str = MENU):
    return parse(text.encode(), uri=URI, media_type="application/xml")


def index_of(**texts: str) -> Index:
    index = Index()
    for id, text in texts.items():
        index.add(id, compile(text, language="xpath"))
    return index


def told(row) -> dict[str, str]:
    return {name: term.value for name, term in row.items()}


def test_the_menu_of_the_paper_matches_its_profile() -> None:
    """Figure 4 of the brokering paper."""
    index = index_of(paper="/menu/softdrinks[price>1.80]", dearer="/menu/softdrinks[price>2.90]")
    (match,) = index.match(document())
    assert match.subscription == "paper"
    (row,) = match.rows
    assert told(row) == {
        "document": URI,
        "node": "/menu/softdrinks",
        "text": "Minute Maid Apple Brazil Coca Cola 2.90 2003",
    }


def test_the_text_of_a_node_is_in_the_order_of_the_document_at_any_depth() -> None:
    text = (
        "<d><p>Water <b>rises <i>fast</i> today</b>, says <!--not--><u>the <i>old</i> <b>m<s>ay</s>or</b></u>.</p></d>"
    )
    (match,) = index_of(all="//p").match(document(text))
    assert told(match.rows[0])["text"] == "Water rises fast today, says the old mayor."


def test_a_namespace_node_is_a_row_of_its_own_for_each_element() -> None:
    text = "<a xmlns:p='urn:1'><b/><c xmlns:p='urn:2'><p:d/></c></a>"
    (match,) = index_of(all="//namespace::p").match(document(text))
    assert {told(row)["node"]: told(row)["text"] for row in match.rows} == {
        "/a/namespace::p": "urn:1",
        "/a/b/namespace::p": "urn:1",
        "/a/c/namespace::p": "urn:2",
        "/a/c/p:d/namespace::p": "urn:2",
    }
    (match,) = index_of(some="//namespace::*[. = 'urn:2'] | //b").match(document(text))
    assert [told(row)["node"] for row in match.rows] == ["/a/b", "/a/c/namespace::p", "/a/c/p:d/namespace::p"]


def test_a_row_for_each_node_says_where_it_is() -> None:
    text = "<m xmlns:p='urn:p'><s i='1'>a<x/>b</s><s p:j='2'>c</s><!--z--><t>d</t></m>"
    index = index_of(nodes="/m/s | /m/t | //@* | //s/text() | //comment()")
    (match,) = index.match(document(text))
    assert [told(row)["node"] for row in match.rows] == [
        "/m/s[1]",
        "/m/s[1]/@i",
        "/m/s[1]/text()[1]",
        "/m/s[1]/text()[2]",
        "/m/s[2]",
        "/m/s[2]/@p:j",
        "/m/s[2]/text()",
        "/m/comment()",
        "/m/t",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [("count(//year)", "1"), ("string(//year)", "2003"), ("//year > 2000", None), ("count(//wine)", ""), ("''", "")],
)
def test_values_match_as_boolean_says(text: str, value: str | None) -> None:
    found = index_of(it=text).match(document())
    if value == "":
        assert not found
    else:
        ((row,),) = [match.rows for match in found]
        assert told(row) == {"document": URI} | ({} if value is None else {"text": value})


def test_rows_are_bounded_in_number_and_length() -> None:
    index = index_of(many="//b", long="/a")
    text = f"<a>{'<b/>' * (MOST_HITS + 5)}{'x' * (MOST_TEXT + 5)}</a>"
    rows = {match.subscription: match.rows for match in index.match(document(text))}
    assert len(rows["many"]) == MOST_HITS
    assert told(rows["long"][0])["text"] == "x" * MOST_TEXT + "…"


def test_equal_expressions_are_kept_once() -> None:
    index = index_of(one="/menu/softdrinks[price>1.80]", other="/child::menu/child::softdrinks[1.8 < price]")
    assert index.match(document()).subscriptions == ["one", "other"]
    (branch,) = index.explain("one").branches
    assert branch.equal == 2


def test_triples_and_xml_are_matched_side_by_side_in_the_order_of_adding() -> None:
    index = index_of(first="//a")
    index.add("second", compile("SELECT ?s { ?s <urn:p> ?o }", language="sparql"))
    index.add("third", compile("//b", language="xpath"))
    from triplewire import Document

    both = Document("urn:d", b"<urn:s> <urn:p> <urn:o> .\n", b"<a><b></b></a>")
    assert index.match(both).subscriptions == ["first", "second", "third"]
    assert [found.subscriptions for found in index.match_many([both, document("<b/>")])] == [
        ["first", "second", "third"],
        ["third"],
    ]


def test_an_expression_that_would_take_too_long_fails_alone() -> None:
    index = Index(max_steps=100_000)
    index.add("dear", compile("//*[following::*[preceding::*[. = 'x']]]", language="xpath"))
    index.add("cheap", compile("/a/b", language="xpath"))
    found = index.match(document(f"<a>{'<b>x</b>' * 500}</a>"))
    assert found.subscriptions == ["cheap"]
    assert isinstance(found.errors["dear"], MatchLimitExceeded)
    assert "steps" in str(found.errors["dear"])
    assert not index.match(document("<a><b>x</b></a>")).errors


def test_explain_tells_the_place_it_waits_at_and_what_is_left_to_evaluate() -> None:
    index = index_of(simple="/menu/softdrinks[price>1.80]", twig="//softdrinks[brand='X'][price<2]", free="not(//a)")
    text = str(index.explain("simple"))
    assert "/menu/softdrinks/price > 1.8" in text
    assert "then check" not in text
    twig = index.explain("twig").branches[0]
    assert [atom.waits for atom in twig.atoms] == [True, False]
    assert twig.atoms[0].text == "//softdrinks/brand = 'X'"
    assert twig.residual
    assert index.explain("free").branches[0].access == "any XML"


def test_why_and_why_not_name_the_step_that_decides() -> None:
    index = index_of(paper="/menu/softdrinks[price>1.80]", dear="/menu/softdrinks[price>5]", wine="/menu/wine/price")
    (reason,) = index.why("paper", document())
    assert "selects /menu/softdrinks" in str(reason)
    told = str(index.why_not("dear", document()))
    assert "`/menu/softdrinks` does" in told
    assert '/menu/softdrinks/price = "2.90"' in told
    assert "`/menu/wine` selects nothing" in str(index.why_not("wine", document()))
    assert index.why_not("paper", document()).matches
    assert "no XML" in str(index.why_not("paper", parse("<urn:a> <urn:b> 1 .", uri="urn:t")))


def test_numbers_near_a_threshold_are_left_to_lxml() -> None:
    texts = {f"t{i}": f"/a > 0.{i}" for i in range(1, 10)} | {f"e{i}": f"/a >= 0.{i}" for i in range(1, 10)}
    index = index_of(**texts, same="/a = 0.3", other="/a = 0.30000001")
    found = set(index.match(document("<a> 0.30 </a>")).subscriptions)
    assert found == {"t1", "t2", "e1", "e2", "e3", "same"}


def test_texts_are_found_wherever_they_stand() -> None:
    index = index_of(
        split="/a[contains(., 'red wine')]",
        escaped="/a[contains(., 'R&D lab')]",
        short="/a[contains(., 'w')]",
        missing="/a[contains(., 'white wine')]",
        tagged="/a/@t[contains(., 'a > b')]",
    )
    found = index.match(document("<a t='is a > b ?'>red<b> wi</b>ne and R&amp;D lab</a>"))
    assert found.subscriptions == ["split", "escaped", "short", "tagged"]


def test_matches_stay_what_they_are_when_the_index_changes() -> None:
    """Invariant of `matching.xml.paths`: matches stay what they are when the index changes."""
    index = index_of(one="/menu/softdrinks[price>1.80]", two="//year", three="//softdrinks[brand][price>1]")
    found = index.match(document())
    index.remove("one")
    index.remove("three")
    index.add("other", compile("//fruit", language="xpath"))
    index.add("late", compile("//year", language="xpath"))
    assert found.subscriptions == ["one", "two", "three"]
    assert index.match(document()).subscriptions == ["two", "other", "late"]


def test_a_text_that_nobody_waits_for_still_counts_as_there() -> None:
    index = index_of(
        both="/a[text() != 'x'][b = '1']",
        none="/a[c/text() != 'x'][b = '1']",
        valued="/a[text() = 'y'][b = '1'][@i = '2']",
    )
    assert index.match(document("<a i='2'>y<b>1</b><c/></a>")).subscriptions == ["both", "valued"]
