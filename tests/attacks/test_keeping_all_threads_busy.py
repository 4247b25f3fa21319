"""Whoever keeps the threads of a service busy keeps nobody from being known, and health from being told."""

import asyncio
import threading

import pytest
from starlette.concurrency import run_in_threadpool

from hub.serving import serving
from triplewire.hub.identity.accounts import Accounts
from triplewire.hub.identity.gate import Gate
from triplewire.store import Store


@pytest.fixture
def store(tmp_path):
    return f"sqlite:///{tmp_path}/hub.db"


class Busy:
    """Holds every thread that an event loop and a web framework hand work to, until the end."""

    def __init__(self, loop):
        self._free, self._loop = threading.Event(), loop

    def __enter__(self):
        asyncio.run_coroutine_threadsafe(self._hold(), self._loop).result(30)

    def __exit__(self, *_):
        self._free.set()

    async def _hold(self):
        self._held = [asyncio.create_task(asyncio.to_thread(self._free.wait, 30)) for _ in range(100)]
        self._held += [asyncio.create_task(run_in_threadpool(self._free.wait, 30)) for _ in range(100)]
        await asyncio.sleep(0.05)


def test_account_is_known_and_health_is_told_while_all_threads_are_busy(store, monkeypatch):
    monkeypatch.setattr(
        "triplewire.hub.identity.gate._KNOWN_FOR", -1.0
    )  # so that the accounts are read for each request
    with Store.open(store) as opened:
        token = Accounts(opened).create_token("reader", role="reader")[1]
    with serving(store, identity=True) as served:
        served.headers["Authorization"] = f"Bearer {token}"
        assert served.get("/v1/whoami").json()["name"] == "reader"
        with Busy(served.server.config.app.state.service._loop):
            assert served.get("/v1/whoami", timeout=10).json()["name"] == "reader"
            assert served.get("/v1/health/live", timeout=10).json()["live"]
            assert served.get("/v1/health", timeout=10).json()["ready"]
            assert served.get("/v1/nowhere", timeout=10).status_code == 404
            assert served.post("/v1/challenges", json={}, timeout=10).status_code == 422
            assert served.post("/v1/challenges", json={"account": "a"}, timeout=10).status_code == 201
            refused = {"challenge": "none", "signature": "00"}
            assert served.post("/v1/sessions", json=refused, timeout=10).status_code == 401


class Slow:
    """Accounts whose store does not answer until it is let go."""

    def __init__(self):
        self.readings, self.asked, self.free = 0, threading.Event(), threading.Event()

    def all(self):
        self.readings += 1
        self.asked.set()
        assert self.free.wait(30)
        return {}


def test_many_who_ask_wait_for_one_reading_of_the_accounts():
    accounts = Slow()
    gate = Gate(accounts, is_on=True)

    async def many():
        asking = [asyncio.create_task(gate.catch_up()) for _ in range(50)]
        assert await asyncio.to_thread(accounts.asked.wait, 30)
        proving = [asyncio.create_task(gate.refresh()) for _ in range(50)]
        await asyncio.sleep(0)
        accounts.free.set()
        await asyncio.gather(*asking, *proving)

    asyncio.run(many())
    gate.close()
    assert accounts.readings == 2  # the second for those who must have what is there now
