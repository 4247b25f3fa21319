"""Web hooks: signed, in order, tried again, and given up only when the receiver refuses them."""

from __future__ import annotations

import json

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from deliver.receiving import Says, eventually
from triplewire.deliver import registry
from triplewire.errors import QuotaExceeded, UnknownDelivery


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_every_event_arrives_in_order_as_a_signed_cloud_event(make_post, new_url, receiver, kind):
    post = make_post(new_url(kind))
    made, secret = post.deliveries.add("sizes", receiver.url())
    post.publish("a", 1)
    post.publish("a", 2)
    post.deliver()
    receiver.wait_for_posts(3)
    post.hub.retract("urn:doc:a")
    got = receiver.wait_for_posts(4)
    verifier = Webhook(secret)
    told = [verifier.verify(each.body, each.headers) for each in got]
    assert [each["type"] for each in told] == [
        "triplewire.matched",
        "triplewire.unmatched",
        "triplewire.matched",
        "triplewire.unmatched",
    ]
    events = post.hub.events("sizes")
    assert [each["data"] for each in told] == [event.as_dict(contents=False) for event in events]
    assert [each["id"] for each in told] == [f"sizes:{event.cursor}" for event in events]
    assert [each.headers["webhook-id"] for each in got] == [each["id"] for each in told]
    assert {each.headers["content-type"] for each in got} == {"application/cloudevents+json"}
    assert told[0]["specversion"] == "1.0"
    assert told[0]["subject"] == "urn:a"
    assert told[0]["time"] == post.hub.batch(events[0].batch).committed
    done = eventually(lambda: (found := post.told(made.id))["cursor"] == events[-1].cursor and found)
    assert (done["delivered"], done["lag"], done["state"], done["failed"]) == (4, 0, "active", 0)


def test_a_receiver_refuses_a_message_that_was_changed_signed_by_another_or_kept_too_long(post, receiver):
    _, secret = post.deliveries.add("sizes", receiver.url())
    post.publish("a", 1)
    post.deliver()
    (got,) = receiver.wait_for_posts(1)
    Webhook(secret).verify(got.body, got.headers)
    for body, headers in (
        (got.body.replace(b"urn:a", b"urn:b"), got.headers),
        (got.body, got.headers | {"webhook-id": "sizes:99"}),
        (got.body, got.headers | {"webhook-timestamp": str(int(got.headers["webhook-timestamp"]) + 1)}),
        (got.body, got.headers | {"webhook-timestamp": str(int(got.headers["webhook-timestamp"]) - 3600)}),
    ):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(body, headers)


def test_a_receiver_that_was_away_gets_everything_in_order_when_it_returns(post, receiver):
    is_away = True
    receiver.says["/hook"] = lambda _: Says(503 if is_away else 200)
    made, _ = post.deliveries.add("sizes", receiver.url())
    for number in range(5):
        post.publish("a", number)
    post.deliver()
    receiver.wait_for_posts(5)
    assert len({got.headers["webhook-id"] for got in receiver.posts()}) == 1  # the first one, again and again
    state = eventually(lambda: (found := post.told(made.id))["failed"] >= 4 and found)
    assert state["dead"] == 0
    assert state["last_error"] == "the receiver says 503"
    is_away = False
    receiver.got.clear()
    wanted = [f"sizes:{event.cursor}" for event in post.hub.events("sizes")]
    got = receiver.wait_for_posts(len(wanted))
    assert [each.headers["webhook-id"] for each in got] == wanted


def test_a_message_that_is_refused_becomes_a_dead_letter_and_the_next_one_arrives(post, receiver):
    is_picky = True
    receiver.says["/hook"] = lambda got: Says(422 if is_picky and '"1"^^' in got.json["data"]["row"]["n"] else 200)
    made, secret = post.deliveries.add("sizes", receiver.url())
    post.publish("a", 1)
    post.publish("b", 2)
    post.deliver()
    got = receiver.wait_for_posts(4)
    assert [each.headers["webhook-id"] for each in got[:4]] == ["sizes:1", "sizes:1", "sizes:1", "sizes:2"]
    (letter,) = eventually(lambda: post.deliveries.dead(made.id))
    assert (letter.message, letter.attempts, letter.reason) == ("sizes:1", 3, "the receiver says 422")
    assert json.loads(letter.content) == got[0].json
    is_picky = False
    assert post.deliveries.replay(made.id) == 1
    again = receiver.wait_for_posts(5)[4]
    Webhook(secret).verify(again.body, again.headers)
    assert (again.headers["webhook-id"], again.body) == ("sizes:1", got[0].body)
    eventually(lambda: not post.deliveries.dead(made.id))


def test_a_dead_letter_that_is_refused_again_stays_and_can_be_dropped(post, receiver):
    receiver.says["/hook"] = lambda _: Says(400)
    made, _ = post.deliveries.add("sizes", receiver.url())
    post.publish("a", 1)
    post.publish("b", 2)
    post.deliver()
    first, second = eventually(lambda: len(found := post.deliveries.dead(made.id)) == 2 and found)
    assert post.deliveries.replay(made.id, [first.number]) == 1
    eventually(lambda: post.deliveries.dead(made.id)[0].attempts == 4)
    assert post.deliveries.drop(made.id, [second.number]) == 1
    assert [letter.number for letter in post.deliveries.dead(made.id)] == [first.number]
    assert post.deliveries.drop(made.id) == 1


def test_a_receiver_that_is_gone_is_not_asked_again_until_somebody_says_so(post, receiver):
    receiver.says["/hook"] = lambda _: Says(410)
    made, _ = post.deliveries.add("sizes", receiver.url())
    post.publish("a", 1)
    post.deliver()
    told = eventually(lambda: (found := post.told(made.id))["state"] == "disabled" and found)
    assert "410" in told["reason"]
    assert told["lag"] == 1
    post.publish("b", 2)
    assert len(receiver.posts()) == 1
    del receiver.says["/hook"]
    post.deliveries.resume(made.id)
    assert [got.headers["webhook-id"] for got in receiver.wait_for_posts(3)[1:]] == ["sizes:1", "sizes:2"]


def test_retry_after_is_respected(post, receiver):
    receiver.says["/hook"] = lambda _: Says(429, headers={"Retry-After": "3600"})
    made, _ = post.deliveries.add("sizes", receiver.url())
    post.publish("a", 1)
    post.deliver()
    told = eventually(lambda: (found := post.told(made.id))["state"] == "waiting" and found)
    record = post.deliveries.of(made.id)
    assert record.due - record.failing_since == 3_600_000
    assert told["dead"] == 0


def test_a_redirect_is_not_followed(post, receiver):
    receiver.says["/hook"] = lambda _: Says(307, headers={"Location": receiver.url("/secret")})
    made, _ = post.deliveries.add("sizes", receiver.url())
    post.publish("a", 1)
    post.deliver()
    (letter,) = eventually(lambda: post.deliveries.dead(made.id))
    assert letter.reason == "the receiver says 307"
    assert receiver.posts("/secret") == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"])
def test_nothing_is_sent_to_this_machine_unless_that_is_allowed(post, receiver, host):
    made, _ = post.deliveries.add("sizes", receiver.url(host=host))
    post.publish("a", 1)
    post.deliver(reach="")
    told = eventually(lambda: (found := post.told(made.id))["failed"] and found)
    assert "not a public address" in told["last_error"] or "has no address" in told["last_error"]
    assert receiver.got == []
    assert told["dead"] == 0


def test_a_paused_delivery_sends_nothing_and_everything_when_it_goes_on(post, receiver):
    made, _ = post.deliveries.add("sizes", receiver.url())
    other, _ = post.deliveries.add("sizes", receiver.url("/other"))
    post.deliveries.pause(made.id)
    post.deliver()  # one that is at work already may have read it as going on, a moment before
    post.publish("a", 1)
    receiver.wait_for_posts(1, "/other")
    assert post.told(made.id)["state"] == "paused"
    assert receiver.posts() == []
    post.deliveries.resume(made.id)
    receiver.wait_for_posts(1)
    assert other.id != made.id


def test_a_deliverer_at_work_notices_a_pause_and_then_sends_nothing(post, receiver):
    made, _ = post.deliveries.add("sizes", receiver.url())
    post.deliveries.add("sizes", receiver.url("/other"))
    post.deliver()
    post.publish("first", 1)
    receiver.wait_for_posts(1)
    post.deliveries.pause(made.id)
    number = 1
    while number - len(receiver.posts()) < 10 and number < 60:  # what comes before it is noticed may still go out
        number += 1
        post.publish(f"before-{number}", number)
        receiver.wait_for_posts(number, "/other")
    post.publish("after", 100)
    receiver.wait_for_posts(number + 1, "/other")
    assert len(receiver.posts()) < number
    assert not any(b"urn:after" in got.body for got in receiver.posts())
    post.deliveries.resume(made.id)
    assert any(b"urn:after" in got.body for got in receiver.wait_for_posts(number + 1))


def test_both_secrets_count_for_a_day_after_they_were_changed(post, receiver):
    made, old = post.deliveries.add("sizes", receiver.url())
    new = post.deliveries.rotate(made.id)
    post.publish("a", 1)
    post.deliver()
    (got,) = receiver.wait_for_posts(1)
    for secret in (old, new):
        Webhook(secret).verify(got.body, got.headers)


def test_secrets_are_not_in_what_is_told_or_logged(post, receiver):
    made, secret = post.deliveries.add("sizes", receiver.url())
    assert secret.removeprefix("whsec_") not in str(post.told(made.id)) + repr(post.deliveries.of(made.id))


def test_an_answer_that_never_ends_is_read_only_so_far(post, receiver):
    receiver.says["/hook"] = lambda _: Says(200, body=b"x" * 1_000_000)
    made, _ = post.deliveries.add("sizes", receiver.url())
    post.publish("a", 1)
    post.publish("b", 2)
    post.deliver()
    receiver.wait_for_posts(2)
    eventually(lambda: post.told(made.id)["delivered"] == 2)


def test_a_removed_delivery_or_subscription_is_told_nothing_more(post, receiver):
    made, _ = post.deliveries.add("sizes", receiver.url())
    post.deliver()
    post.publish("a", 1)
    receiver.wait_for_posts(1)
    post.hub.unsubscribe("sizes")
    with pytest.raises(UnknownDelivery):
        post.deliveries.of(made.id)


def test_a_subscription_has_so_many_deliveries_and_no_more(post, receiver, monkeypatch):
    monkeypatch.setattr(registry, "MOST", 1)
    post.deliveries.add("sizes", receiver.url())
    with pytest.raises(QuotaExceeded):
        post.deliveries.add("sizes", receiver.url())


def test_contents_come_with_an_event_if_they_are_wanted(post, receiver):
    post.deliveries.add("sizes", receiver.url(), contents=True)
    post.publish("a", 1)
    post.deliver()
    (got,) = receiver.wait_for_posts(1)
    (event,) = post.hub.events("sizes")
    assert got.json["data"] == event.as_dict()


def test_a_delivery_from_now_on_tells_nothing_of_before(post, receiver):
    post.publish("a", 1)
    post.deliveries.add("sizes", receiver.url(), after=None)
    post.publish("b", 2)
    post.deliver()
    (got,) = receiver.wait_for_posts(1)
    assert got.json["subject"] == "urn:b"
