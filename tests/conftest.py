"""What tests of several packages share: a real PostgreSQL, urls of empty databases of every kind, and a real Kafka."""

from __future__ import annotations

import gc
from functools import cache

import httpx
import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from effort import EXPLORING
from postgres import HOW_TO_GET_IT, binaries, running

# The quick tests take the same few random examples each time, so that a change is judged by what it changes; the slow
# ones look for many new ones (`./run test --slow` asks for this profile; `effort` says how many). How long an example
# takes says more of the machine.
_untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", _untimed, derandomize=True, max_examples=25)
settings.register_profile(EXPLORING, _untimed, derandomize=False, max_examples=100, print_blob=True)
settings.load_profile("repeatable")

# Each client reads all authorities of the world, which takes longer than most tests of a service: here it is done once.
httpx._transports.default.create_ssl_context = cache(httpx.create_ssl_context)


_HISTORIES = (
    "tests/network/simulation/test_edges.py",
    "tests/network/test_histories.py",
    "tests/network/test_moves.py",
    "tests/network/test_absences.py",
    "tests/network/test_links.py",
    "tests/network/ring/test_histories.py",
    "tests/edge/test_histories.py",
    "tests/backbone/test_histories.py",
    "tests/oracle/",
)
"""Tests of random histories, which share nothing that is started."""

_LONG = (
    "tests/test_readme.py",
    "tests/pipeline/",
    *_HISTORIES,
    "tests/attacks/test_downloads_that_outlive_the_account.py",
    "tests/attacks/test_characters_that_steer_a_terminal.py",
    "tests/test_benchmarks.py",
    "tests/benchmarks/",
    "tests/engine/inspect/test_inbox.py",
    "tests/engine/test_killed_processes.py",
    "tests/hub/test_serve_command.py",
    "tests/faults/",
)


_APART = ("test_asked_to_end.py", "test_cluster_stream.py", "test_java.py", "test_killed_streams.py")
"""Tests of the pipeline that need no Spark in their own process."""


def pytest_collection_modifyitems(items):
    """Files that take long come first: so no process is still busy with one when the others have nothing left to do."""
    places = {prefix: place for place, prefix in enumerate(_LONG)}
    items.sort(key=lambda item: min((places[p] for p in _LONG if item.nodeid.startswith(p)), default=len(_LONG)))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    """The thousands of tests stay until the end: nothing looks through them again for what can be thrown away."""
    gc.collect()
    gc.freeze()


class SparkOnce(LoadFileScheduling):
    """A file's tests are for one process, because they share what they start; so are all tests on Spark together.

    A Spark takes longer to start, and to become quick, than most of its tests take.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "tests/pipeline" if file.startswith("tests/pipeline/") and not file.endswith(_APART) else file


class HistoriesShared(LoadFileScheduling):
    """A file's tests are for one process, but for random histories: long ones would wait for one process."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if nodeid.startswith(_HISTORIES) else nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True)  # of xdist, which is there when processes share the tests
def pytest_xdist_make_scheduler(config, log):
    """Tests on Spark are for one process if they are the quick ones; with the slow ones they are too many for it."""
    return SparkOnce(config, log) if config.getoption("markexpr") == "not slow" else HistoriesShared(config, log)


@pytest.fixture(scope="session")
def triplewire():
    """The path of a `triplewire` that begins at once, for tests of many short commands."""
    from hub.processes import warm

    return str(warm().folder / "triplewire")


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server for the whole session."""
    if binaries() is None:
        pytest.skip(HOW_TO_GET_IT)
    with running() as server:
        yield server


@pytest.fixture
def new_url(request, tmp_path):
    """Makes urls of empty databases, by kind: memory, sqlite, postgresql."""
    numbers = iter(range(1_000))

    def make(kind: str) -> str:
        if kind == "postgresql":
            return request.getfixturevalue("postgres").url()
        return ":memory:" if kind == "memory" else f"sqlite:///{tmp_path}/store{next(numbers)}.db"

    return make


@pytest.fixture(scope="session")
def parts():
    """The jars of Kafka's broker, and of Spark's connector to it."""
    from tests.pipeline import brokers

    try:
        return brokers.parts()
    except brokers.NotToBeHad as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def broker(parts, tmp_path_factory):
    """A broker for the tests of a module."""
    from tests.pipeline import brokers

    with brokers.broker(parts.broker, tmp_path_factory.mktemp("kafka")) as running:
        yield running


@pytest.fixture(scope="session")
def jars(parts):
    """How Spark is given its connector."""
    return "--conf", f"spark.jars={','.join(map(str, sorted(parts.connector.glob('*.jar'))))}"
