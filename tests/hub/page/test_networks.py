"""The place of the network on the page: a map of hubs and links, and what each says of itself (P3)."""

from __future__ import annotations

from playwright.sync_api import expect
from tests.network.live.federations import WATER, about, federation, hierarchy, kinds, wait_for

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


def test_page_of_a_hub_of_a_hierarchy_shows_the_tree_of_units_and_where_an_event_went(tmp_path, browser):
    """N2: who controls each unit, how far it is behind, what flows; and which units a document came by, and why."""
    clusters = ["lindhaven/harbour", "lindhaven/hill", "aster/mill"]
    with hierarchy(tmp_path, clusters) as hubs:
        hubs[1].subscribe("water", WATER, reach="network")
        hubs[0].publish("urn:doc", about(0))
        wait_for(lambda: kinds(hubs[1]) == ["matched <urn:d0>"])
        context = browser.new_context(viewport={"width": 1200, "height": 900})
        near = Visit(context.new_page(), hubs[1].url)
        page = near.go("subscription?id=water").page
        page.get_by_role("link", name="The way of its last event").click()
        near.heading("Network")
        tree = page.get_by_role("list", name="The units of this network")
        places = tree.get_by_role("listitem")
        expect(places).to_have_count(9)  # the network, two towns, three quarters, three brokers
        assert tree.inner_text().count("controlled by") == 6
        harbour = tree.locator("li", has=page.locator(":scope > strong", has_text="harbour"))
        expect(harbour.last).to_contain_text(hubs[0].hub.identity.name)
        expect(harbour.last).to_contain_text("It came by here.")
        expect(harbour.last).to_contain_text("up to date, 0 messages on the way")
        mill = tree.locator("li", has=page.locator(":scope > strong", has_text="mill")).last
        expect(mill).not_to_contain_text("It came by here.")
        way = page.get_by_role("region", name="Where it went")
        expect(way).to_contain_text("unit lindhaven/hill, which asked for it; not to unit /, which asks for nothing")
        hubs[1].publish("urn:other", about(1))
        page.get_by_role("textbox", name="A document that was published here").fill("urn:other")
        page.get_by_role("button", name="Show where it went").click()
        expect(way).to_contain_text("urn:other was published at broker lindhaven/hill/0")
        expect(harbour.last).not_to_contain_text("It came by here.")
        hubs[2].subscribe("later", WATER, reach="network")
        expect(mill).to_contain_text("asks for 1 thing")  # drawn again by itself
        assert near.complaints == []
        context.close()
