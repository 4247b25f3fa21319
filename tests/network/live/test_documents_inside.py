"""Documents that stay inside a unit of a hierarchy: who is told of them, and what changes with their reach (N4)."""

from __future__ import annotations

import json

import pytest
from tests.network.live.federations import WATER, about, federation, hierarchy, kinds, wait_for

from hub.serving import serving
from triplewire import Publish, parse
from triplewire.client import Client
from triplewire.errors import TriplewireError
from triplewire.intake.entries import change_of, entry_of

CLUSTERS = ["lindhaven/harbour", "lindhaven/harbour", "lindhaven/hill", "aster/mill"]
REACHES = {"hub": 1, "cluster": 2, "super-cluster": 3, "network": 4}
"""How many of the hubs a document of the first one comes to."""


@pytest.fixture
def hubs(tmp_path):
    with hierarchy(tmp_path, CLUSTERS) as found:
        for each in found:
            assert each.subscribe("water", WATER, reach="network").status_code == 201
        after_everything(found, 80)
        yield found


def after_everything(hubs, number: int) -> None:
    """What was told before has arrived everywhere: so has something that goes everywhere, which came later."""
    hubs[0].publish(f"urn:last{number}", about(number))
    for each in hubs:
        wait_for(lambda each=each: f"matched <urn:d{number}>" in kinds(each))


def told(served, number: int) -> list[str]:
    """What a hub's subscription was told of one document."""
    return [each.split()[0] for each in kinds(served) if each.endswith(f"<urn:d{number}>")]


def test_document_goes_as_far_as_it_is_published_to_and_comes_back_from_further(hubs):
    for number, reach in enumerate(REACHES):
        with Client(hubs[0].url) as client:
            client.publish(about(number), uri=f"urn:doc{number}", reach=reach)
    after_everything(hubs, 90)
    for number, count in enumerate(REACHES.values()):
        assert [told(each, number) for each in hubs] == [["matched"]] * count + [[]] * (4 - count)


def test_reach_of_a_document_stays_until_another_one_is_given(hubs):
    """A new version that says nothing goes as far as the last one; a reach counts with the same content, too."""
    first = hubs[0].hub
    first.publish(about(0), uri="urn:doc", reach="cluster")
    first.publish(about(0, " ; <urn:more> 1"), uri="urn:doc")
    after_everything(hubs, 90)
    assert [told(each, 0) for each in hubs] == [["matched", "changed"]] * 2 + [[]] * 2
    first.publish(about(0, " ; <urn:more> 1"), uri="urn:doc", reach="super-cluster")
    wait_for(lambda: told(hubs[2], 0))
    first.publish(about(0, " ; <urn:more> 1"), uri="urn:doc", reach="hub")
    for each in hubs[1:3]:
        wait_for(lambda each=each: told(each, 0)[-1:] == ["unmatched"])
    first.publish(about(0, " ; <urn:more> 1"), uri="urn:doc", reach="network")
    for each in hubs[1:]:
        wait_for(lambda each=each: told(each, 0)[-1:] == ["matched"])
    assert told(hubs[0], 0) == ["matched", "changed"]


def test_version_that_was_published_for_a_unit_does_not_go_out_with_the_next_one(hubs):
    """Two versions at once, the first for the cluster, the second for everybody: nobody outside has the first."""
    publish = [
        Publish(parse(about(0, ' ; <urn:note> "secret"'), uri="urn:doc"), reach="cluster"),
        Publish(parse(about(0), uri="urn:doc"), reach="network"),
    ]
    far = hubs[3].subscribe("notes", "SELECT ?d ?n { ?d <urn:note> ?n }", reach="network")
    assert far.status_code == 201
    for each in publish:
        hubs[0].hub.apply([each])
    after_everything(hubs, 90)
    assert told(hubs[3], 0) == ["matched"]
    assert hubs[3].events("notes")["events"] == []


RSS = """<rss version="2.0"><channel><title>Harbour</title><link>https://h.example/</link><description>d</description>
<item><guid isPermaLink="false">{0}</guid><title>Water {0}</title></item></channel></rss>"""


def test_items_of_a_feed_go_no_further_than_the_feed(hubs):
    """Also those that come later, with a version of the feed that says nothing of it."""
    query = "SELECT ?t { ?i <http://purl.org/rss/1.0/title> ?t }"
    for each in hubs:
        assert each.subscribe("items", query, reach="network").status_code == 201
    for number in (1, 2):
        with Client(hubs[0].url) as client:
            about_it = {"uri": "https://h.example/feed", "media_type": "application/rss+xml"}
            client.publish(RSS.format(number), **about_it, reach="cluster" if number == 1 else None)
    titles = [event["row"]["t"] for event in hubs[0].events("items")["events"]]
    assert {'"Water 1"', '"Water 2"'} <= {*titles}
    after_everything(hubs, 90)
    wait_for(lambda: len(hubs[1].events("items")["events"]) == len(titles))
    assert [hubs[n].events("items")["events"] for n in (2, 3)] == [[], []]


def test_every_way_to_publish_says_how_far(hubs, tmp_path):
    """HTTP, several changes as one, many in one request, the library, and changes that waited on the intake log."""
    with Client(hubs[0].url) as client:
        client.publish(about(1), uri="urn:doc1", reach="hub", wait=False)
        client.apply([Publish(parse(about(n), uri=f"urn:doc{n}"), reach="hub") for n in (2, 3)])
    hubs[0].hub.publish(about(4), uri="urn:doc4", reach="hub")
    line = json.dumps({"uri": "urn:doc5", "content": about(5), "media_type": "text/turtle"})
    headers = {"Content-Type": "application/x-ndjson"}
    assert hubs[0].post("/v1/documents?reach=hub", content=line, headers=headers).json()["published"] == 1
    entry = entry_of(Publish(parse(about(6), uri="urn:doc6"), reach="hub"))
    hubs[0].hub.apply([change_of(entry)])
    wait_for(lambda: len(kinds(hubs[0])) == 7)
    after_everything(hubs, 90)
    assert [kinds(each) for each in hubs[1:]] == [["matched <urn:d80>", "matched <urn:d90>"]] * 3


def test_reach_that_means_nothing_is_refused_with_what_to_do(tmp_path):
    with serving(f"sqlite:///{tmp_path}/alone.db", deliver=False) as alone, Client(alone.url) as client:
        with pytest.raises(TriplewireError, match="--network hierarchy --cluster NAME"):
            client.publish(about(1), uri="urn:doc", reach="cluster")
        assert client.document("urn:doc") is None
    with federation(tmp_path, 2) as cube, Client(cube[0].url) as client:
        with pytest.raises(TriplewireError, match="has no units: it is one of hub, network"):
            client.publish(about(1), uri="urn:doc", reach="cluster")
        cube[1].subscribe("water", WATER, reach="network")
        client.publish(about(1), uri="urn:near", reach="hub")
        client.publish(about(2), uri="urn:far", reach="network")
        wait_for(lambda: kinds(cube[1]) == ["matched <urn:d2>"])
    with pytest.raises(ValueError, match="a reach is one of"):
        Publish(parse(about(1), uri="urn:doc"), reach="planet")
