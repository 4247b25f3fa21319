"""Where a page of the inbox is cut does not tell of which kind the events of others are (X7).

Eve has more subscriptions than are read one by one, so the log of all is read for her, with the lines of others in it.
"""

from __future__ import annotations

import pytest

from triplewire import Hub
from triplewire.engine.inspect import inbox

KINDS = ("matched", "changed", "unmatched")


@pytest.fixture(params=["memory", "postgresql"])
def hub(request, new_url, monkeypatch):
    monkeypatch.setattr(inbox, "FEW", 1)
    monkeypatch.setattr(inbox, "LOOKED_AT", 20)
    monkeypatch.setattr(inbox, "_LINES", 5)
    with Hub(new_url(request.param)) as opened:
        for number in range(3):
            opened.subscribe(f"SELECT ?s {{ ?s <urn:eve{number}> ?o }}", id=f"eve{number}", owner="eve", viewer="eve")
        opened.subscribe("SELECT ?s ?o { ?s <urn:hidden> ?o }", id="root", owner="root")
        yield opened


def ends(hub: Hub, kinds) -> tuple[int, str | None, bool]:
    """Of a page of Eve's: how many events there are, and how it ends."""
    page = hub.inbox(owner="eve", kinds=kinds, limit=1, sees=lambda viewer: viewer == "eve")
    return len(page.items), page.next, page.is_cut


def test_a_page_ends_alike_whatever_kind_is_asked_for(hub):
    for text in ("".join(f"<urn:{n}> <urn:hidden> {n} .\n" for n in range(60)), "<urn:other> <urn:p> 1 ."):
        hub.publish(text, uri="urn:d")
        told = {ends(hub, kinds) for kinds in ((), *((kind,) for kind in KINDS))}
        assert len(told) == 1
        assert told.pop()[2], "the page was not cut"


def test_own_events_of_a_kind_are_found_behind_those_of_others(hub):
    hub.publish("<urn:mine> <urn:eve1> 1 .", uri="urn:mine")
    hub.publish("".join(f"<urn:{n}> <urn:hidden> {n} .\n" for n in range(60)), uri="urn:d")
    hub.retract("urn:mine")
    for kind in ("matched", "unmatched"):
        found, before = [], None
        while True:
            page = hub.inbox(owner="eve", kinds=[kind], limit=1, before=before)
            found += [(item.event.subscription, item.event.kind) for item in page.items]
            before = page.next
            if before is None:
                break
        assert found == [("eve1", kind)]
