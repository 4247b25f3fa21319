"""Deliveries go on with a subscription that is edited, and wait while it is paused (X7)."""

from __future__ import annotations

import json

from deliver.receiving import eventually


def told(receiver) -> list[tuple[str, str]]:
    return [(body["type"], body["data"]["row"]["d"]) for body in (json.loads(got.body) for got in receiver.posts())]


def test_a_web_hook_is_told_what_an_edit_changes_and_what_comes_after_it(post, receiver):
    made, _ = post.deliveries.add("sizes", receiver.url("/hook"))
    post.publish("a", 1)
    post.deliver(lease=60.0)
    receiver.wait_for_posts(1, "/hook")
    post.hub.edit("sizes", text="SELECT ?d ?n { ?d <urn:size> ?n FILTER(?n > 5) }")
    receiver.wait_for_posts(2, "/hook")
    post.publish("b", 9)
    receiver.wait_for_posts(3, "/hook")
    assert told(receiver) == [
        ("triplewire.matched", "<urn:a>"),
        ("triplewire.unmatched", "<urn:a>"),
        ("triplewire.matched", "<urn:b>"),
    ]
    eventually(lambda: post.told(made.id)["cursor"] == post.hub.events("sizes")[-1].cursor)


def test_nothing_is_sent_of_a_paused_subscription_and_everything_when_it_is_resumed(post, receiver):
    made, _ = post.deliveries.add("sizes", receiver.url("/hook"))
    post.deliver(lease=60.0)
    post.publish("a", 1)
    receiver.wait_for_posts(1, "/hook")
    post.hub.pause("sizes")
    post.publish("b", 2)
    post.publish("c", 3)
    other = post.hub.subscribe("SELECT ?d ?n { ?d <urn:size> ?n }", id="other", start="ever")
    post.deliveries.add(other.id, receiver.url("/other"))
    receiver.wait_for_posts(3, "/other")  # so it has looked at the log since
    assert post.told(made.id)["lag"] == 0
    post.hub.resume("sizes")
    receiver.wait_for_posts(3, "/hook")
    assert [row for _, row in told(receiver)] == ["<urn:a>", "<urn:b>", "<urn:c>"]
