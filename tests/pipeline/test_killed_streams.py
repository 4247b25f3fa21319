"""A driver that is killed at any moment leaves whole batches, and the next one counts none twice (X8)."""

from __future__ import annotations

import random
import time

import pytest
from tests.pipeline.drivers import Driver, Story


def live(url: str, folder, kills: int) -> None:
    chance = random.Random(kills)
    story = Story(url)
    left = []
    for _ in range(kills):
        story.send(12)
        with Driver(url, folder, "--most", "1", "--small", str(chance.choice((0, 50_000)))) as driver:
            story.wait_for(story.left() - 1, driver)
            time.sleep(chance.uniform(0.0, 2.0))
            driver.kill()
        assert list(story.hub.store.problems()) == []
        left.append(story.left())
    with Driver(url, folder, "--most", "1", "--once") as driver:
        assert driver.end() == 0, driver.said
    assert story.left() == 0
    assert story.applied() == story.sent
    story.check_all()
    assert all(left), "all were killed at work"
    story.hub.close()


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_drivers_killed_at_any_moment_leave_every_event_once(new_url, tmp_path, kills):
    live(new_url("sqlite"), tmp_path, kills)


@pytest.mark.slow
def test_a_driver_that_is_asked_to_stop_ends_between_two_batches(new_url, tmp_path):
    story = Story(new_url("sqlite"))
    story.send(5)
    with Driver(story.url, tmp_path, "--most", "1") as driver:
        story.wait_for(3, driver)
        assert driver.ask_to_stop() == 0
        assert "stopping" in driver.said
    with Driver(story.url, tmp_path, "--most", "1", "--once") as driver:
        assert driver.end() == 0, driver.said
    story.check_all()
    story.hub.close()
