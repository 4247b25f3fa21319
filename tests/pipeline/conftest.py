"""One Spark for all tests: starting it takes longer than most of them."""

from __future__ import annotations

import pytest

from triplewire import pipeline


@pytest.fixture(scope="session")
def spark():
    """A Spark of two threads, tuned as every session of ours is."""
    found = pipeline.session("local[2]", name="tests", conf={"spark.driver.memory": "1g"})
    yield found
    found.stop()
