"""Units, their vectors, and which brokers control them (N2)."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplewire.errors import UnitFull
from triplewire.network import Simulation
from triplewire.network.hierarchy import TreeTopology, controllers, path_of, unit_name, vectors

PATHS = st.lists(st.integers(0, 31), max_size=4).map(tuple)


@given(PATHS)
def test_name_of_a_unit_says_where_it_is(path):
    assert path_of(unit_name(path)) == path


def test_sub_units_of_a_unit_share_no_bit():
    """The paper's example codes (0011 and 0101) do: reaching the one would pass over the other."""
    codes = [vectors((1, number))[-1] for number in range(32)]
    assert sum(codes) == (1 << 32) - 1
    assert all(a & b == 0 for a, b in product(codes, codes) if a != b)


@given(PATHS.filter(bool), PATHS)
def test_each_hop_is_nearer_to_where_a_message_is_for(start, end):
    at, hops = start, 0
    while at != end:
        at = path_of(TreeTopology(at, 4).next_hop(unit_name(end)))
        hops += 1
    common = next((i for i, (a, b) in enumerate(zip(start, end, strict=False)) if a != b), min(len(start), len(end)))
    assert hops == len(start) + len(end) - 2 * common


def test_standbys_are_in_other_sub_units_and_units_have_different_controllers():
    brokers = list(product(range(4), repeat=3))
    assert [path[0] for path in controllers((), brokers)[:2]] == [2, 3]
    assert [path[:2] for path in controllers((1,), brokers)[:2]] == [(1, 1), (1, 2)]
    assert controllers((1, 3), brokers)[:2] == [(1, 3, 0), (1, 3, 1)]
    assert controllers((4,), brokers) == []


def test_33rd_sub_unit_is_refused_with_what_to_do():
    sim = Simulation()
    with pytest.raises(UnitFull, match=r"at most 32 sub-units.*another unit, or build the network with a level more"):
        sim.hierarchy(clusters=(2, 33))
    net = sim.hierarchy(clusters=(2, 31))
    assert net.path(net.join(cluster=(1,))) == (1, 31)
    with pytest.raises(UnitFull, match="another unit"):
        net.join(cluster=(1,))
    assert net.path(net.join()) == (0, 31)


@pytest.mark.parametrize("clusters", [(), (2, 2, 2, 2, 2), (2, 0)])
def test_numbers_that_are_no_hierarchy_are_refused(clusters):
    with pytest.raises(ValueError, match=r"1 to 4 levels|at least one sub-unit"):
        Simulation().hierarchy(clusters=clusters)
