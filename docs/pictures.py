"""Takes the pictures of the page that the README and the docs show, from the demo's data.

    python docs/pictures.py [FOLDER]          into docs/pictures, if none is named

What happens in the demo within a second is spread over the last hour, so that the plots look like those of a hub that
runs. It needs Chromium, and Playwright and Pillow (the extras dev and bench).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from random import Random
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import triplewire
from triplewire import Document, Hub, Publish, Retract
from triplewire.demo import files
from triplewire.demo.subscribers import IDA, NORA, SUBSCRIBERS
from triplewire.hub import Settings, start

HERE = Path(__file__).resolve().parent / "pictures"
DESKTOP, PHONE = {"width": 1180, "height": 820}, {"width": 390, "height": 780}
COLOURS = 256
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
DATASET = "https://data.lindhaven.example/dataset/"
QUERY = """\
SELECT ?dataset ?title ?size WHERE {
  ?dataset a dcat:Dataset ;
           dcterms:title ?title ;
           dcat:distribution ?file .
  ?file dcat:byteSize ?size .
  FILTER (?size > 1000000)
}"""


def fill(hub: Hub) -> None:
    """The story of the demo, up to the day when the council moved two themes."""
    hub.set_taxonomy(_read("themes.ttl"))
    for subscriber in (*SUBSCRIBERS, NORA):
        subscriber.subscribe(hub)
    for path in files.catalogue():
        hub.publish(_read(f"catalogue/{path.name}"))
    for name in ("later/offices.ttl", "later/parking.ttl"):
        hub.publish(_read(name))
    hub.apply([Publish(_read("later/offices-changed.ttl")), Retract(f"{files.BASE}bathing-water.ttl")])
    IDA.subscribe(hub)
    hub.set_taxonomy(_read("later/themes.ttl"))


def _read(name: str) -> Document:
    return triplewire.parse(files.text(name), uri=files.BASE + Path(name).name)


def spread(hub: Hub) -> None:
    """Let the batches have happened at any time of the last hour, in their order."""
    random, now = Random(7), datetime.now(UTC)
    numbers = [batch.number for batch in hub.batches(limit=1_000)]
    moments = sorted(random.uniform(0, 58) for _ in numbers)
    with hub.store._database.writing() as sql:
        for number, minutes in zip(numbers, moments, strict=True):
            then = (now - timedelta(minutes=58 - minutes)).isoformat(timespec="milliseconds")
            sql.run("UPDATE batches SET committed = ? WHERE number = ?", then, number)


class Camera:
    """Takes pictures of a hub's page."""

    def __init__(self, browser: Browser, url: str, folder: Path) -> None:
        self._browser, self._url, self._folder = browser, url, folder

    @contextmanager
    def view(self, name: str, address: str, size: Any = DESKTOP, scheme: Any = "light") -> Iterator[Page]:
        """A view, to be got into the state that shall be seen."""
        context = self._browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
        page = context.new_page()
        page.goto(f"{self._url}/#/{address}")
        page.locator("main > section:not([aria-busy]) h1").wait_for()
        yield page
        image = Image.open(BytesIO(page.screenshot())).convert("RGB")
        path = self._folder / f"{name}.png"
        image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
        print(f"{path.name}: {path.stat().st_size // 1024} kB")
        context.close()


def take(camera: Camera) -> None:
    """All of them."""
    datasets = urlencode({"where": f"{TYPE} isa <http://www.w3.org/ns/dcat#Dataset>"})
    with camera.view("inbox", ""):
        pass
    with camera.view("find", f"find?{datasets}"):
        pass
    with camera.view("like", f"like?{urlencode({'iri': f'{DATASET}parking'})}") as page:
        page.get_by_role("checkbox", name="dcat:theme Parking").check()
        page.get_by_role("checkbox", name="dcterms:publisher Streets and Ferries").check()
        page.get_by_role("button", name="Choose among what Streets and Ferries has").click()
        page.locator(".picture svg", has_text="?publisher").wait_for()
    with camera.view("write", "write") as page:
        page.get_by_label("Query", exact=True).fill(QUERY)
        page.locator(".status.good", has_text="?size").wait_for()
        page.get_by_role("button", name="Preview").click()
        page.get_by_role("heading", name="Preview").wait_for()
        page.evaluate("scrollTo(0, 0)")
    with camera.view("dashboard", "dashboard"):
        pass
    with camera.view("stream", "subscription?id=ines") as page:
        page.get_by_text("Live:").wait_for()
        page.locator(".event").first.locator("summary").click()
        page.locator(".event").first.get_by_role("heading", name="Documents").wait_for()
    with camera.view("stream-on-a-phone", "subscription?id=nora", PHONE, "dark") as page:
        page.get_by_text("Live:").wait_for()


def main(folder: Path) -> None:
    """Fill a hub, serve it, and look at it."""
    folder.mkdir(parents=True, exist_ok=True)
    chromium = which("chromium") or which("chromium-browser") or which("google-chrome")
    if chromium is None:
        sys.exit("pictures: no Chromium was found; install one (Debian: apt install chromium)")
    with TemporaryDirectory() as scratch:
        store = f"sqlite:///{scratch}/town.db"
        with Hub(store) as hub:
            fill(hub)
            spread(hub)
            hub.mark(hub.inbox(limit=9).items[-1].event.cursor)  # somebody looked, a while ago
        with start(Settings(store=store, port=0)) as service, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            take(Camera(browser, service.url, folder))
            browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
