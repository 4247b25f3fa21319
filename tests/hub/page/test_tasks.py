"""What a person wants to get done in the first hour, on a dispatcher and on a phone (M9, G6, X4, X6)."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from hub.page.browsers import PREFIXES, SIZES, Visit, boxes_of, fill
from hub.serving import serving
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

pytestmark = pytest.mark.slow

OFFICE = f'{PREFIXES} :ferries a foaf:Organization ; foaf:name "Ferry Office" .'
LINES = f"""{PREFIXES}
:lines a dcat:Dataset ; dcterms:title "Ferry lines" ; dcterms:publisher :ferries ; dcat:keyword "boat" ."""
LONG = """SELECT ?dataset ?title ?file ?size WHERE {
  ?dataset a dcat:Dataset ; dcterms:title ?title ; dcat:distribution ?file ; dcterms:publisher ?publisher .
  ?publisher foaf:name ?name . ?file a ?kind ; dcat:byteSize ?size . ?kind rdfs:label ?word .
  FILTER (CONTAINS(?name, "Harbour Office of the town")) }"""


@pytest.fixture
def ferries(served):
    """A dataset whose publisher is described in a document of its own."""
    for name, text in {"ferries": OFFICE, "lines": LINES}.items():
        assert served.publish(f"https://town.example/{name}.ttl", text).is_success
    yield
    for name in ("ferries", "lines"):
        served.retract(f"https://town.example/{name}.ttl", Prefer="wait")


def test_subscribe_to_the_datasets_of_a_publisher_by_clicking(person, ferries):
    """The example from which the person began is among the answers, whichever documents say what was chosen."""
    page = person.go("resource?iri=https://town.example/lines").page
    page.get_by_role("link", name="Tell me about things like this").click()
    person.heading("Things like Ferry lines")
    page.get_by_role("checkbox", name="dcterms:publisher Ferry Office").check()
    page.get_by_role("button", name="Choose among what Ferry Office has").click()
    page.get_by_role("checkbox", name="foaf:name Ferry Office").check()
    expect(page.locator("pre.query")).to_contain_text("SELECT ?dataset ?publisher WHERE")
    expect(page.get_by_role("radio", name="several documents")).to_be_checked()
    expect(page.get_by_text("is stated in several documents, so several are chosen")).to_be_visible()
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".preview")).to_contain_text("Ferry lines, from which you began, is among them.")
    page.get_by_role("button", name="Edit it as text").click()
    person.heading("Subscribe")
    expect(page.get_by_role("radio", name="several documents")).to_be_checked()
    page.go_back()
    page.get_by_role("checkbox", name="dcterms:publisher Ferry Office").check()
    page.get_by_role("button", name="Choose among what Ferry Office has").click()
    page.get_by_role("checkbox", name="foaf:name Ferry Office").check()
    page.get_by_role("radio", name="one document").check()
    expect(page.get_by_text("Ferry lines would be no answer")).to_be_visible()
    page.get_by_role("checkbox", name="dcterms:publisher Ferry Office").uncheck()
    expect(page.get_by_text("Ferry lines would be no answer")).to_have_count(0)


def test_find_a_theme_by_its_label(person):
    """No document describes it: it is only in the taxonomy, where it has parents, children, and things below."""
    page = person.go("search?q=nature").page
    page.get_by_role("link", name="Nature and environment").click()
    person.heading("Nature and environment")
    page.locator(".card", has_text="In the taxonomy").get_by_role("link", name="Water").click()
    person.heading("Water")
    page.get_by_role("link", name="About Water").click()
    expect(page.get_by_role("heading", name="In the taxonomy")).to_be_visible()
    place = page.locator(".card", has_text="In the taxonomy")
    expect(place).to_contain_text(re.compile("It is below *Nature and environment 3"))
    expect(place).to_contain_text(re.compile("Below it *Bathing 2"))
    place.get_by_role("link", name="2 resources").click()
    expect(page.get_by_role("region", name="Resources").get_by_role("listitem")).to_have_count(2)
    page.get_by_role("navigation", name="In the taxonomy").get_by_role("link", name="Nature and environment").click()
    expect(page.get_by_role("region", name="Resources").get_by_role("listitem")).to_have_count(3)


def test_a_theme_that_is_only_a_value_is_found(person, served):
    uri = "https://town.example/odd.ttl"
    served.publish(uri, f"{PREFIXES} :odd dcat:theme :Unheard-of .")
    page = person.go("search?q=unheard-of").page
    page.get_by_role("link", name="Unheard-of").click()
    person.heading("Unheard-of")
    served.retract(uri, Prefer="wait")


def test_correct_a_misspelt_property_by_the_suggestion(person):
    page = person.go("write").page
    query = page.get_by_label("Query", exact=True)
    query.fill('SELECT ?d {\n  ?d dcat:keywrd "sea" }')
    status = page.locator(".status").first
    expect(status).to_contain_text("nothing here has dcat:keywrd; did you mean dcat:keyword?")
    expect(status).to_have_class("status warn")
    page.get_by_role("button", name="Use dcat:keyword").click()
    expect(query).to_have_value('SELECT ?d {\n  ?d dcat:keyword "sea" }')
    expect(status).to_have_class("status good")
    query.fill(
        "PREFIX d: <http://www.w3.org/ns/dcat#> SELECT ?d { ?d d:keywrd ?k ; <http://www.w3.org/ns/dcat#keywrd> ?l }"
    )
    page.get_by_role("button", name="Use dcat:keyword").click()
    expect(query).to_have_value(re.compile(r"\?d d:keyword \?k ; <http://www.w3.org/ns/dcat#keyword> \?l"))


def test_find_out_why_a_resource_is_no_answer(person):
    page = person.go("resource?iri=https://town.example/pool").page
    page.get_by_text("Why is it no answer?").click()
    page.get_by_role("searchbox", name="Subscription").fill("se")
    page.get_by_role("button", name="sea sparql").click()
    expect(page.get_by_text("Pools is no answer.")).to_be_visible()
    expect(page.locator(".difference .gone")).to_contain_text('?d dcat:keyword "sea"')
    expect(page.get_by_role("link", name="pool.ttl").last).to_be_visible()
    person.go("subscription?id=sea")
    page.get_by_role("searchbox", name="A resource").fill("every tree")
    page.get_by_role("button", name="Every tree").click()
    expect(page.get_by_text("Every tree is no answer.")).to_be_visible()
    page.get_by_role("searchbox", name="A resource").fill("https://town.example/beach")
    page.get_by_role("searchbox", name="A resource").press("Enter")
    expect(page.get_by_text("Bathing water at the beach is an answer.")).to_be_visible()


def test_a_query_gets_one_verdict_in_the_names_of_the_text(person):
    page = person.go("write").page
    page.get_by_label("Query", exact=True).fill("SELECT ?d { ?d <urn:size> ?mine FILTER (?mine > 5 && ?mine < 3) }")
    expect(page.locator(".status").first).to_contain_text("can never match")
    expect(page.locator(".status").first).to_contain_text("?mine")
    expect(page.locator(".status")).to_have_count(1)
    expect(page.locator(".findings li")).to_have_count(0)
    expect(page.locator(".picture svg")).to_contain_text("?mine")
    page.get_by_label("Query", exact=True).fill("SELECT ?a ?b { ?a dcat:keyword ?x . ?b dcat:theme ?y }")
    expect(page.locator(".status").first).to_contain_text("This is a query, but 2 parts share no variable")
    expect(page.locator(".status").first).to_have_class("status warn")
    expect(page.get_by_role("button", name="Subscribe", exact=True)).to_be_enabled()


def test_a_name_with_a_slash_is_refused_in_words(person):
    page = person.go("write").page
    page.get_by_label("Name of the subscription").fill("a/b")
    page.get_by_role("button", name="Subscribe", exact=True).click()
    expect(page.get_by_role("alert")).to_have_text("A name is a part of addresses, and must not have a slash in it.")
    page.get_by_label("Name of the subscription").fill("a-b")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_numbers_of_the_taxonomy_are_those_of_the_lists(person):
    page = person.go("browse").page
    links = page.locator(".tree li > a")
    expect(links).to_have_count(7)
    numbers = {
        each.inner_text(): int(each.locator("xpath=following-sibling::span[1]").inner_text()) for each in links.all()
    }
    assert numbers["Nature and environment"] == 3
    for name, number in numbers.items():
        person.go("browse")
        page.get_by_role("link", name=name, exact=True).click()
        person.heading(name)
        expect(page.get_by_role("region", name="Resources").get_by_role("listitem")).to_have_count(number)


def test_pictures_tables_and_lists_fit_the_screen(person):
    """Nothing is cut off: neither a picture with many things, nor the last column, nor what was looked for."""
    width, height = person.size
    page = person.go("write").page
    page.get_by_label("Query", exact=True).fill(LONG)
    frame = page.locator(".picture .scroll")
    expect(frame.locator(".node")).to_have_count(9)
    assert frame.evaluate("each => each.scrollWidth <= each.clientWidth")
    inner = frame.locator("svg").bounding_box()
    assert inner["x"] >= 0
    assert inner["x"] + inner["width"] <= width
    person.go("subscription?id=sea")
    why = page.get_by_role("button", name="Why?").first
    box = why.bounding_box()
    assert box["x"] + box["width"] <= width
    before = boxes_of(page.locator(".stacked tr").nth(1).locator("td"))
    why.click()
    expect(page.locator(".why").first).to_contain_text("dcat:keyword sea")
    for (_, was, high), (_, wide, now) in zip(
        before, boxes_of(page.locator(".stacked tr").nth(1).locator("td")), strict=True
    ):
        assert wide > 0.9 * was
        assert now <= high
    person.go("find?where=%3Chttp://www.w3.org/ns/dcat%23theme%3E+isa+%3Chttps://town.example/Environment%3E")
    assert page.get_by_role("region", name="Resources").get_by_role("listitem").first.bounding_box()["y"] < height * 0.7


def test_an_event_says_once_what_it_is_of_and_what_changed(person, served):
    uri = "https://town.example/mole.ttl"
    page = person.go("subscription?id=sea").page
    expect(page.get_by_text("Live:")).to_be_visible()
    served.publish(uri, f'{PREFIXES} :mole dcat:keyword "sea" ; dcterms:title "A mole" .')
    line = page.locator(".event summary").first
    expect(line).to_contain_text("A mole")
    assert line.inner_text().count("A mole") == 1
    served.publish(uri, f'{PREFIXES} :mole dcat:keyword "sea", "stone" ; dcterms:title "The mole" .')
    expect(line.locator(".change")).to_contain_text("dcterms:title A mole → The mole")
    expect(line.locator(".change")).to_contain_text("dcat:keyword stone")
    served.retract(uri, Prefer="wait")


def test_the_old_mistake_goes_when_the_new_document_is_published(person, served, tmp_path):
    page = person.go("publish").page
    page.get_by_label("Address").fill("https://town.example/raft.ttl")
    page.get_by_label("Content").fill("nonsense")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("alert")).to_have_count(1)
    page.get_by_label("Content").fill("<urn:raft> <urn:p> 1 .")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator("main .good")).to_have_count(1)
    expect(page.get_by_role("alert")).to_have_count(0)
    photo = tmp_path / "raft.png"
    photo.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    page.get_by_label("Files").set_input_files(photo)
    expect(page.get_by_role("alert")).to_contain_text("raft.png is a picture, and no document")
    served.retract("https://town.example/raft.ttl", Prefer="wait")


def test_xpath_is_not_asked_about_triples(person):
    page = person.go("write").page
    asked = page.get_by_role("group", name="The triples of an answer may come from")
    expect(asked).to_be_visible()
    page.get_by_label("Language").select_option("xpath")
    expect(asked).to_be_hidden()
    expect(page.locator(".status").first).to_have_class("status good")


def test_lengths_of_time_and_requests_are_told_in_words(person, served):
    page = person.go("dashboard").page
    told = page.evaluate("import('/page/times.js').then(({ duration }) => [40, 1197, 8000, 200000].map(duration))")
    assert told == ["40 s", "20 min", "2 h", "2 days"]
    for _ in range(200):  # the page has the most frequent ones, and the service has been asked for much else
        assert served.get("/v1/nothing-here").status_code == 404
    person.go("dashboard")
    expect(page.get_by_role("region", name="Requests")).to_contain_text("GET of what is not there")
    expect(page.get_by_role("region", name="Requests")).not_to_contain_text("GET none")


def test_edit_pause_resume_and_duplicate_a_subscription(person, served):
    """It keeps its name and its log; what ends and begins with another text is told; nothing is lost in a pause."""
    served.subscribe("mine", 'SELECT ?d { ?d <http://www.w3.org/ns/dcat#keyword> "pool" }', start="ever")
    page = person.go("subscription?id=mine").page
    expect(page.locator(".event")).to_have_count(1)
    page.get_by_role("link", name="Edit", exact=True).click()
    person.heading("Edit mine")
    expect(page.get_by_role("link", name="Subscriptions", exact=True)).to_have_attribute("aria-current", "page")
    page.get_by_label("Query", exact=True).fill('SELECT ?d { ?d dcat:keyword "tree" }')
    page.get_by_label("Title", exact=True).fill("Trees and pools")
    page.get_by_label("Description").fill("For the parks department.")
    expect(page.locator(".status.good")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    person.heading("Trees and pools")
    expect(page.get_by_text("For the parks department.")).to_be_visible()
    expect(page.locator(".event summary")).to_contain_text(["New Every tree", "Gone Pools", "New Pools"])
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused since")).to_be_visible()
    uri = "https://town.example/oak.ttl"
    served.publish(uri, f'{PREFIXES} :oak dcterms:title "An oak" ; dcat:keyword "tree" .')
    person.go("subscriptions")
    expect(page.locator(".card", has_text="Trees and pools")).to_contain_text("paused")
    page.get_by_role("link", name="Trees and pools").click()
    person.heading("Trees and pools")
    expect(page.get_by_text("Live:")).to_be_visible()
    expect(page.locator(".event")).to_have_count(3)
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".event summary").first).to_contain_text("New An oak")
    page.get_by_role("button", name="Duplicate").click()
    person.heading("Edit Trees and pools (copy)")
    page.get_by_label("Title", exact=True).fill("Trees")
    page.get_by_role("button", name="Save").click()
    person.heading("Trees")
    for each in served.get("/v1/subscriptions", params={"q": "tree"}).json()["subscriptions"]:
        assert served.delete(f"/v1/subscriptions/{each['id']}").status_code == 204
    served.retract(uri, Prefer="wait")


def test_the_list_of_subscriptions_is_searched_and_sorted(person, served):
    served.subscribe("zoo", "SELECT ?d { ?d <urn:animal> ?a }", title="Animals", description="At the gate")
    page = person.go("subscriptions").page
    names = page.locator(".cards h2")
    expect(names).to_have_text(["sea", "Animals"])
    expect(page.locator(".card", has_text="sea").first).to_contain_text(re.compile("1 answer · last event"))
    expect(page.locator(".card", has_text="Animals")).to_contain_text("0 answers · no event yet")
    page.get_by_label("Sorted by").select_option("title")
    expect(names).to_have_text(["Animals", "sea"])
    page.get_by_role("searchbox", name="Words").fill("gate")
    page.get_by_role("button", name="Search").click()
    expect(names).to_have_text(["Animals"])
    page.get_by_role("searchbox", name="Words").fill("no such")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("None has these words.")).to_be_visible()
    served.delete("/v1/subscriptions/zoo")


def test_somebody_elses_change_is_not_overwritten(person, served):
    served.subscribe("shared", "SELECT ?d { ?d <urn:p> ?o }")
    page = person.go("write?edit=shared").page
    expect(page.get_by_role("button", name="Save")).to_be_enabled()
    assert served.patch("/v1/subscriptions/shared", json={"title": "By another"}).status_code == 200
    page.get_by_label("Title", exact=True).fill("By me")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert served.get("/v1/subscriptions/shared").json()["title"] == "By another"
    served.delete("/v1/subscriptions/shared")


def test_times_of_events_are_relative_and_exact_in_the_zone_of_the_reader(browser, served):
    context = browser.new_context(timezone_id="Asia/Tokyo")
    visit = Visit(context.new_page(), served.url).go("subscription?id=sea")
    moment = visit.page.locator(".event time").first
    committed = served.events("sea")["events"][-1]["time"]
    expect(moment).to_have_attribute("datetime", committed)
    expect(moment).to_have_text(re.compile(r"just now|minutes? ago"))
    expect(moment).to_have_attribute("title", re.compile(r"\d+ \w+ \d{4}, \d\d:\d\d (GMT\+9|JST)"))
    told = visit.page.evaluate(
        "import('/page/times.js').then(({ ago }) => [0, 61, 7200, 90000, 864000].map("
        "(seconds) => ago(new Date(Date.UTC(2026, 0, 20) - seconds * 1000).toISOString(), Date.UTC(2026, 0, 20))))"
    )
    assert told == ["just now", "1 minute ago", "2 hours ago", "yesterday", "10 days ago"]
    context.close()


def test_what_changed_in_xml_is_told_too(person, served):
    """Of an XPath answer the text before and after, because there are no triples."""
    uri, headers = "https://town.example/menu.xml", {"Content-Type": "application/xml", "Prefer": "wait"}
    served.subscribe("tea", "/menu/tea/price", language="xpath")
    for price in ("1.20", "1.50"):
        sent = f"<menu><tea><price>{price}</price></tea></menu>"
        assert served.put("/v1/document", params={"uri": uri}, content=sent, headers=headers).is_success
    page = person.go("subscription?id=tea").page
    line = page.locator(".event").first
    expect(line.locator(".change")).to_contain_text("1.20 → 1.50")
    line.locator("summary").click()
    expect(line.locator(".difference .gone")).to_contain_text("1.20")
    expect(line.locator(".difference .came")).to_contain_text("1.50")
    served.retract(uri, Prefer="wait")
    served.delete("/v1/subscriptions/tea")


def test_a_title_is_changed_whatever_prefixes_the_query_was_given_with(person, served):
    """They are not kept: the text that stands is right as it is, and only another one must be right by itself."""
    served.subscribe("named", "SELECT ?d { ?d town:p ?o }", prefixes={"town": "https://town.example/"})
    page = person.go("write?edit=named").page
    expect(page.locator(".status.good")).to_be_visible()
    page.get_by_label("Title", exact=True).fill("With a title")
    page.get_by_role("button", name="Save").click()
    person.heading("With a title")
    person.go("write?edit=named")
    page.get_by_label("Query", exact=True).fill("SELECT ?d { ?d town:q ?o }")
    expect(page.locator(".status.error")).to_contain_text("town")
    served.delete("/v1/subscriptions/named")


@pytest.mark.parametrize("size", SIZES)
def test_take_the_rows_away_as_csv_and_open_them(browser, guarded, size):
    """X7: by a link where nobody signs in, and with the token where somebody does; all rows, in every format."""
    width, height = SIZES[size]
    for served, token in guarded:
        context = browser.new_context(viewport={"width": width, "height": height})
        visit = Visit(context.new_page(), served.url).go("subscription?id=sea")
        page = visit.page
        if token:
            page.get_by_label("Token").fill(token)
            page.get_by_role("button", name="Sign in").click()
        answers = page.get_by_role("group", name="Take the answers away")
        with page.expect_download() as saved:
            answers.get_by_label("Answers as CSV").click()
        assert saved.value.suggested_filename == "sea-rows.csv"
        with Path(saved.value.path()).open(newline="", encoding="utf-8-sig") as file:
            (row,) = csv.DictReader(file)
        assert row == {"d": "https://town.example/beach", "t": "Bathing water at the beach"}
        for name, end in {"Excel": "xlsx", "Parquet": "parquet", "JSON lines": "jsonl"}.items():
            with page.expect_download() as saved:
                page.get_by_label(f"Events as {name}").click()
            assert saved.value.suggested_filename == f"sea-events.{end}"
            assert Path(saved.value.path()).stat().st_size > 0
        assert visit.complaints == []
        context.close()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory, served):
    """A hub for everybody, and one that wants to know who asks; with the token for it."""
    folder = tmp_path_factory.mktemp("guarded")
    with Store.open(f"sqlite:///{folder}/hub.db") as store:
        token = Accounts(store).create_token("boss", role="admin")[1]
    with serving(f"sqlite:///{folder}/hub.db", identity=True) as other:
        other.headers["Authorization"] = f"Bearer {token}"
        fill(other)
        yield (served, None), (other, token)
