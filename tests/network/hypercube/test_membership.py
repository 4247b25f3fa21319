"""The table of a cube's members: each decision is a function of the table before it (P3)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplewire.errors import NetworkError
from triplewire.network.hypercube import Membership


def cube(count: int) -> Membership:
    table = Membership.founded("hub-0", "http://0", "key-0")
    for number in range(1, count):
        table = table.joined(f"hub-{number}", f"http://{number}", f"key-{number}")
    return table


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 11, 16])
def test_members_have_the_first_corners_and_vacant_ones_are_stood_at(count):
    table = cube(count)
    assert [member.position for member in table.members] == list(range(count))
    assert len(table.seats) == 1 << (count - 1).bit_length()
    for member in table.members:
        assert member.position in table.corners(member.name)


def test_member_that_is_away_is_stood_in_for_and_gets_its_corner_back():
    table = cube(5)
    away = table.away("hub-1")
    assert away.member("hub-1").is_away
    assert away.corners("hub-1") == []
    back = away.back("hub-1")
    assert 1 in back.corners("hub-1")
    assert back.seats[1].generation > away.seats[1].generation > table.seats[1].generation


def test_same_hub_again_is_no_other_member():
    table = cube(3)
    assert table.joined("hub-1", "http://1", "key-1") is table
    moved = table.joined("hub-1", "http://elsewhere", "key-1")
    assert moved.member("hub-1").url == "http://elsewhere"
    assert moved.seats == table.seats


def test_last_hub_cannot_leave():
    with pytest.raises(NetworkError, match="last"):
        cube(1).left("hub-0")
    assert cube(1).away("hub-0") == cube(1)


def test_later_term_counts():
    table = cube(3)
    assert table.decided_by("hub-2", 2).stamp > table.joined("hub-9", "http://9", "key-9").stamp


@given(st.lists(st.tuples(st.sampled_from(["joined", "away", "back", "left"]), st.integers(0, 9)), max_size=40))
def test_after_any_decisions_every_corner_has_a_member_that_is_up(decisions):
    table = cube(3)
    for what, number in decisions:
        name, before = f"hub-{number}", table
        try:
            more = (f"http://{number}", f"key-{number}") if what == "joined" else ()
            table = getattr(table, what)(name, *more)
        except NetworkError:
            continue
        assert table is before or table == before or table.stamp > before.stamp
        up = {member.name for member in table.members if not member.is_away}
        assert {seat.host for seat in table.seats} <= up
        for member in table.members:
            assert member.is_away or table.seats[member.position].host == member.name
        assert Membership.read(json.loads(json.dumps(table.plain()))) == table


@pytest.mark.parametrize(
    "damage",
    [
        {"decider": "nobody"},
        {"seats": []},
        {"seats": [{"host": "hub-0", "generation": 1}] * 3},
        {"members": []},
        {"members": [{"name": "hub-0", "url": "", "key": "", "position": 99}]},
    ],
)
def test_table_that_is_none_is_refused(damage):
    with pytest.raises(ValueError, match="no table"):
        Membership.read(cube(2).plain() | damage)
