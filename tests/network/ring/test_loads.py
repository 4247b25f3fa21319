"""Random loads on a slow ring whose peers crash end as one hub (S1 to S5, X13)."""

from __future__ import annotations

import pytest
from tests.network.ring.loads import check_load, check_many_loads

from effort import examples


@pytest.mark.parametrize("seed", range(examples(40)))
def test_load_on_a_slow_ring_whose_peers_crash_ends_as_one_hub(seed):
    check_load(seed)


@pytest.mark.slow
def test_many_loads_on_slow_rings_whose_peers_crash_end_as_one_hub():
    check_many_loads()
