"""A real browser for tests: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from hub.serving import TURTLE, Served, serving

HOW_TO_GET_IT = (
    "no Chromium was found: install one (Debian: apt install chromium; Fedora: dnf install chromium), so that"
    " `chromium` is on the PATH"
)
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 90_000
SIZES = {"dispatcher": (1280, 800), "phone": (390, 844)}
"""What people have before them."""

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
DATASET = "<http://www.w3.org/ns/dcat#Dataset>"
PREFIXES = """\
@prefix : <https://town.example/> .
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
BEACH = f"""{PREFIXES}
:beach a dcat:Dataset ; dcterms:title "Bathing water at the beach"@en ; dcat:theme :Bathing ;
    dcat:keyword "sea", "sand" ; dcterms:publisher :harbour ; dcat:distribution :beach.csv .
:beach.csv a dcat:Distribution ; dcat:byteSize 48213 .
:harbour a foaf:Organization ; foaf:name "Harbour Office" ."""
POOL = f"""{PREFIXES}
:pool a dcat:Dataset ; dcterms:title "Pools" ; dcat:theme :Bathing ; dcat:keyword "pool" ."""
TREES = f"""{PREFIXES}
:trees a dcat:Dataset ; dcterms:title "Every tree" ; dcat:theme :Trees ; dcat:keyword "tree" ."""
THEMES = f"""{PREFIXES}
:Bathing rdfs:subClassOf :Water . :Water rdfs:subClassOf :Environment . :Trees rdfs:subClassOf :Environment .
:Environment rdfs:label "Nature and environment" ."""
SEA = 'SELECT ?d ?t { ?d <http://www.w3.org/ns/dcat#keyword> "sea" ; <http://purl.org/dc/terms/title> ?t }'


def executable() -> Path | None:
    """Where Chromium is, if it is anywhere."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return None if found is None else Path(found)


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser that nobody sees."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=_ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def town(folder: Path, **settings: object) -> Iterator[Served]:
    """A service with a small town in it."""
    with serving(f"sqlite:///{folder}/hub.db", **settings) as served:
        fill(served)
        yield served


def fill(served: Served) -> None:
    """A taxonomy, a subscription, and a few documents."""
    assert served.put("/v1/taxonomy", content=THEMES, headers=TURTLE).status_code == 200
    assert served.subscribe("sea", SEA, start="ever").status_code == 201
    for name, text in {"beach": BEACH, "pool": POOL, "trees": TREES}.items():
        assert served.publish(f"https://town.example/{name}.ttl", text).status_code == 201


class Visit:
    """A page in a browser, with what went wrong in it: errors of scripts, and what the policy forbade."""

    def __init__(self, page: Page, url: str, size: tuple[int, int] = SIZES["dispatcher"]) -> None:
        self.page, self.url, self.size = page, url, size
        self.complaints: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self._noted(message.type, message.text))

    def _noted(self, kind: str, text: str) -> None:
        """What a browser says of answers with an error status is no fault of the page."""
        if kind == "error" and "Failed to load resource" not in text:
            self.complaints.append(text)

    def go(self, address: str = "") -> Visit:
        """Open a view, and wait until it is there."""
        self.page.goto(f"{self.url}/#/{address}")
        return self.wait()

    def wait(self) -> Visit:
        """Until the view is there."""
        expect(self.page.locator("main > section:not([aria-busy])")).to_be_visible()
        return self

    def heading(self, text: str) -> None:
        """The view with this heading is there."""
        expect(self.page.get_by_role("heading", level=1, name=text)).to_be_visible()


def boxes_of(elements: Locator) -> list[tuple[float, float, float]]:
    """Where elements begin, and how wide and high they are."""
    found = [each.bounding_box() for each in elements.all()]
    return [(box["x"], box["width"], box["height"]) for box in found if box is not None]
