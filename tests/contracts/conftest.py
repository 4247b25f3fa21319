"""The engines that keep the hub's contract: what holds by definition must hold for the hub, and for a hub on Spark.

On Spark the whole suite takes minutes, so that is slow; tests/pipeline has a part of it that is quick.
"""

from __future__ import annotations

import pytest
from tests.contracts.listening import Ear
from tests.contracts.reference import Reference

import triplewire


@pytest.fixture(scope="session")
def spark():
    """The Spark of the tests; started if no other test has done it."""
    from triplewire import pipeline

    found = pipeline.session("local[2]", name="tests", conf={"spark.driver.memory": "1g"})
    yield found
    found.stop()


@pytest.fixture(
    params=[
        "definition",
        "hub",
        pytest.param("micro-batches", marks=pytest.mark.slow),
        pytest.param("stream", marks=pytest.mark.slow),
    ]
)
def hub(request):
    engine = ENGINES[request.param](request)
    yield engine
    engine.close()


def micro_batches(request):
    """Each batch is parsed by Spark's workers, and its rows are found by them."""
    from tests.pipeline.streams import MicroBatches

    return MicroBatches(request.getfixturevalue("spark"), request.getfixturevalue("new_url")("sqlite"))


def stream(request):
    """Each batch is a submission to the intake log, which a running stream takes off."""
    if request.node.originalname in NAMED:
        pytest.skip("a stream names its batches itself")
    from tests.pipeline.streams import Running

    folder = request.getfixturevalue("tmp_path")
    return Running(request.getfixturevalue("spark"), request.getfixturevalue("new_url")("sqlite"), folder)


NAMED = (
    "test_all_events_of_a_batch_have_its_id_and_are_what_apply_returns",
    "test_a_batch_that_is_replayed_changes_nothing_and_returns_the_events_it_gave",
)
"""Tests that give their batches names."""

ENGINES = {
    "definition": lambda request: Reference(),
    "hub": lambda request: triplewire.Hub(":memory:"),
    "micro-batches": micro_batches,
    "stream": stream,
}


@pytest.fixture
def ear(hub):
    return Ear(hub)
