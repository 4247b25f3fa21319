"""Looking around on the page: trees, facets, references, search, documents and their versions (M9)."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from hub.page.browsers import PREFIXES, Visit
from hub.serving import serving

pytestmark = pytest.mark.slow


def test_taxonomy_is_a_tree_that_leads_to_what_is_below(visit):
    page = visit.go("browse").page
    expect(page.get_by_text("3 documents")).to_be_visible()
    environment = page.locator(".tree > li", has_text="Nature and environment")
    expect(environment.locator(".tree")).to_contain_text(["Water", "Bathing"])
    page.get_by_role("link", name="Water", exact=True).click()
    visit.heading("Water")
    expect(page.get_by_role("region", name="Resources").get_by_role("listitem")).to_have_count(2)


def test_facets_narrow_and_widen(visit):
    page = visit.go("browse").page
    page.get_by_role("link", name="dcat:Dataset").click()
    resources = page.get_by_role("region", name="Resources").get_by_role("listitem")
    expect(resources).to_have_count(3)
    page.get_by_role("complementary").get_by_role("link", name="Bathing", exact=True).click()
    expect(resources).to_have_count(2)
    page.get_by_role("link", name="Without rdf:type dcat:Dataset").click()
    visit.heading("Bathing")
    page.get_by_role("button", name="Subscribe to these").click()
    visit.heading("Subscribe")
    expect(page.get_by_label("Query", exact=True)).to_have_value(
        re.compile(r"\?thing dcat:theme <https://town.example/Bathing> \.")
    )
    expect(page.locator(".status")).to_contain_text("This is a query")


def test_references_are_followed_both_ways(visit):
    page = visit.go("resource?iri=https://town.example/beach").page
    visit.heading("Bathing water at the beach")
    page.get_by_role("link", name="Harbour Office").click()
    visit.heading("Harbour Office")
    expect(page.get_by_role("heading", name="What refers to it")).to_be_visible()
    page.get_by_role("link", name="Bathing water at the beach").click()
    visit.heading("Bathing water at the beach")
    page.get_by_role("link", name="beach.ttl").click()
    visit.heading("beach.ttl")
    page.go_back()
    visit.heading("Bathing water at the beach")


def test_blank_nodes_are_told_in_their_place(visit, served):
    served.publish("https://town.example/map.ttl", f'{PREFIXES} :map :place [ :street "Quay 1" ] .')
    page = visit.go("resource?iri=https://town.example/map").page
    expect(page.locator(".properties .properties")).to_contain_text("Quay 1")
    served.retract("https://town.example/map.ttl", Prefer="wait")


def test_search_by_text(visit):
    page = visit.go("browse").page
    page.get_by_role("searchbox", name="Words").fill("BATHING water")
    page.get_by_role("searchbox").press("Enter")
    visit.heading("Search: BATHING water")
    page.get_by_role("link", name="Bathing water at the beach").click()
    visit.heading("Bathing water at the beach")


def test_document_shows_its_versions_and_what_changed(visit, served):
    uri = "https://town.example/tower.ttl"
    served.publish(uri, f'{PREFIXES} :tower dcterms:title "A tower" ; dcat:keyword "high" .')
    served.publish(uri, f'{PREFIXES} :tower dcterms:title "The tower" ; dcat:keyword "high" .')
    served.publish(uri, f'{PREFIXES} :tower dcterms:title "The tower" ; dcat:keyword "low" .')
    page = visit.go("documents").page
    page.get_by_role("link", name=uri).click()
    visit.heading("tower.ttl")
    expect(page.locator(".difference .gone")).to_have_count(1)
    expect(page.locator(".difference .gone")).to_contain_text("high")
    page.get_by_label("From version").select_option("1")
    expect(page.locator(".difference .gone")).to_have_count(2)
    expect(page.locator(".difference .came")).to_contain_text(["The tower", "low"])
    page.get_by_role("button", name="Take it back").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert served.get("/v1/document", params={"uri": uri}).status_code == 200
    page.get_by_role("button", name="Take it back").click()
    page.get_by_role("dialog").get_by_role("button", name="Take it back").click()
    visit.heading("Documents")
    assert served.get("/v1/document", params={"uri": uri}).status_code == 404


def test_an_empty_hub_says_what_to_do(browser, tmp_path):
    with serving(f"sqlite:///{tmp_path}/empty.db") as empty:
        context = browser.new_context()
        visit = Visit(context.new_page(), empty.url).go("browse")
        expect(visit.page.get_by_text("Nothing is published yet.")).to_be_visible()
        visit.go("subscriptions")
        expect(visit.page.get_by_text("There is none yet.")).to_be_visible()
        visit.go("dashboard")
        visit.heading("Dashboard")
        visit.go("nowhere")
        expect(visit.page.get_by_text("There is nothing at this address.")).to_be_visible()
        assert visit.complaints == []
        context.close()


def test_the_town_is_what_these_tests_think(served):
    """Its documents are there, and nothing else: each test cleans up after itself."""
    told = served.get("/v1/documents").json()["documents"]
    assert [each["uri"].rpartition("/")[2] for each in told] == ["beach.ttl", "pool.ttl", "trees.ttl"]
