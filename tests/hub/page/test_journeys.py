"""What a person does on the page, the short way through everything (G6)."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from hub.page.browsers import PREFIXES


def test_from_a_class_to_a_live_event(visit, served):
    """Browse, narrow down, click a subscription together, preview it, subscribe, and hear of what comes."""
    page = visit.go("browse").page
    page.get_by_role("link", name="dcat:Dataset").click()
    visit.heading("dcat:Dataset")
    page.get_by_role("region", name="Resources").get_by_role("link", name="Pools").click()
    visit.heading("Pools")
    page.get_by_role("link", name="Tell me about things like this").click()
    visit.heading("Things like Pools")
    page.get_by_role("checkbox", name=re.compile("keyword pool")).check()
    expect(page.locator("pre.query")).to_contain_text('dcat:keyword "pool"')
    expect(page.get_by_role("img", name=re.compile('dataset has dcat:keyword "pool"'))).to_be_visible()
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="Preview")).to_be_visible()
    expect(page.locator(".preview")).to_contain_text("1 answer now")
    page.get_by_label("Name of the subscription").fill("pools")
    page.get_by_role("button", name="Subscribe", exact=True).click()
    visit.heading("pools")
    expect(page.get_by_text("Live: what happens appears here.")).to_be_visible()
    expect(page.locator(".event")).to_have_count(1)
    lido = f'{PREFIXES} :lido a dcat:Dataset ; dcterms:title "A new pool" ; dcat:keyword "pool" .'
    served.publish("https://town.example/lido.ttl", lido)
    expect(page.locator(".event")).to_have_count(2)
    expect(page.locator(".event").first).to_contain_text("A new pool")
    served.publish("https://town.example/lido.ttl", lido.replace("A new pool", "A renamed pool"))
    expect(page.locator(".event")).to_have_count(3)
    page.locator(".event").first.locator("summary").click()
    expect(page.locator(".event").first.locator(".gone")).to_contain_text("A new pool")
    expect(page.locator(".event").first.locator(".came")).to_contain_text("A renamed pool")
    expect(page.locator(".event").first).to_contain_text("Why it is an answer")
    expect(page.locator(".event").first).not_to_contain_text("[object")
    expect(page.get_by_text("2 answers.")).to_be_visible()
    assert "pools" in {each["id"] for each in served.get("/v1/subscriptions").json()["subscriptions"]}


def test_a_query_is_checked_while_it_is_written(visit):
    page = visit.go("write").page
    query = page.get_by_label("Query", exact=True)
    query.fill("SELECT ?d {\n  ?d <urn:p> }")
    status = page.locator(".status")
    expect(status).to_contain_text("Line 2, column 14")
    expect(query).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".is-wrong")).to_have_text("}")
    expect(page.get_by_role("button", name="Subscribe", exact=True)).to_be_disabled()
    query.fill("SELECT ?d { ?d <urn:size> ?s FILTER (?s > 5 && ?s < 3) }")
    expect(status).to_contain_text("can never match")
    expect(status).to_have_class("status error")
    expect(page.locator(".findings")).to_be_empty()
    expect(page.get_by_role("button", name="Subscribe", exact=True)).to_be_disabled()
    query.fill("SELECT ?d { ?d <urn:p> ?o }")
    expect(status).to_contain_text("This is a query")
    expect(page.locator(".is-wrong")).to_have_count(0)


def test_what_is_written_in_documents_is_never_more_than_text(visit, served):
    """Titles with markup, IRIs that are scripts: no element is made of them, and no link leads to them."""
    hostile = (
        f'{PREFIXES} <javascript:alert(1)> a :Evil ; dcterms:title "<img src=x onerror=alert(1)><b>bold</b>" ;'
        " :see <data:text/html,%3Cscript%3Ealert(1)%3C/script%3E>, <javascript:alert(2)> ;"
        ' :says "<script>alert(3)</script>" .'
    )
    assert served.publish("https://town.example/evil.ttl", hostile).status_code == 201
    page = visit.go("resource?iri=javascript:alert(1)").page
    visit.heading("<img src=x onerror=alert(1)><b>bold</b>")
    expect(page.get_by_text("<script>alert(3)</script>")).to_be_visible()
    assert page.locator("main img, main script, main b").count() == 0
    for link in page.locator("a").all():
        address = link.get_attribute("href")
        assert address.startswith(("#", "/", "https://")), address
    visit.go("search?q=onerror")
    expect(page.get_by_role("link", name="<img src=x")).to_be_visible()
    assert page.locator("main img, main b").count() == 0
    served.retract("https://town.example/evil.ttl", Prefer="wait")


def test_page_comes_with_a_policy_that_lets_only_its_own_scripts_run(served):
    """Without a browser: the headers, revalidation, and nothing besides the page's own files."""
    answer = served.get("/")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "<script>" not in answer.text
    assert " style=" not in answer.text
    names = re.findall(r'(?:href|src)="(/page/[^"]+)"', answer.text)
    assert {name.rpartition(".")[2] for name in names} == {"css", "js", "svg"}
    for name in names:
        found = served.get(name)
        assert found.status_code == 200
        assert served.get(name, headers={"If-None-Match": found.headers["etag"]}).status_code == 304
        assert served.get(name, headers={"Accept-Encoding": "identity"}).content == found.content
    assert served.head("/").headers["content-encoding"] == "gzip"
    assert served.get("/page/nothing.js").status_code == 404
    assert served.get("/page/..%2fapp.py").status_code == 404


def test_every_script_that_another_one_needs_is_served(served):
    asked, waiting = set(), ["main.js"]
    while waiting:
        name = waiting.pop()
        if name not in asked:
            asked.add(name)
            answer = served.get(f"/page/{name}")
            assert answer.status_code == 200, name
            assert answer.headers["content-type"].startswith("text/javascript")
            waiting += re.findall(r'from "\./([\w-]+\.js)"', answer.text)
    preloaded = set(re.findall(r'modulepreload" href="/page/([\w-]+\.js)"', served.get("/").text))
    assert asked == preloaded | {"main.js"}


def test_many_answers_come_in_pages(visit, served):
    served.subscribe("many", "SELECT ?s { ?s <urn:number> ?n }")
    served.publish("urn:many", " ".join(f"<urn:many:{n}> <urn:number> {n} ." for n in range(120)))
    page = visit.go("subscription?id=many").page
    rows = page.get_by_role("region", name="Answers now").locator("tbody tr:not(.below)")
    expect(rows).to_have_count(50)
    expect(page.get_by_text("The first 50 answers; there are more.")).to_be_visible()
    page.get_by_role("button", name="More answers").click()
    expect(rows).to_have_count(100)
    page.get_by_role("button", name="More answers").click()
    expect(rows).to_have_count(120)
    expect(page.get_by_text("120 answers.")).to_be_visible()
    expect(page.get_by_role("button", name="More answers")).to_have_count(0)
    assert len(set(rows.all_inner_texts())) == 120
