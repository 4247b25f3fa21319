"""The inbox on the page: what is new in all subscriptions since one looked (G6, X7)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from hub.page.browsers import PREFIXES, SIZES, Visit, town
from hub.serving import serving

pytestmark = pytest.mark.slow


@pytest.fixture(params=SIZES)
def morning(browser, tmp_path, request):
    """A town where somebody looked two days ago, and somebody published since: the service, and a visitor."""
    width, height = SIZES[request.param]
    with town(tmp_path) as served:
        served.subscribe("pools", 'SELECT ?d { ?d <http://www.w3.org/ns/dcat#keyword> "pool" }', title="Where to swim")
        then = (datetime.now(UTC) - timedelta(days=2)).isoformat(timespec="milliseconds")
        with served.hub.store._database.writing() as sql:
            sql.run("UPDATE batches SET committed = ?", then)
        last = served.get("/v1/inbox/news").json()["last"]
        assert served.put("/v1/inbox/mark", json={"cursor": last}).status_code == 200
        for name, word in {"quay": "sea", "lido": "pool"}.items():
            text = f'{PREFIXES} :{name} dcat:keyword "{word}" ; dcterms:title "The {name}" .'
            served.publish(f"https://town.example/{name}.ttl", text)
        context = browser.new_context(viewport={"width": width, "height": height})
        visit = Visit(context.new_page(), served.url, (width, height))
        yield served, visit
        assert visit.complaints == []
        context.close()


def test_see_what_is_new_since_yesterday(morning):
    served, visit = morning
    page = visit.go().page
    visit.heading("What is new")
    expect(page.get_by_text("2 events since you looked.")).to_be_visible()
    unread = page.locator(".is-unread summary")
    expect(unread).to_contain_text(["Where to swim: The lido", "sea: The quay"])
    expect(page.get_by_role("region", name="Today").locator(".event")).to_have_count(2)
    expect(page.locator(".event")).to_have_count(3)
    expect(page.locator(".event").last.locator("time").first).to_have_text("2 days ago")
    page.get_by_label("When").select_option("the last day")
    expect(page.locator(".event")).to_have_count(2)
    page.get_by_role("searchbox", name="Words").fill("QUAY")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".event")).to_have_count(1)
    page.get_by_label("What", exact=True).select_option("Gone")
    expect(page.get_by_text("Nothing fits.")).to_be_visible()
    page.get_by_role("link", name="See everything").click()
    page.get_by_role("list", name="New events of").get_by_role("link", name="Where to swim").click()
    expect(page.locator(".event")).to_have_count(1)
    page.get_by_role("link", name="See everything").click()
    page.get_by_role("button", name="I have seen them").click()
    expect(page.get_by_text("Nothing is new since you looked.")).to_be_visible()
    expect(page.locator(".is-unread")).to_have_count(0)
    expect(page.locator(".event")).to_have_count(3)
    served.retract("https://town.example/quay.ttl", Prefer="wait")
    page.get_by_role("button", name="Show 1 event that just happened").click()
    expect(unread).to_contain_text(["Gone"])
    page.locator(".event summary").first.click()
    expect(page.locator(".event").first).to_contain_text("What made it an answer")
    assert page.evaluate("document.documentElement.scrollWidth") <= visit.size[0]
    page.locator(".event").first.get_by_role("link", name="sea", exact=True).click()
    visit.heading("sea")


def test_earlier_events_come_when_they_are_asked_for(browser, tmp_path):
    with serving(f"sqlite:///{tmp_path}/hub.db") as served:
        served.subscribe("many", "SELECT ?s { ?s <urn:number> ?n }")
        served.publish("urn:many", " ".join(f"<urn:many:{n}> <urn:number> {n} ." for n in range(70)))
        context = browser.new_context()
        page = Visit(context.new_page(), served.url).go().page
        expect(page.locator(".event")).to_have_count(50)
        page.get_by_role("button", name="Earlier events").click()
        expect(page.locator(".event")).to_have_count(70)
        assert len(set(page.locator(".event .what").all_inner_texts())) == 70
        expect(page.get_by_role("button", name="Earlier events")).to_have_count(0)
        context.close()


def test_an_empty_inbox_says_what_to_do(browser, tmp_path):
    with serving(f"sqlite:///{tmp_path}/hub.db") as served:
        context = browser.new_context()
        visit = Visit(context.new_page(), served.url).go()
        expect(visit.page.get_by_text("There is no subscription yet.")).to_be_visible()
        served.subscribe("quiet", "SELECT ?s { ?s <urn:p> ?o }")
        visit.page.reload()
        expect(visit.page.get_by_text("Nothing has happened yet.")).to_be_visible()
        expect(visit.page.get_by_role("link", name=re.compile("^Inbox"))).to_have_attribute("aria-current", "page")
        context.close()
