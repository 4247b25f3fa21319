"""A hub with XML documents and XPath subscriptions (N1, N3)."""

from __future__ import annotations

import pytest

from triplewire import Hub, UnknownRow, UnsupportedQuery

MENU = '<menu><softdrinks sort="{sort}"><brand>{brand}</brand><price>{price}</price></softdrinks></menu>'
URI = "https://menus.example/1.xml"
CHEAP = "/menu/softdrinks[price > 1.80]"


def menu(price: float, brand: str = "Minute Maid", sort: str = "juice") -> str:
    return MENU.format(price=price, brand=brand, sort=sort)


def kinds(outcome) -> list[tuple[str, str]]:
    return [(event.subscription, event.kind) for event in outcome]


def values(row) -> dict[str, str]:
    return {name: term.value for name, term in row.items()}


def test_a_menu_matches_changes_and_stops_matching(hub: Hub) -> None:
    hub.subscribe(CHEAP, language="xpath", id="maja")
    assert kinds(hub.publish(menu(2.9), uri=URI)) == [("maja", "matched")]
    assert kinds(hub.publish(menu(2.9), uri=URI)) == []
    changed = hub.publish(menu(3.9), uri=URI)
    assert kinds(changed) == [("maja", "changed")]
    assert values(changed[0].row)["text"] == "Minute Maid3.9"
    assert [(b.uri, b.before, b.after) for b in changed[0].documents] == [(URI, 1, 2)]
    assert kinds(hub.publish(menu(1), uri=URI)) == [("maja", "unmatched")]
    assert hub.rows("maja") == []
    assert list(hub.check()) == []


def test_a_change_that_the_row_does_not_show_is_told(hub: Hub) -> None:
    hub.subscribe(CHEAP, language="xpath", id="maja")
    hub.subscribe("//brand", language="xpath", id="brand")
    hub.publish(menu(2.9), uri=URI)
    assert kinds(hub.publish(menu(2.9, sort="soda"), uri=URI)) == [("maja", "changed")]


def test_a_yes_or_no_question_changes_with_its_document(hub: Hub) -> None:
    hub.subscribe("not(//wine)", language="xpath", id="sober")
    assert kinds(hub.publish(menu(1), uri=URI)) == [("sober", "matched")]
    assert kinds(hub.publish(menu(2), uri=URI)) == [("sober", "changed")]
    assert kinds(hub.publish("<menu><wine/></menu>", uri=URI)) == [("sober", "unmatched")]


def test_retracting_ends_the_rows_of_a_document_alone(hub: Hub) -> None:
    hub.subscribe(CHEAP, language="xpath", id="maja")
    hub.publish(menu(2.9), uri=URI)
    hub.publish(menu(2.9), uri="https://menus.example/2.xml")
    assert len(hub.rows("maja")) == 2
    assert kinds(hub.retract(URI)) == [("maja", "unmatched")]
    assert [values(row)["document"] for row in hub.rows("maja")] == ["https://menus.example/2.xml"]


def test_with_start_ever_what_matches_already_is_told_first(hub: Hub) -> None:
    hub.publish(menu(2.9), uri=URI)
    hub.subscribe(CHEAP, language="xpath", id="ever", start="ever")
    hub.subscribe(CHEAP, language="xpath", id="now")
    assert [(e.kind, [b.uri for b in e.documents]) for e in hub.events("ever")] == [("matched", [URI])]
    assert hub.rows("now") == []
    assert list(hub.check()) == []


def test_everything_is_there_after_reopening(new_url) -> None:
    url = new_url("sqlite")
    with Hub(url) as hub:
        hub.subscribe(CHEAP, language="xpath", id="maja", prefixes={"m": "urn:m"})
        hub.publish(menu(2.9), uri=URI)
        rows = hub.rows("maja")
    with Hub(url) as hub:
        assert hub.rows("maja") == rows
        assert hub.document(URI).xml == menu(2.9).encode()
        assert hub.subscription("maja").text == CHEAP
        assert kinds(hub.publish(menu(1), uri=URI)) == [("maja", "unmatched")]
        assert hub.document(URI, version=1).xml == menu(2.9).encode()


def test_the_graph_is_no_scope_for_xpath(hub: Hub) -> None:
    with pytest.raises(UnsupportedQuery, match="one document"):
        hub.subscribe(CHEAP, language="xpath", scope="graph")


def test_why_and_why_not(hub: Hub) -> None:
    hub.subscribe(CHEAP, language="xpath", id="maja")
    hub.publish(menu(2.9), uri=URI)
    (row,) = hub.rows("maja")
    why = hub.why("maja", row)
    assert "/menu/softdrinks[price > 1.8]" in str(why)
    assert [source.uri for source in why.documents] == [URI]
    with pytest.raises(UnknownRow):
        hub.why("maja", {**row, "node": row["text"]})
    hub.publish(menu(1), uri=URI)
    assert '/menu/softdrinks/price = "1"' in str(hub.why_not("maja", URI))
    assert "speaks of it" in str(hub.why_not("maja", "https://menus.example/none"))


def test_preview_tells_what_a_subscription_would_get(hub: Hub) -> None:
    hub.publish(menu(2.9), uri=URI)
    hub.subscribe("/menu/softdrinks[1.8 < price]", language="xpath", id="maja")
    ahead = hub.preview(CHEAP, language="xpath")
    assert (ahead.count, ahead.equal_to, ahead.problem) == (1, ("maja",), None)
    assert hub.preview("//wine", language="xpath").count == 0


def test_stored_documents_are_found_newest_first_and_not_more_than_wanted(hub: Hub) -> None:
    """N3: one query against stored events (section 5.3 of the brokering paper)."""
    uris = [f"https://menus.example/{number}.xml" for number in range(5)]
    for number, uri in enumerate(uris):
        hub.publish(menu(number), uri=uri)
    hub.publish("<urn:a> <urn:p> 1 .", uri="https://menus.example/rdf")
    hub.publish(menu(9), uri=uris[0])
    hub.retract(uris[4])
    found = hub.find(CHEAP)
    assert [document.uri for document in found] == [uris[0], uris[3], uris[2]]
    assert found[0].xml == menu(9).encode()
    assert [document.uri for document in hub.find(CHEAP, limit=1)] == [uris[0]]
    by_triples = hub.find("ASK { ?s <urn:p> 1 }", language="sparql")
    assert [document.uri for document in by_triples] == ["https://menus.example/rdf"]
    assert hub.find("//wine") == []
