"""Random histories of a network end as one hub would have them (X13): told, told once, in order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.histories import ACTIONS, SIZES, Both, ends_as_in_one_hub, is_told_as_by_one_hub

from effort import MANY, examples


@settings(max_examples=examples(50))
@given(st.integers(0, 2**32), st.sampled_from(SIZES), st.lists(ACTIONS, max_size=20))
def test_each_event_is_told_as_by_one_hub_when_each_step_has_time(seed, size, actions):
    is_told_as_by_one_hub(Both(seed, size, loss=0.1, duplication=0.1), actions)


@settings(max_examples=examples(50))
@given(st.integers(0, 2**32), st.sampled_from(SIZES), st.lists(ACTIONS, max_size=25))
def test_rows_end_as_those_of_one_hub_whatever_happens_meanwhile(seed, size, actions):
    ends_as_in_one_hub(Both(seed, size, loss=0.1, duplication=0.1), actions)


SKEW = 200.0


class Skewed(Both):
    """Clocks differ, and one thing happens so long after the other that they agree on which was first."""

    def act(self, what: str, who: int, which: int) -> None:
        self.sim.run(seconds=2 * SKEW / 1000)
        super().act(what, who, which)


@settings(max_examples=examples(30))
@given(st.integers(0, 2**32), st.sampled_from(SIZES), st.lists(ACTIONS, max_size=20))
def test_clocks_that_differ_less_than_steps_are_apart_change_nothing(seed, size, actions):
    is_told_as_by_one_hub(Skewed(seed, size, loss=0.1, duplication=0.1, skew=SKEW), actions)


@pytest.mark.slow
@settings(max_examples=MANY)
@given(st.integers(0, 2**32), st.sampled_from(SIZES), st.lists(ACTIONS, max_size=25))
def test_many_histories_are_told_as_by_one_hub(seed, size, actions):
    is_told_as_by_one_hub(Both(seed, size, loss=0.1, duplication=0.1), actions)


@pytest.mark.slow
@settings(max_examples=MANY)
@given(st.integers(0, 2**32), st.sampled_from(SIZES), st.lists(ACTIONS, max_size=40))
def test_many_histories_end_as_in_one_hub(seed, size, actions):
    ends_as_in_one_hub(Both(seed, size, loss=0.1, duplication=0.1), actions)
