"""Deliveries on the page: made, seen to arrive, tried, paused, in trouble, removed."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from hub.page.browsers import SIZES, Visit, town
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
        page.get_by_role("radio", name="from the beginning").check()
        page.get_by_role("button", name="Send", exact=True).click()
        delivery = page.locator(".delivery")
        expect(delivery).to_contain_text("active")
        while "/hook" not in receiver.paths:  # of what was there before
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


@pytest.mark.parametrize("size", SIZES)
def test_set_up_a_web_hook_and_copy_its_secret(browser, tmp_path, size):
    """The secret is there until it is put away, whatever is clicked meanwhile; then there can be a new one."""
    width, height = SIZES[size]
    with receiving() as receiver, town(tmp_path, reach="127.0.0.0/8") as served:
        context = browser.new_context(
            viewport={"width": width, "height": height}, permissions=["clipboard-read", "clipboard-write"]
        )
        visit = Visit(context.new_page(), served.url).go("subscription?id=sea")
        page = visit.page
        page.get_by_text("Send events somewhere").click()
        page.get_by_label("Address", exact=True).fill(f"http://127.0.0.1:{receiver.server_port}/hook")
        expect(page.get_by_role("radio", name="from now on")).to_be_checked()
        page.get_by_role("button", name="Send", exact=True).click()
        told = page.get_by_role("group", name="The secret")
        secret = told.locator("code").inner_text()
        assert secret.startswith("whsec_")
        page.get_by_role("button", name="Try it").click()
        expect(page.get_by_text("A test arrived")).to_be_visible()
        assert receiver.paths == ["/hook"]  # the test, and nothing of what was there before
        visit.go("subscriptions").go("subscription?id=sea")
        expect(told.locator("code")).to_have_text(secret)
        told.get_by_role("button", name="Copy").click()
        expect(told.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == secret
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        told.get_by_role("button", name="Put it away").click()
        expect(told).to_have_count(0)
        page.get_by_role("button", name="New secret").click()
        page.get_by_role("dialog").get_by_role("button", name="New secret").click()
        expect(told.locator("code")).to_contain_text("whsec_")
        expect(told.locator("code")).not_to_have_text(secret)
        assert visit.complaints == []
        context.close()
