"""The place of the backbone on the page: the other hubs, the homes of documents, what waits, and conflicts (M10)."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from backbone.served import served_pair, wait_for
from hub.page.browsers import Visit


@pytest.fixture
def pair(tmp_path):
    """Two served hubs of one backbone, harbour and town, each of which knows the other."""
    with served_pair(tmp_path) as found:
        yield found


def test_page_of_a_hub_shows_its_backbone(pair, browser):
    harbour, town = pair["harbour"], pair["town"]
    harbour.publish("urn:d", "<urn:s> <urn:p> 1 .")
    wait_for(lambda: len(town.get("/v1/backbone").json()["homes"]) == 2)
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    near = Visit(context.new_page(), town.url)
    near.go("backbone")
    near.heading("Backbone")
    page = near.page
    expect(page.get_by_role("link", name="Backbone", exact=True)).to_be_visible()
    expect(page.get_by_role("region", name="The other hubs of this backbone")).to_contain_text("0 batches behind")
    homes = page.get_by_role("region", name="The homes of the documents here")
    expect(homes).to_contain_text("harbour-")
    expect(homes).to_contain_text("1 document")
    expect(page.get_by_text("Nothing waits.")).to_be_visible()
    expect(page.get_by_text("No document was registered at two hubs.")).to_be_visible()
    assert near.complaints == []
    context.close()


def test_page_of_a_hub_of_no_backbone_has_no_place_for_one(visit):
    page = visit.go("dashboard").page
    expect(page.get_by_role("link", name="Dashboard", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Backbone", exact=True)).to_have_count(0)
