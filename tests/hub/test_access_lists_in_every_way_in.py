"""Access lists hold in the ways that came beside them: batches of several, pages of rows, secret feeds, previews."""

from __future__ import annotations

import httpx
import pytest

from hub.serving import problem, serving
from triplewire.client import Client
from triplewire.errors import AccessDenied, NotAllowed
from triplewire.hub.identity.accounts import Accounts
from triplewire.model import Access
from triplewire.store import Store

SIZES = "SELECT ?d ?n { ?d <urn:size> ?n }"


@pytest.fixture
def people(tmp_path):
    store = f"sqlite:///{tmp_path}/hub.db"
    with Store.open(store) as opened:
        tokens = {name: Accounts(opened).create_token(name, role="publisher")[1] for name in ("maja", "willi")}
    with serving(store, identity=True, quotas={"query_cost": 1_000}) as served:
        made = {name: Client(served.url, token=token) for name, token in tokens.items()}
        yield served, made["maja"], made["willi"]
        for client in made.values():
            client.close()


@pytest.fixture
def secret(people):
    """Something that is Maja's alone."""
    served, maja, willi = people
    maja.subscribe(SIZES, id="hers")
    willi.subscribe(SIZES, id="his")
    maja.publish("<urn:secret> <urn:size> 1 .", uri="urn:hers", access=Access([], []))
    return served, maja, willi


def changes(client, *wanted):
    return client._ask("POST", "/changes", json={"changes": list(wanted)}, headers={"Prefer": "wait"}).json()


def test_who_may_not_change_a_document_changes_nothing_of_a_batch(secret):
    _, maja, willi = secret
    own = {"uri": "urn:his", "content": "<urn:open> <urn:size> 2 ."}
    with pytest.raises(AccessDenied):
        changes(willi, own, {"uri": "urn:hers", "content": "<urn:secret> <urn:size> 9 ."})
    assert willi.document("urn:his") is None
    changes(willi, own, {"uri": "urn:hers", "retract": True})  # for him it is not there
    assert willi.document("urn:his") is not None
    assert len(maja.document("urn:hers")) == 1


def test_a_batch_tells_whoever_sends_it_only_what_they_may_see(secret):
    _, maja, willi = secret
    told = changes(
        willi,
        {"uri": "urn:a", "content": "<urn:a> <urn:size> 1 ."},
        {"uri": "urn:b", "content": "<urn:b> <urn:size> 2 ."},
    )
    assert {event["subscription"] for event in told["events"]} == {"his"}
    assert len(maja.rows("hers")) == 3
    assert len(willi.rows("his")) == 2


def test_pages_of_rows_and_addresses_of_feeds_are_for_who_made_the_subscription(secret):
    served, maja, willi = secret
    with pytest.raises(NotAllowed):
        willi.row_page("hers")
    with pytest.raises(NotAllowed):
        willi.make_feed_address("hers")
    with httpx.Client(trust_env=False) as reader:
        assert b"urn:secret" in reader.get(maja.make_feed_address("hers")).content
        assert b"urn:secret" not in reader.get(willi.make_feed_address("his")).content
    problem(served.get("/v1/subscriptions/hers/rows"), 401)


def test_a_cost_does_not_tell_what_others_have(secret):
    _, maja, willi = secret
    costs = [each.preview(SIZES).as_dict()["cost"]["total"] for each in (maja, willi)]
    assert costs == [2, 1]
