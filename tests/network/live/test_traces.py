"""Where an event went in a hierarchy, and why there: told line by line (N2)."""

from __future__ import annotations

import pytest
from tests.network.live.federations import WATER, about, hierarchy, kinds, wait_for

from triplewire import Access
from triplewire.client import Client
from triplewire.errors import TriplewireError

CLUSTERS = ["lindhaven/harbour", "lindhaven/hill", "aster/mill", "aster/mill"]


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """Four hubs; the second one has been told of a document of the first, and nobody else wants it."""
    with hierarchy(tmp_path_factory.mktemp("town"), CLUSTERS) as hubs:
        assert hubs[1].subscribe("water", WATER, reach="network").status_code == 201
        hubs[0].publish("urn:doc", about(0))
        wait_for(lambda: kinds(hubs[1]) == ["matched <urn:d0>"])
        yield hubs


WAY = [
    "broker lindhaven/harbour/0",
    "unit lindhaven/harbour",
    "unit lindhaven",
    "unit lindhaven/hill",
    "broker lindhaven/hill/0",
]


def test_way_of_an_event_says_at_each_unit_who_asked_for_it_and_who_did_not(town):
    """N2: up to the smallest unit that has both, and down."""
    with Client(town[1].url) as client:
        told = client.trace("water")
    assert told.places == WAY
    starts = [line.split(", ")[0].partition(": ")[0] for line in told.lines]
    assert starts[:-1] == [f"urn:doc {'came to' if n else 'was published at'} {place}" for n, place in enumerate(WAY)]
    assert "went on to unit lindhaven/hill, which asked for it; not to unit /, which asks for nothing" in told.lines[2]
    assert "went on" not in told.lines[4]


def test_publisher_is_told_where_a_document_went_and_why_nowhere_else(town):
    with Client(town[0].url) as client:
        told = client.spread("urn:doc")
    assert told.places == WAY
    assert "which asks for nothing that it matches" in told.lines[2]
    assert not any("aster" in line for line in told.lines)


def test_where_a_document_went_is_told_to_those_alone_who_may_read_it(town):
    """P8: one that is not there for somebody is not there for this question either."""
    town[0].hub.publish(about(5), uri="urn:secret", access=Access(["maja"]))
    with Client(town[0].url) as client:
        assert client.spread("urn:secret").places == WAY[:1]  # the operator may read it, and it went nowhere
        with pytest.raises(TriplewireError, match="urn:nothing"):
            client.spread("urn:nothing")
    with Client(town[1].url) as other, pytest.raises(TriplewireError, match="urn:doc"):
        other.spread("urn:doc")  # it is there, and was not published there


def test_hub_tells_of_links_between_places_at_which_it_stands_itself(town):
    """N2: what flows between a broker and the unit that it controls is told, too."""
    with Client(town[0].url) as client:
        told = client.network_map()
    ends = {(link.place, link.to_place) for hub in told.hubs for link in [*hub.links, *hub.inside]}
    places = {place for member in told.hubs[0].members for place in member.stands_at_places}
    around = {place: place.rpartition("/")[0].replace("broker", "unit") or "unit /" for place in places - {"unit /"}}
    around |= {"unit lindhaven": "unit /", "unit aster": "unit /"}
    assert ends == {*around.items()} | {(unit, place) for place, unit in around.items()}
