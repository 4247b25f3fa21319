"""A batch whose name is known is taken for applied: whoever could choose a name to come would have it dropped."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from typer.testing import CliRunner

from hub.serving import serving
from triplewire import Hub, Publish, parse
from triplewire.cli.app import app
from triplewire.engine.names import OwnName
from triplewire.errors import StoreUnavailable
from triplewire.hub.changes import repeats
from triplewire.hub.changes.orders import Order
from triplewire.intake.entries import Handled
from triplewire.store import Store

NEXT = "stream-5c0ffee0-0000-4000-8000-000000000000-7"
TEXT = "<urn:s> <urn:p> 1 ."


def change(uri):
    return Publish(parse(TEXT, uri=uri))


@pytest.fixture
def hub(new_url):
    with Hub(new_url("sqlite")) as made:
        yield made


def uris(hub):
    return sorted(document.uri for document in hub.documents())


def waiting(hub):
    with hub.store.reading() as reader:
        return reader.intake.waiting()


def squat(hub, name):
    """A batch of this name, however it came to it: an older version took every name."""
    hub.apply([change("urn:theirs")], batch=OwnName(name))


@pytest.mark.parametrize("name", [NEXT, "b-1", "recovery-1", "taxonomy-1", "subscribe-1", "backfill-1"])
def test_people_cannot_give_a_batch_a_name_of_the_hubs_own(hub, name):
    for act in (
        lambda: hub.apply([change("urn:a")], batch=name),
        lambda: hub.publish(TEXT, uri="urn:a", media_type="text/turtle", batch=name),
        lambda: hub.retract("urn:a", batch=name),
    ):
        with pytest.raises(ValueError, match="gives itself; choose another"):
            act()
    assert uris(hub) == []


def test_changes_that_wait_are_applied_although_another_batch_has_the_name(hub):
    squat(hub, NEXT)
    hub.submit([change("urn:a")])
    told = hub.apply([change("urn:a")], batch=OwnName(NEXT), handled=Handled(1, first=1))
    assert told.batch != NEXT
    assert uris(hub) == ["urn:a", "urn:theirs"]
    assert waiting(hub) == 0


def test_a_batch_that_comes_again_is_not_applied_again_and_takes_nothing_off(hub):
    hub.subscribe("SELECT ?x { ?x <urn:p> ?y }", id="all")
    hub.submit([change("urn:a")])
    hub.submit([change("urn:b")])
    span = Handled(1, first=1)
    first = hub.apply([change("urn:a")], batch=OwnName(NEXT), handled=span)
    hub.retract("urn:a")
    again = hub.apply([change("urn:a")], batch=OwnName(NEXT), handled=span)
    assert list(again) == list(first)
    assert uris(hub) == []
    assert waiting(hub) == 1


def test_a_half_that_takes_nothing_off_is_known_by_its_name(hub):
    hub.submit([change("urn:a"), change("urn:b")])
    for _ in range(2):
        hub.apply([change("urn:a")], batch=OwnName(NEXT), handled=Handled(0, first=1))
    assert len(hub.batches()) == 1
    assert waiting(hub) == 2


def test_a_key_over_http_names_no_batch_and_is_seen_by_nobody(tmp_path):
    url = f"sqlite:///{tmp_path}/hub.db"
    with serving(url) as served:
        first = served.publish("urn:theirs", TEXT, Idempotency_Key=NEXT)
        again = served.publish("urn:theirs", TEXT, Idempotency_Key=NEXT)
        body = {"changes": [{"uri": "urn:more", "content": TEXT}]}
        bundle = served.post("/v1/changes", json=body, headers={"Idempotency-Key": "monday"})
        listed = served.get("/v1/documents").text
    assert first.status_code == 201
    assert again.json() == first.json()
    for told in (first.text, bundle.text, listed):
        assert "5c0ffee0" not in told
        assert "monday" not in told
    with Hub(url) as hub:
        assert all(batch.id.startswith("b-") and len(batch.id) == 34 for batch in hub.batches())
        hub.submit([change("urn:a")])
        assert hub.apply([change("urn:a")], batch=OwnName(NEXT), handled=Handled(1, first=1)).batch == NEXT
        assert uris(hub) == ["urn:a", "urn:more", "urn:theirs"]


def test_a_key_of_another_account_leaves_no_trace_in_the_name_of_a_batch(tmp_path):
    url = f"sqlite:///{tmp_path}/hub.db"
    names = []
    with serving(url) as served:
        for key in ("monday", "tuesday"):
            names.append(served.publish(f"urn:{key}", TEXT, Idempotency_Key=key).json()["batch"])
        with Store.open(url) as store, store.writing() as writer:
            writer.batches.add("wednesday", committed="2026-01-01", documents=0, events=0)
        names.append(served.publish("urn:wednesday", TEXT, Idempotency_Key="wednesday").json()["batch"])
    assert {(name[:2], len(name)) for name in names} == {("b-", 34)}


def test_the_same_request_that_two_services_apply_at_once_is_applied_once(hub):
    orders = [Order("urn:a", b"")]
    for name in ("first", "second"):
        kept = repeats.keeping("ada", "monday", name, orders, {"urn:a": None})
        with nullcontext() if name == "first" else pytest.raises(StoreUnavailable, match="send it again"):
            hub.apply([change(f"urn:{name}")], batch=name, handled=kept)
    assert uris(hub) == ["urn:first"]


def test_publish_on_the_command_line_refuses_such_a_name(tmp_path):
    (tmp_path / "a.ttl").write_text(TEXT)
    for command in ("publish", "retract"):
        told = CliRunner().invoke(app, [command, f"{tmp_path}/hub.db", f"{tmp_path}/a.ttl", "--batch", NEXT])
        assert told.exit_code == 2
        assert "choose another" in " ".join(told.stderr.split())
