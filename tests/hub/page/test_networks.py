"""The place of the network on the page: a map of hubs and links, and what each says of itself (P3)."""

from __future__ import annotations

from playwright.sync_api import expect
from tests.network.live.federations import WATER, federation

from hub.page.browsers import Visit


def test_page_of_a_hub_shows_the_map_of_its_network(tmp_path, browser):
    with federation(tmp_path, 3) as hubs:
        hubs[1].subscribe("water", WATER, reach="network")
        context = browser.new_context(viewport={"width": 1200, "height": 900})
        near = Visit(context.new_page(), hubs[2].url)
        near.go("network")
        near.heading("Network")
        page = near.page
        expect(page.get_by_role("img", name="3 hubs and 3 links between them")).to_be_visible()
        listed = page.get_by_role("region", name="The hubs of this network")
        expect(listed).to_contain_text("decides who is a member")
        expect(listed).to_contain_text("1 interest")
        expect(page.get_by_role("region", name="The links between corners")).to_contain_text("open")
        assert near.complaints == []
        context.close()


def test_page_of_a_hub_of_no_network_has_no_place_for_one(visit):
    page = visit.go("dashboard").page
    expect(page.get_by_role("link", name="Dashboard", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Network", exact=True)).to_have_count(0)
