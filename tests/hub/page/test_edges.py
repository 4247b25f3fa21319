"""Browse and select (M9): what a person picks on the page of a hub, their edge keeps; and the edge's page says why."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import expect

from hub.page.browsers import Visit
from hub.serving import serving


def until(is_so, what: str) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end, f"it took too long until {what}"
        time.sleep(0.1)


@pytest.fixture
def edge(served, tmp_path):
    """A served edge of the town's hub, which follows nothing yet."""
    with serving(f"sqlite:///{tmp_path}/edge.db", edge_of=served.url) as found:
        yield found


def test_what_is_picked_on_the_hubs_page_is_kept_at_the_edge_and_its_page_says_why(visit, served, edge, browser):
    until(lambda: served.get("/v1/edges").json(), "the edge has asked for the first time")
    page = visit.go("resource?iri=%3Chttps%3A%2F%2Ftown.example%2Fpool%3E").page
    visit.heading("Pools")
    page.get_by_role("button", name="Keep this at my edge").click()
    expect(page.get_by_text("keeps it as soon as it asks")).to_be_visible()
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    near = Visit(context.new_page(), edge.url)
    until(lambda: edge.get("/v1/edge").json()["cached"], "the edge has asked again")
    near.go("edge")
    near.heading("This edge")
    expect(near.page.get_by_role("region", name="The rules of this edge")).to_contain_text("1 resource")
    expect(near.page.get_by_text("The link to the hub works.")).to_be_visible()
    near.go("resource?iri=%3Chttps%3A%2F%2Ftown.example%2Fpool%3E")
    near.heading("Pools")
    expect(near.page.get_by_role("complementary", name="Why it is here")).to_contain_text("registers it")
    expect(near.page.locator("#age")).to_contain_text("that of its hub, confirmed just now")
    assert near.complaints == []
    context.close()


def test_where_there_is_no_edge_the_page_offers_none_and_has_no_place_for_one(visit):
    page = visit.go("resource?iri=%3Chttps%3A%2F%2Ftown.example%2Fbeach%3E").page
    visit.heading("Bathing water at the beach")
    expect(page.get_by_role("link", name="Edge", exact=True)).to_have_count(0)
    expect(page.locator("#age")).to_be_empty()
