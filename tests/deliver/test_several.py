"""Many receivers, and several processes that deliver: none waits for another, nothing is sent by two, nothing lost."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter

import pytest

from deliver.receiving import Says, eventually


def test_receivers_that_hang_hold_up_no_others(post, receiver):
    release = threading.Event()
    hanging = [receiver.url(f"/hang/{number}") for number in range(8)]
    working = [receiver.url(f"/hook/{number}") for number in range(8)]
    for url in hanging + working:
        post.deliveries.add("sizes", url)
    for number in range(8):
        receiver.says[f"/hang/{number}"] = lambda _: Says(200, wait=release)
    try:
        post.deliver(seconds=30.0, lease=120.0)
        for number in range(10):
            post.publish(f"d{number}", number)
        for number in range(8):
            receiver.wait_for_posts(10, f"/hook/{number}")
        assert [len(receiver.posts(f"/hang/{number}")) for number in range(8)] == [1] * 8
    finally:
        release.set()


def test_a_host_whose_receivers_hang_holds_up_no_other_host(post, receiver):
    """More receivers hang than may be asked at once on one host."""
    release = threading.Event()
    for number in range(6):
        post.deliveries.add("sizes", receiver.url(f"/hang/{number}", host="127.0.0.2"))
        receiver.says[f"/hang/{number}"] = lambda _: Says(200, wait=release)
    post.deliveries.add("sizes", receiver.url("/hook"))
    post.publish("a", 1)
    try:
        post.deliver(seconds=30.0, lease=120.0, per_host=2)
        receiver.wait_for_posts(1)
    finally:
        release.set()


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_two_deliverers_share_the_work_and_send_everything_once(make_post, new_url, receiver, kind):
    post = make_post(new_url(kind))
    ids = [post.deliveries.add("sizes", receiver.url(f"/hook/{number}"))[0].id for number in range(6)]
    first = post.deliver(lease=4.0)
    eventually(lambda: sum(dispatcher.states().total() for dispatcher in first) == 6)
    second = post.deliver(lease=4.0)
    eventually(lambda: [sum(dispatcher.states().total() for dispatcher in each) for each in (first, second)] == [3, 3])
    for number in range(10):
        post.publish(f"d{number}", number)
    for number in range(6):
        receiver.wait_for_posts(10, f"/hook/{number}")
    first.stop()  # what it leaves is the other's
    post.publish("last", 1)
    wanted = [f"sizes:{event.cursor}" for event in post.hub.events("sizes")]
    for number in range(6):
        got = receiver.wait_for_posts(11, f"/hook/{number}")
        assert [each.headers["webhook-id"] for each in got] == wanted
    eventually(lambda: [post.told(id)["delivered"] for id in ids] == [11] * 6)


def deliverer_process(url: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "triplewire.cli", "deliver", "run", url, "--reach", "127.0.0.0/8"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "delivering" in process.stderr.readline()
    return process


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_deliverer_that_is_killed_loses_nothing_and_keeps_the_order(make_post, new_url, receiver, kind):
    """Duplicates have the id of what they repeat; without them, each receiver got every event in order.

    Invariant of `deliver.dispatcher`: what is written of a delivery never runs ahead of what has arrived.
    """
    post = make_post(new_url(kind))
    for number in range(4):
        post.deliveries.add("sizes", receiver.url(f"/hook/{number}"))
    for number in range(300):
        post.publish(f"d{number}", number)
    wanted = [f"sizes:{event.cursor}" for event in post.hub.events("sizes")]
    for count in (40, 160, 400):
        process = deliverer_process(post.url)
        try:
            receiver.wait_for(lambda count=count: len(receiver.got) >= count, 90)
        finally:
            process.kill()
            process.communicate()
    process = deliverer_process(post.url)
    try:
        for number in range(4):
            path = f"/hook/{number}"
            receiver.wait_for(
                lambda path=path: {g.headers["webhook-id"] for g in receiver.posts(path)} >= {*wanted}, 90
            )
        process.terminate()
        assert "stopped" in process.communicate(timeout=60)[1]
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()
    for number in range(4):
        got = [each.headers["webhook-id"] for each in receiver.posts(f"/hook/{number}")]
        assert list(dict.fromkeys(got)) == wanted
        bodies = Counter((each.headers["webhook-id"], each.body) for each in receiver.posts(f"/hook/{number}"))
        assert len(bodies) == len(wanted)  # whatever came twice was the same
    assert [each.lag for each in post.deliveries.listing()] == [0] * 4
