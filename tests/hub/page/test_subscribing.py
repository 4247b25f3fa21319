"""Subscribing on the page: in every language, by clicking, with every way to generalise; rows, why, why not."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from hub.page.browsers import PREFIXES

pytestmark = pytest.mark.slow

TEXTS = {
    "sparql": 'SELECT ?d { ?d dcat:keyword "sea" }',
    "rules": "search dcat:Dataset d register d where d.dcat:keyword = 'sea'",
    "gql": 'SELECT ?d WHERE (?d, dcat:keyword, "sea")',
    "qel": 'ans(D) :- (D, dcat:keyword, W) and W = "sea"',
    "conjunctive": '?d : (?d, dcat:keyword, "sea")',
    "xpath": "/menu/drink[price > 1]/name",
}
CLASSES = {
    "sparql": "keyword",
    "rules": "keyword",
    "gql": "variable",
    "qel": "name",
    "conjunctive": "string",
    "xpath": "number",
}


@pytest.mark.parametrize("language", TEXTS)
def test_a_query_of_each_language_is_coloured_checked_drawn_and_subscribed(visit, served, language):
    page = visit.go("write").page
    page.get_by_label("Language").select_option(language)
    page.get_by_label("Query", exact=True).fill("nonsense ((")
    expect(page.locator(".status.error")).to_be_visible()
    page.get_by_label("Query", exact=True).fill(TEXTS[language])
    expect(page.locator(".status.good")).to_be_visible()
    expect(page.locator(f".sheet .is-{CLASSES[language]}").first).to_be_visible()
    expect(page.locator(".picture svg")).to_be_visible()
    page.get_by_label("Name of the subscription").fill(f"in {language}")
    page.get_by_role("button", name="Subscribe", exact=True).click()
    visit.heading(f"in {language}")
    told = served.get(f"/v1/subscriptions/in {language}").json()
    assert (told["language"], told["text"]) == (language, TEXTS[language])


def test_the_draft_is_there_after_looking_something_up(visit):
    page = visit.go("write").page
    page.get_by_label("Query", exact=True).fill("SELECT ?mine { ?mine a dcat:Dataset }")
    page.get_by_role("link", name="Browse").click()
    visit.heading("What is there")
    page.get_by_role("link", name="Subscribe", exact=True).click()
    expect(page.get_by_label("Query", exact=True)).to_have_value("SELECT ?mine { ?mine a dcat:Dataset }")
    page.get_by_text("Prefixes", exact=True).click()
    page.get_by_label("Query", exact=True).fill("SELECT ?x { ?x town:p ?y }")
    expect(page.locator(".status.error")).to_be_visible()
    page.get_by_label("More prefixes").fill("town: <https://town.example/>")
    expect(page.locator(".status.warn")).to_be_visible()


def test_a_mistake_is_gone_to(visit):
    page = visit.go("write").page
    page.get_by_label("Query", exact=True).fill("SELECT ?d {\n  ?d <urn:p> }")
    page.get_by_role("button", name="Go to the mistake").click()
    assert page.evaluate("document.activeElement.id + ' ' + document.activeElement.selectionStart") == "query 25"


def test_values_are_generalised_by_clicking(visit):
    page = visit.go("like?iri=https://town.example/beach.csv").page
    page.get_by_role("checkbox", name=re.compile("byteSize")).check()
    how = page.get_by_label("dcat:byteSize must be")
    query = page.locator("pre.query")
    expect(query).to_contain_text("dcat:byteSize 48213 .")
    how.select_option("between")
    page.get_by_label("dcat:byteSize at least").fill("1000")
    page.get_by_label("dcat:byteSize at most").fill("50000")
    expect(query).to_contain_text("FILTER (?byteSize >= 1000 && ?byteSize <= 50000)")
    how.select_option("least")
    expect(query).to_contain_text("FILTER (?byteSize >= 1000)")
    how.select_option("any")
    expect(query).to_contain_text("?distribution dcat:byteSize ?byteSize .")
    expect(query).to_contain_text("SELECT ?distribution ?byteSize WHERE")
    expect(page.locator(".status")).to_contain_text("This is a query")


def test_text_classes_and_references_are_generalised_by_clicking(visit, served):
    """Datasets with "water" in the title, of a theme below Water, that an organization publishes: the beach."""
    page = visit.go("like?iri=https://town.example/beach").page
    page.get_by_role("checkbox", name=re.compile("title Bathing")).check()
    page.get_by_label("dcterms:title must be").select_option("contains")
    page.get_by_label("dcterms:title contains").fill("Water")
    page.get_by_role("checkbox", name=re.compile("theme Bathing")).check()
    page.get_by_label("dcat:theme must be").select_option("isa")
    page.get_by_role("checkbox", name=re.compile("publisher Harbour Office")).check()
    page.get_by_role("button", name="Choose among what Harbour Office has").click()
    page.get_by_role("checkbox", name=re.compile("name Harbour Office")).check()
    query = page.locator("pre.query")
    expect(query).to_contain_text('FILTER (CONTAINS(LCASE(STR(?title)), "water"))')
    expect(query).to_contain_text("dcat:theme/rdfs:subClassOf* <https://town.example/Bathing>")
    expect(query).to_contain_text('?publisher foaf:name "Harbour Office"')
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".preview")).to_contain_text("1 answer now")
    expect(page.locator(".preview").get_by_role("link", name="Bathing water at the beach")).to_be_visible()
    expect(page.locator(".preview")).to_contain_text("It would have fired about")
    expect(page.locator(".preview")).to_contain_text("What it costs")
    page.get_by_role("button", name="Edit it as text").click()
    visit.heading("Subscribe")
    expect(page.get_by_label("Query", exact=True)).to_have_value(re.compile("CONTAINS"))


def test_references_to_a_thing_are_chosen_too(visit):
    page = visit.go("like?iri=https://town.example/beach.csv").page
    page.get_by_role("checkbox", name=re.compile("distribution of Bathing")).check()
    expect(page.locator("pre.query")).to_contain_text("<https://town.example/beach> dcat:distribution ?distribution .")


def test_rows_are_explained(visit):
    page = visit.go("subscription?id=sea").page
    page.get_by_role("button", name="Why?").first.click()
    why = page.locator(".why").first
    expect(why).to_contain_text("dcat:keyword sea")
    expect(why.get_by_role("link", name="beach.ttl").first).to_be_visible()
    page.get_by_role("searchbox", name="A resource").fill("https://town.example/pool")
    page.get_by_role("searchbox", name="A resource").press("Enter")
    expect(page.get_by_text("Pools is no answer.")).to_be_visible()
    expect(page.locator(".difference .gone")).to_contain_text("dcat:keyword")


def test_a_query_is_told_in_the_other_languages(visit):
    page = visit.go("subscription?id=sea").page
    page.get_by_text("In other words").click()
    expect(page.get_by_role("heading", name="conjunctive")).to_be_visible()
    expect(page.get_by_label("How it is matched")).to_contain_text("waits here")


def test_an_event_that_ends_an_answer_says_so(visit, served):
    uri = "https://town.example/quay.ttl"
    page = visit.go("subscription?id=sea").page
    expect(page.get_by_text("Live:")).to_be_visible()
    served.publish(uri, f'{PREFIXES} :quay dcat:keyword "sea" ; dcterms:title "The quay" .')
    expect(page.locator(".event").first).to_contain_text("New The quay")
    served.retract(uri, Prefer="wait")
    expect(page.locator(".event").first).to_contain_text("Gone")
    page.locator(".event").first.locator("summary").click()
    expect(page.locator(".event").first.locator(".gone")).to_contain_text(["The quay", "sea"])
    expect(page.locator(".event").first).to_contain_text("version 1 → none")


def test_a_stream_that_breaks_is_taken_up_where_it_was(visit, served):
    uri = "https://town.example/pier.ttl"
    page = visit.go("subscription?id=sea").page
    expect(page.get_by_text("Live:")).to_be_visible()
    count = page.locator(".event").count()
    page.context.set_offline(True)
    served.publish(uri, f'{PREFIXES} :pier dcat:keyword "sea" ; dcterms:title "The pier" .')
    page.context.set_offline(False)
    expect(page.locator(".event")).to_have_count(count + 1)
    expect(page.locator(".event").first).to_contain_text("The pier")
    served.retract(uri, Prefer="wait")


def test_unsubscribing_asks_first(visit, served):
    served.subscribe("brief", "SELECT ?s { ?s <urn:p> ?o }")
    page = visit.go("subscriptions").page
    page.get_by_role("link", name="brief").click()
    page.get_by_role("button", name="Unsubscribe").click()
    page.get_by_role("dialog").get_by_role("button", name="Unsubscribe").click()
    visit.heading("Subscriptions")
    expect(page.get_by_role("link", name="brief")).to_have_count(0)
    assert served.get("/v1/subscriptions/brief").status_code == 404


def test_a_name_that_is_taken_is_told(visit):
    page = visit.go("write").page
    page.get_by_label("Name of the subscription").fill("sea")
    page.get_by_role("button", name="Subscribe", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("this id is taken")


def test_whatever_a_value_says_it_is_asked_for_as_it_is(visit, served):
    """Quotes, backslashes and lines in a text, a language, a date, a boolean, an IRI with signs of SPARQL in it."""
    values = r""""say \"hi\" to \\ and\n\tback", "chat"@fr, "2026-11-16"^^<http://www.w3.org/2001/XMLSchema#date>,
        true, -1, 2.5, <urn:a,b;c(d)#e?f=g&h%20i>"""
    uri = "https://town.example/odd.ttl"
    assert served.publish(uri, f"{PREFIXES} :odd :says {values} .").is_success
    page = visit.go("like?iri=https://town.example/odd").page
    boxes = page.get_by_role("checkbox")
    expect(boxes).to_have_count(7)
    for box in boxes.all():
        box.check()
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".preview")).to_contain_text("1 answer now")
    served.retract(uri, Prefer="wait")
