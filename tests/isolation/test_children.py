"""Work in processes that may die of it, without Spark."""

import os
import signal
import time

import pytest

from triplewire.isolation import Died, in_child, isolated


def doubled(numbers):
    if any(number < 0 for number in numbers):
        os._exit(7)
    return [2 * number for number in numbers]


def test_result_of_work_that_survives_comes_from_another_process():
    assert in_child(lambda _: os.getpid(), [1]) != os.getpid()
    assert in_child(doubled, [1, 2]) == [2, 4]


def test_large_results_come_whole():
    assert in_child(lambda items: [b"x" * 300_000] * 10, [1]) == [b"x" * 300_000] * 10


@pytest.mark.parametrize("killers", [[], [0], [6], [12], [3, 4], [0, 5, 12], list(range(13))])
def test_exactly_what_kills_is_found_and_everything_else_is_done(killers):
    numbers = [-number - 1 if number in killers else number for number in range(13)]
    done, dead = [], []
    for items, result in isolated(doubled, numbers):
        if isinstance(result, Died):
            dead += items
        else:
            assert result == [2 * number for number in items]
            done += items
    assert dead == [number for number in numbers if number < 0]
    assert done == [number for number in numbers if number >= 0]


def test_nothing_to_do_is_done():
    assert list(isolated(doubled, [])) == []


def test_death_says_how():
    assert "exit code 7" in str(in_child(doubled, [-1]))
    assert "SIGKILL" in str(in_child(lambda _: os.kill(os.getpid(), signal.SIGKILL), [1]))


def test_child_that_takes_too_long_is_killed():
    assert in_child(lambda _: time.sleep(60), None, seconds=0.2).is_late


def test_child_in_time_tells_its_result():
    assert in_child(doubled, [1], seconds=30) == [2]


ENDS = {
    "result": lambda: 1,
    "error": lambda: 1 / 0,
    "exit": lambda: os._exit(7),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "no end": lambda: time.sleep(60),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_whatever_becomes_of_a_child_it_is_gone_and_its_parent_is_as_it_was(monkeypatch, end):
    """Invariant of `isolation.children`: the parent is as it was, and the child is gone when it goes on."""
    fork, children, held = os.fork, [], []

    def noted():
        children.append(fork())
        return children[-1]

    def work(_):
        held.append(1)
        return end()

    monkeypatch.setattr(os, "fork", noted)
    before = set(os.listdir("/dev/fd"))
    in_child(work, None, seconds=2)
    assert set(os.listdir("/dev/fd")) <= before
    assert held == []
    (child,) = children
    with pytest.raises(ChildProcessError):
        os.waitpid(child, os.WNOHANG)
