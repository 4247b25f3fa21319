"""Ctrl-C and a service manager's SIGTERM reach all processes of a command: it ends in a sentence, and loses nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.pipeline.drivers import PATIENCE, Driver, Story

from triplewire.hub.pipeline.process import ALIVE, READY
from triplewire.hub.settings import Settings


def tree_of(pid: int) -> list[int]:
    """A process and all that it has started, directly or not."""
    found = [pid]
    for one in found:
        for thread in Path(f"/proc/{one}/task").glob("*/children"):
            with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
                found += map(int, thread.read_text().split())
    return found


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except FileNotFoundError:
        return ""


def send(number: int, pids: list[int]) -> None:
    for pid in pids:
        if name_of(pid):
            os.kill(pid, number)


def eventually_gone(pids: list[int]) -> None:
    until = time.monotonic() + PATIENCE
    while any(name_of(pid) == "java" for pid in pids):
        assert time.monotonic() < until, "Java has stayed behind"
        time.sleep(0.1)


@pytest.mark.slow
def test_a_stream_whose_processes_all_get_sigterm_ends_between_two_batches(new_url, tmp_path):
    """As systemd does it. Spark's Python may end of it; what it was doing is done again, or by the next run."""
    story = Story(new_url("sqlite"))
    story.send(6)
    with Driver(story.url, tmp_path, "--most", "1") as driver:
        story.wait_for(4, driver)
        tree = tree_of(driver.process.pid)
        assert "java" in map(name_of, tree)
        send(signal.SIGTERM, tree)
        assert driver.end() == 0, driver.said
        assert "stopping" in driver.said
        assert "Traceback" not in driver.said
        assert "Py4J" not in driver.said
        eventually_gone(tree)
    with Driver(story.url, tmp_path, "--most", "1", "--once") as driver:
        assert driver.end() == 0, driver.said
    story.check_all()
    story.hub.close()


@pytest.mark.slow
def test_a_stream_whose_java_is_killed_says_so(new_url, tmp_path):
    story = Story(new_url("sqlite"))
    story.send(6)
    with Driver(story.url, tmp_path, "--most", "1") as driver:
        story.wait_for(4, driver)
        send(signal.SIGKILL, [pid for pid in tree_of(driver.process.pid) if name_of(pid) == "java"])
        assert driver.end() == 2, driver.said
        assert "triplewire: Spark's Java process has ended" in driver.said
    with Driver(story.url, tmp_path, "--most", "1", "--once") as driver:
        assert driver.end() == 0, driver.said
    story.check_all()
    story.hub.close()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_batch_that_is_interrupted_leaves_nothing_half_done(tmp_path, number):
    folder, out = tmp_path / "documents", tmp_path / "answers"
    folder.mkdir()
    for name in range(300):
        lines = [f"<urn:d{name}x{n}> <urn:size> {n} ." for n in range(300)]
        (folder / f"{name}.ttl").write_text("\n".join(lines))
    (tmp_path / "big.rq").write_text("SELECT ?d ?n { ?d <urn:size> ?n FILTER(?n > 9) }")
    command = [sys.executable, "-m", "triplewire.cli", "match", "-s", str(tmp_path / "big.rq"), str(folder)]
    command += ["--out", str(out), "--master", "local[2]"]
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "is ready on" not in process.stderr.readline():
            assert process.poll() is None
        tree = tree_of(process.pid)
        os.killpg(process.pid, number)
        said = process.stderr.read()
    assert process.returncode == 128 + number
    assert said == f"interrupted; {out} has no answers, and a new run begins from nothing\n"
    assert not out.exists()
    eventually_gone(tree)


def test_the_pipeline_of_a_service_ends_by_sigterm_as_by_the_end_of_its_input(tmp_path):
    settings = Settings(store=f"sqlite:///{tmp_path}/hub.db", pipeline="engine")
    command = [sys.executable, "-m", "triplewire.hub.pipeline.process"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(settings.plain()) + "\n")
        process.stdin.flush()
        while (said := process.stdout.readline().strip()) == ALIVE:
            pass
        assert said == READY
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
