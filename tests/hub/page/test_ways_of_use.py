"""The page for everybody: signed in with a role, by keyboard, on a phone, with a screen reader, in the dark."""

from __future__ import annotations

import re
import time

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from hub.page.browsers import PREFIXES, SIZES, Visit, fill
from hub.serving import serving
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

pytestmark = pytest.mark.slow

VIEWS = {
    "inbox": "",
    "browse": "browse",
    "search": "search?q=water",
    "find": "find?where=%3Chttp://www.w3.org/ns/dcat%23theme%3E+isa+%3Chttps://town.example/Environment%3E",
    "resource": "resource?iri=https://town.example/beach",
    "documents": "documents",
    "document": "document?uri=https://town.example/beach.ttl",
    "theme": "resource?iri=https://town.example/Water",
    "write": "write",
    "edit": "write?edit=sea",
    "like": "like?iri=https://town.example/beach",
    "subscriptions": "subscriptions",
    "subscription": "subscription?id=sea",
    "dashboard": "dashboard",
    "publish": "publish",
    "sign-in": "sign-in",
}


@pytest.mark.parametrize(("scheme", "size"), [("light", "dispatcher"), ("dark", "dispatcher"), ("light", "phone")])
def test_no_view_has_a_barrier_that_can_be_found_by_machine(browser, served, scheme, size):
    """WCAG 2.2 A and AA and best practices, as axe knows them."""
    width, height = SIZES[size]
    viewport = {"width": width, "height": height}
    context = browser.new_context(color_scheme=scheme, viewport=viewport, reduced_motion="reduce")
    visit = Visit(context.new_page(), served.url)
    found = {}
    for name, address in VIEWS.items():
        visit.go(address)
        if name in ("write", "edit", "like"):
            expect(visit.page.locator(".status.good")).to_be_visible()
        opened(visit.page, name)
        assert not re.search(r"\[object|\bundefined\b|\bNaN\b|\bnull\b", visit.page.locator("body").inner_text()), name
        violations = Axe().run(visit.page).response["violations"]
        found[name] = [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in violations]
    assert {name: each for name, each in found.items() if each} == {}
    assert visit.complaints == []
    context.close()


def opened(page, name):
    """Show what a view has only after a click."""
    if name == "subscription":
        page.get_by_role("button", name="Why?").first.click()
        page.locator(".event summary").first.click()
        page.get_by_text("Send events somewhere").click()
        page.get_by_role("searchbox", name="A resource").fill("https://town.example/pool")
        page.get_by_role("searchbox", name="A resource").press("Enter")
        expect(page.get_by_text("Pools is no answer.")).to_be_visible()
    if name == "resource":
        page.get_by_text("Why is it no answer?").click()
        expect(page.locator(".option").first).to_be_visible()


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_fits_a_phone(browser, served, name):
    context = browser.new_context(viewport={"width": 320, "height": 640})
    visit = Visit(context.new_page(), served.url).go(VIEWS[name])
    if name in ("write", "edit", "like"):
        expect(visit.page.locator(".picture svg")).to_be_visible()
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 320
    context.close()


def test_everything_is_reached_by_keyboard(visit):
    """From the top: past the navigation, to a class, to a resource, to a subscription, without a mouse."""
    page = visit.go("browse").page
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    reach(page, "dcat:Dataset")
    page.keyboard.press("Enter")
    visit.heading("dcat:Dataset")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    reach(page, "Pools")
    page.keyboard.press("Enter")
    visit.heading("Pools")
    reach(page, "Tell me about things like this")
    page.keyboard.press("Enter")
    visit.heading("Things like Pools")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.type") == "checkbox":
            break
    page.keyboard.press("Space")
    reach(page, "Preview")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Preview")).to_be_visible()
    reach(page, "Preview", backward=True)


def reach(page, text, *, backward=False):
    """Press Tab until what has this text has the focus."""
    for _ in range(80):
        if page.evaluate("document.activeElement.textContent.trim()") == text:
            return
        page.keyboard.press("Shift+Tab" if backward else "Tab")
    raise AssertionError(f"the keyboard does not come to {text!r}")


def test_news_are_announced_to_who_does_not_see_the_page(visit, served):
    page = visit.go("subscription?id=sea").page
    expect(page.get_by_text("Live:")).to_be_visible()
    uri = "https://town.example/buoy.ttl"
    served.publish(uri, f'{PREFIXES} :buoy dcat:keyword "sea" ; dcterms:title "A buoy" .')
    expect(page.get_by_role("status").filter(has_text="New in sea")).to_have_count(1)
    served.retract(uri, Prefer="wait")


def test_publishing_by_pasting_and_by_files(visit, served, tmp_path):
    page = visit.go("publish").page
    page.get_by_label("Address").fill("https://town.example/kite.ttl")
    page.get_by_label("Content").fill(f"{PREFIXES}\n:kite dcat:keyword oops .")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("line 7")
    page.get_by_label("Content").fill(f'{PREFIXES} :kite dcat:keyword "sea" ; dcterms:title "Kites" .')
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator("main .good").first).to_contain_text("published as version 1. 1 event, told to sea")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator("main .good").first).to_contain_text("nothing is new")
    one, two = tmp_path / "one.ttl", tmp_path / "two.jsonld"
    one.write_text("<urn:one> <urn:p> 1 .")
    two.write_text('{"@id": "urn:two", "urn:p": 1}')
    page.get_by_label("Address").fill("https://town.example/files/")
    page.get_by_label("Files").set_input_files([one, two])
    expect(page.locator("main .good")).to_have_count(4)
    dropped = page.evaluate_handle(
        "() => { const all = new DataTransfer();"
        " all.items.add(new File(['<urn:three> <urn:p> <urn:3> .'], 'three.nt')); return all; }"
    )
    page.locator("form.drop").dispatch_event("drop", {"dataTransfer": dropped})
    expect(page.get_by_label("Content")).to_have_value("<urn:three> <urn:p> <urn:3> .")
    expect(page.get_by_label("Syntax")).to_have_value("application/n-triples")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator("main .good")).to_have_count(5)
    for name in ("kite.ttl", "files/one.ttl", "files/two.jsonld", "files/three.nt"):
        assert served.retract(f"https://town.example/{name}", Prefer="wait").status_code == 200


def test_dashboard_shows_rates_lag_and_load(visit, served):
    page = visit.go("dashboard").page
    expect(page.get_by_role("img", name=re.compile("^Documents: [0-9]+ in all"))).to_be_visible()
    busiest = page.get_by_role("region", name="Busiest subscriptions")
    expect(busiest.get_by_role("link", name="sea")).to_be_visible()
    expect(page.locator(".tiles")).to_contain_text("nothing is late")
    before = served.get("/v1/statistics").json()["totals"]["events"]
    served.publish("https://town.example/gull.ttl", f'{PREFIXES} :gull dcat:keyword "sea" ; dcterms:title "Gulls" .')
    expect(page.locator(".tiles div", has_text="Events told").locator("dd")).to_have_text(str(before + 1))
    page.get_by_role("radio", name="week").check()
    expect(page).to_have_url(re.compile("over=week"))
    served.retract("https://town.example/gull.ttl", Prefer="wait")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A hub that wants to know who asks, and a token of each role."""
    folder = tmp_path_factory.mktemp("guarded")
    with Store.open(f"sqlite:///{folder}/hub.db") as store:
        tokens = {role: Accounts(store).create_token(role, role=role)[1] for role in ("reader", "publisher", "admin")}
    with serving(f"sqlite:///{folder}/hub.db", identity=True) as served:
        served.headers["Authorization"] = f"Bearer {tokens['admin']}"
        fill(served)
        yield served, tokens


def test_roles_are_respected_and_the_token_stays_out_of_addresses(browser, guarded):
    served, tokens = guarded
    context = browser.new_context()
    visit = Visit(context.new_page(), served.url)
    asked = []
    context.on("request", lambda request: asked.append(request.url))
    page = visit.go("dashboard").page
    visit.heading("Sign in")
    expect(page.locator("#navigation [aria-current]")).to_have_count(0)
    page.get_by_label("Token").fill("tw_wrong_token")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not valid")
    page.get_by_label("Token").fill(tokens["reader"])
    page.get_by_role("button", name="Sign in").click()
    visit.heading("Dashboard")
    expect(page.get_by_role("heading", name="Requests")).to_have_count(0)
    expect(page.get_by_role("link", name="Publish")).to_have_count(0)
    visit.go("publish")
    expect(page.get_by_text("This needs the role publisher.")).to_be_visible()
    visit.go("subscription?id=sea")
    expect(page.get_by_text("Live:")).to_be_visible()
    expect(page.get_by_role("button", name="Unsubscribe")).to_have_count(0)
    page.reload()
    visit.heading("sea")
    page.get_by_role("button", name="Sign out").click()
    visit.heading("Sign in")
    assert page.evaluate("sessionStorage.length") == 0
    page.get_by_label("Token").fill(tokens["publisher"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Publish")).to_be_visible()
    assert not [url for url in asked if "tw_" in url]
    assert page.context.cookies() == []
    assert visit.complaints == []
    context.close()


def wait_for_status(served, token: str, status: int) -> None:
    for _ in range(600):
        if served.get("/v1/whoami", headers={"Authorization": f"Bearer {token}"}).status_code == status:
            return
        time.sleep(0.05)
    raise AssertionError(f"a caller with this token never got {status}")


def test_a_token_that_is_revoked_leads_to_signing_in(browser, guarded):
    served, _ = guarded
    accounts = Accounts(served.hub.store)
    account, token = accounts.create_token("brief", role="reader")
    wait_for_status(served, token, 200)  # what others do to the accounts counts within a second
    context = browser.new_context()
    visit = Visit(context.new_page(), served.url).go()
    visit.page.get_by_label("Token").fill(token)
    visit.page.get_by_role("button", name="Sign in").click()
    visit.heading("What is new")
    accounts.revoke(account.id)
    expect(visit.page.get_by_role("heading", name="Sign in")).to_have_count(0)
    wait_for_status(served, token, 401)
    visit.page.get_by_role("link", name="Subscriptions").click()
    visit.heading("Sign in")
    context.close()


def test_an_address_for_a_feed_reader_is_made_seen_once_and_revoked(browser, guarded):
    served, tokens = guarded
    context = browser.new_context(viewport={"width": 320, "height": 700})
    visit = Visit(context.new_page(), served.url).go("subscription?id=sea")
    page = visit.page
    page.get_by_label("Token").fill(tokens["admin"])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Make a secret address").click()
    address = page.locator("code.secret").inner_text()
    with httpx.Client(trust_env=False) as reader:
        assert reader.get(address).status_code == 200
        href = page.get_by_role("link", name="RSS").get_attribute("href")
        assert reader.get(href).headers["content-type"].startswith("application/rss+xml")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.reload()
        expect(page.get_by_text("There is one since")).to_be_visible()
        expect(page.locator("code.secret")).to_have_count(0)
        page.get_by_role("button", name="Revoke the address").click()
        page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
        expect(page.get_by_role("button", name="Make a secret address")).to_be_visible()
        assert reader.get(address).status_code == 404
    assert visit.complaints == []
    context.close()
