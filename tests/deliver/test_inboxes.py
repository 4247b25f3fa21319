"""Notifications go to the inbox that a target names, in its links or in what it says, or to the address itself."""

from __future__ import annotations

import json

import pytest
from pyoxigraph import RdfFormat, parse

from deliver.receiving import Says, eventually

INBOX = "http://www.w3.org/ns/ldp#inbox"


def by_link(_):
    return Says(200, headers={"Link": f'</somewhere>; rel="next", </inbox/>; rel="{INBOX}"'})


def by_turtle(_):
    return Says(200, f"<> <{INBOX}> </inbox/> .".encode(), {"Content-Type": "text/turtle"})


@pytest.mark.parametrize("says", [by_link, by_turtle])
def test_events_arrive_in_the_inbox_of_a_target(post, receiver, says):
    receiver.says["/thing"] = says
    receiver.says["/inbox/"] = lambda _: Says(201, headers={"Location": "/inbox/1"})
    made, _ = post.deliveries.add("sizes", receiver.url("/thing"), kind="ldn")
    post.publish("a", 1)
    post.hub.retract("urn:doc:a")
    post.deliver()
    got = receiver.wait_for_posts(2, "/inbox/")
    assert [each.json["type"] for each in got] == ["Add", "Remove"]
    assert got[0].headers["content-type"].startswith("application/ld+json")
    assert got[0].json["object"] == "urn:a"
    assert got[0].json["target"]["name"] == "sizes"
    eventually(lambda: post.told(made.id)["delivered"] == 2)


def test_an_address_that_names_no_inbox_is_one(post, receiver):
    receiver.says["/inbox"] = lambda got: Says(405 if got.method == "GET" else 201)
    post.deliveries.add("sizes", receiver.url("/inbox"), kind="ldn")
    post.publish("a", 1)
    post.deliver()
    receiver.wait_for_posts(1, "/inbox")


def test_a_notification_is_rdf(post):
    from triplewire.wire.envelopes import activity

    post.publish("a", 1)
    (event,) = post.hub.events("sizes")
    told = activity(event)
    # What the context of Activity Streams says of the few names that are used, because nothing is fetched here.
    told["@context"][0] = {"@vocab": "https://www.w3.org/ns/activitystreams#", "id": "@id", "type": "@type"}
    triples = {str(quad.predicate) for quad in parse(json.dumps(told).encode(), format=RdfFormat.JSON_LD)}
    assert "<urn:triplewire:terms:cursor>" in triples
    assert "<https://www.w3.org/ns/activitystreams#object>" in triples
