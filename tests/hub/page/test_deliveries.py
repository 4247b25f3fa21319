"""Deliveries on the page: made, seen to arrive, tried, paused, in trouble, removed."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from hub.page.browsers import PREFIXES, Visit, town
from triplewire.hub import Settings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "reach" not in {each.name for each in fields(Settings)}, reason="this service delivers nothing by itself"
    ),
]


class _Receiver(BaseHTTPRequestHandler):
    """Takes everything, unless its server is told to refuse."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.paths.append(self.path)
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def receiving():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Receiver)
    server.status, server.paths = 204, []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_delivery_from_its_beginning_to_its_end(browser, tmp_path):
    with receiving() as receiver, town(tmp_path, reach="127.0.0.0/8") as served:
        context = browser.new_context()
        visit = Visit(context.new_page(), served.url).go("subscription?id=sea")
        page = visit.page
        expect(page.get_by_text("Events are sent nowhere")).to_be_visible()
        page.get_by_text("Send events somewhere").click()
        page.get_by_label("Address", exact=True).fill(f"http://127.0.0.1:{receiver.server_port}/hook")
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_text("told only now")).to_contain_text("whsec_")
        delivery = page.locator(".delivery")
        expect(delivery).to_contain_text("active")
        served.publish("https://town.example/surf.ttl", f'{PREFIXES} :surf dcat:keyword "sea" ; dcterms:title "Surf" .')
        while "/hook" not in receiver.paths:
            pass
        delivery.get_by_role("button", name="Try it").click()
        expect(page.get_by_text("A test arrived")).to_be_visible()
        delivery.get_by_role("button", name="Pause").click()
        expect(delivery).to_contain_text("paused")
        visit.go("dashboard")
        expect(page.get_by_role("region", name="Deliveries")).to_contain_text("paused")
        visit.go("subscription?id=sea")
        delivery.get_by_role("button", name="Resume").click()
        expect(delivery).to_contain_text("active")
        receiver.status = 500
        delivery.get_by_role("button", name="Try it").click()
        expect(page.get_by_text("A test did not arrive")).to_be_visible()
        delivery.get_by_role("button", name="Remove").click()
        page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        expect(delivery).to_have_count(0)
        assert visit.complaints == []
        context.close()
