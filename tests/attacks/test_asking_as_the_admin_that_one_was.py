"""Who was an admin and is none any more has subscriptions that see every document. They are no way to ask.

What such a subscription finds was not told before, either; but an owner could let it ask something else, and learn from
how many events there were, from the lag of a delivery, from a dead letter, what hidden documents say.
"""

from __future__ import annotations

import pytest

from hub.serving import problem, serving
from pipeline.streams import eventually
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

PLACE = "/v1/subscriptions/mine"
HOOK = {"kind": "webhook", "url": "http://127.0.0.1:9/hook"}


@pytest.fixture
def lowered(tmp_path):
    """A client of an account that made a subscription and a delivery as an admin, and is a reader now."""
    url = f"sqlite:///{tmp_path}/hub.db"
    with Store.open(url) as store:
        accounts = Accounts(store)
        account, token = accounts.create_token("mal", role="admin")
    with serving(url, identity=True, reach="127.0.0.0/8") as served:
        served.headers["Authorization"] = f"Bearer {token}"
        served.put(PLACE, json={"text": "SELECT ?d { ?d <urn:nothing> ?x }"}).raise_for_status()
        made = served.post(f"{PLACE}/deliveries", json=HOOK)
        made.raise_for_status()
        hidden = {"uri": "urn:hidden", "reader": ""}
        served.put(
            "/v1/document", params=hidden, headers={"Content-Type": "text/turtle"}, content="<urn:s> <urn:p> 1 ."
        )
        with Store.open(url) as store:
            Accounts(store).set_role(account.id, "reader")
        eventually(lambda: served.get("/v1/whoami").json()["role"] == "reader", "the account is a reader")
        yield served, made.json()["id"]


@pytest.mark.parametrize(
    "edit",
    [
        {"text": "SELECT ?d { ?d <urn:p> ?x }", "start": "ever"},
        {"start": "ever"},
        {"scope": "graph"},
        {"paused": False},
    ],
    ids=str,
)
def test_subscription_asks_nothing_else(lowered, edit):
    served, _ = lowered
    before = served.get("/v1/inbox/news").json()["last"]
    problem(served.patch(PLACE, json=edit), 403, "not-allowed")
    assert served.get("/v1/inbox/news").json()["last"] == before


@pytest.mark.parametrize("way", ["", "/dead"])
def test_delivery_tells_nothing_of_what_waits(lowered, way):
    served, delivery = lowered
    problem(served.get(f"/v1/deliveries/{delivery}{way}"), 403, "not-allowed")
    problem(served.get(f"{PLACE}/deliveries"), 403, "not-allowed")
    problem(served.post(f"{PLACE}/deliveries", json=HOOK), 403, "not-allowed")
    assert served.get("/v1/deliveries").json()["deliveries"] == []


def test_what_one_made_can_be_put_away(lowered):
    served, delivery = lowered
    assert served.patch(PLACE, json={"title": "Old", "paused": True}).status_code == 200
    assert served.delete(f"/v1/deliveries/{delivery}").status_code == 204
    assert served.delete(PLACE).status_code == 204
