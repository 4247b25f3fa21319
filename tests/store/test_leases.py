"""Leases: one holder at a time, and the next one when it ends, however it ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

from triplewire.errors import StoreUnavailable
from triplewire.store import Store, leases

HOLDER = """
import sys
from triplewire.store import Store
lease = Store.open(sys.argv[1]).lease("work")
print(lease.hold(), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_lease_has_one_holder_and_is_free_when_that_is_killed(new_url, kind):
    url = new_url(kind)
    with Store.open(url) as store:
        lease, other = store.lease("work"), store.lease("other")
        with subprocess.Popen(
            [sys.executable, "-c", HOLDER, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as holder:
            assert holder.stdout.readline() == "True\n"
            assert not lease.hold()
            assert other.hold()
            holder.kill()
        while not lease.hold():  # a server notices within moments
            pass
        assert lease.hold()
        second = store.lease("work")
        assert not second.hold()
        lease.release()
        assert second.hold()
        second.release()
        other.release()


def test_lease_can_be_had_again_after_the_session_of_its_holder_was_ended(new_url, monkeypatch):
    """A server that was started anew has forgotten the lock; the process that had it goes on."""
    monkeypatch.setattr(leases, "_ASK_AGAIN", 0.0)
    with Store.open(new_url("postgresql")) as store:
        lease, second = store.lease("work"), store.lease("work")
        assert lease.hold()
        with store._database.connected() as connection:
            holders = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
            assert connection.exec_driver_sql(holders).all() == [(True,)]
        with pytest.raises(StoreUnavailable, match="the server cannot be used"):
            lease.hold()
        assert lease.hold()
        assert not second.hold()
        lease.release()
        assert second.hold()
        second.release()


def test_those_who_take_turns_wait_for_each_other(new_url):
    with Store.open(new_url("sqlite")) as store:
        with store.lease("writers").turn():
            assert not store.lease("writers").hold()
        lease = store.lease("writers")
        assert lease.hold()
        lease.release()
