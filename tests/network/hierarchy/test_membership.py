"""The table of a hierarchy's members: each decision is a function of the table before it (N2)."""

from __future__ import annotations

import json

import pytest

from triplewire.errors import NetworkError, UnitFull
from triplewire.network.hierarchy import UnitMembership

CLUSTERS = ["lindhaven/harbour", "lindhaven/hill", "lindhaven/harbour", "aster/mill"]


def tree(clusters: list[str]) -> UnitMembership:
    table = UnitMembership.founded("hub-0", "http://0", "key-0", clusters[0])
    for number, cluster in enumerate(clusters[1:], start=1):
        table = table.joined(f"hub-{number}", f"http://{number}", f"key-{number}", cluster)
    return table


def test_brokers_have_places_in_their_clusters_and_units_have_controllers_inside():
    table = tree(CLUSTERS)
    assert [member.path for member in table.members] == [(0, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
    assert [table.words(place) for place in table.places[:3]] == [
        "unit /",
        "unit lindhaven",
        "unit lindhaven/harbour",
    ]
    assert table.host_of("unit-1") == table.host_of("unit-1.0") == "hub-3"
    assert table.host_of("unit-0.1") == "hub-1"
    assert table.way("unit-0.0.0", "unit-1.0.0") == [
        "unit-0.0.0",
        "unit-0.0",
        "unit-0",
        "unit-",
        "unit-1",
        "unit-1.0",
        "unit-1.0.0",
    ]


def test_controller_that_is_away_is_followed_by_another_broker_of_its_unit():
    table = tree(CLUSTERS)
    first = table.host_of("unit-0.0")
    other = {"hub-0", "hub-2"} - {first}
    away = table.away(first)
    assert {away.host_of("unit-0.0")} == other
    assert away.seat("unit-0.0").generation > table.seat("unit-0.0").generation
    back = away.back(first)
    assert {back.host_of("unit-0.0")} == other
    assert back.host_of(back.member(first).place) == first
    whole = table.away("hub-3")
    assert whole.host_of("unit-1") in {"hub-0", "hub-1", "hub-2"}
    assert whole.back("hub-3").host_of("unit-1") == "hub-3"


def test_33rd_sub_unit_is_refused_with_what_to_do_and_one_that_left_makes_room():
    brokers = tree(["lindhaven"] * 32)
    with pytest.raises(UnitFull, match="put the next one into another unit"):
        brokers.joined("hub-32", "http://32", "key", "lindhaven")
    assert brokers.left("hub-7").joined("hub-32", "http://32", "key", "lindhaven").member("hub-32").path == (0, 7)
    units = tree([f"town-{number}" for number in range(32)])
    with pytest.raises(UnitFull, match="or build the network with a level more"):
        units.joined("hub-32", "http://32", "key", "town-32")
    assert units.left("hub-7").joined("hub-32", "http://32", "key", "town-32").words("unit-7") == "unit town-32"


@pytest.mark.parametrize("cluster", ["", "lindhaven", "lindhaven/harbour/quay"])
def test_cluster_of_another_depth_is_refused_with_what_to_say(cluster):
    with pytest.raises(NetworkError, match="--cluster lindhaven/harbour"):
        tree(CLUSTERS).joined("hub-9", "http://9", "key", cluster)


def test_table_is_read_as_it_was_told_and_what_is_none_is_refused():
    table = tree(CLUSTERS).away("hub-1").left("hub-0")
    told = json.loads(json.dumps(table.plain()))
    assert UnitMembership.read(told) == table
    for spoiled in (
        told | {"levels": 9},
        told | {"decider": "nobody"},
        told | {"seats": {"unit-0.0.0": {"host": "hub-1", "generation": 1}}},
        told | {"members": [told["members"][0] | {"path": [0, 0, 40]}]},
    ):
        with pytest.raises(ValueError, match="no table"):
            UnitMembership.read(spoiled)
