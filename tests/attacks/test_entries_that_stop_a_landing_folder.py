"""Who may write into a landing folder drops one entry there, and nothing else that lands is taken any more."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace

import pytest

from triplewire.pipeline.streaming import running
from triplewire.pipeline.streaming.landing import Landing
from triplewire.store import Store


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "landing"
    made.mkdir()
    return made


@pytest.fixture
def store(tmp_path):
    with Store.open(f"sqlite:///{tmp_path}/hub.db") as opened:
        yield opened


def landed(folder, store):
    """The uris that are on the log after two looks, and the reasons of what is set aside."""
    landing = Landing(folder, store)
    for _ in range(2):
        landing.look()
    with store.reading() as reader:
        names = [one.entry.uri.rpartition("/")[2] for one in reader.intake.entries(0, 1 << 60)]
        return names, [rejection.reason for rejection in reader.intake.rejected()]


LINES = {
    "lists in lists": "[" * 100_000,
    "objects in objects": '{"a":' * 100_000,
    "a number that is too long": '{"publish": ' + "1" * 10_000 + "}",
    "a name that is too long": json.dumps({"publish": "a" * 5000}),
    "a path that is too long": json.dumps({"publish": "a/" * 3000}),
    "a name that is very long and unknown": json.dumps({"publish": "x", "b" * 1_000_000: "x"}),
    "links that go round": json.dumps({"publish": "loop/x.ttl"}),
    "half a surrogate pair": '{"publish": "\\ud800"}',
    "NUL": '{"publish": "a\\u0000"}',
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_line_that_cannot_be_read_is_set_aside_alone(folder, store, line):
    """Invariant of `pipeline.streaming.landing`: a bad line is set aside alone."""
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "good.ttl").write_text("")
    (folder / "a.manifest.jsonl").write_text(f'{{"retract": "urn:x/first"}}\n{line}\n{{"retract": "urn:x/last"}}')
    names, (reason,) = landed(folder, store)
    assert sorted(names) == ["first", "good.ttl", "last"]
    assert "a.manifest.jsonl, line 2: " in reason
    assert len(reason) < 1_100


def test_links_that_go_round_are_set_aside_alone(folder, store):
    """Invariant of `pipeline.streaming.landing`: a bad file is set aside alone."""
    (folder / "q.ttl").symlink_to(folder / "q.ttl")
    (folder / "q.ttl.retract").write_text("")
    (folder / "good.ttl").write_text("")
    names, reasons = landed(folder, store)
    assert "good.ttl" in names
    assert any("q.ttl: Too many levels" in reason for reason in reasons)
    assert len(reasons) <= 2


def test_files_below_a_thousand_folders_are_taken(folder, store):
    deep = folder
    for _ in range(1_100):
        deep = deep / "d"
        deep.mkdir()
    (deep / "deep.ttl").write_text("")
    (folder / "good.ttl").write_text("")
    names, reasons = landed(folder, store)
    (deep / "deep.ttl").unlink()
    while deep != folder:  # by hand, because who cleans up after tests goes no deeper than Python does
        deep.rmdir()
        deep = deep.parent
    assert sorted(names) == ["deep.ttl", "good.ttl"]
    assert reasons == []


def test_a_folder_that_no_path_reaches_is_set_aside_once(folder, store):
    """Invariant of `pipeline.streaming.landing`: a bad folder is set aside alone."""
    (folder / "good.ttl").write_text("")
    here = os.open(folder, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=here)
        here, last = os.open("d" * 200, os.O_RDONLY, dir_fd=here), here
        os.close(last)
    os.close(here)
    names, reasons = landed(folder, store)
    assert names == ["good.ttl"]
    assert len(reasons) == 1


def test_the_thread_that_watches_survives_whatever_a_look_raises(tmp_path, monkeypatch):
    """As `Stream.run` starts it, without a Spark."""
    monkeypatch.setattr(running, "_PATIENCE", (0.01,) * 5)
    stop, told, looks = Event(), [], []

    def look():
        looks.append(1)
        if len(looks) > 3:
            stop.set()
        raise (RecursionError("deep"), RuntimeError("loop"), KeyError("x"), OSError("disk"))[len(looks) - 1]

    stream = SimpleNamespace(
        _landing=1, _stop=stop, _look=look, _tell=told.append, _plan=SimpleNamespace(source=Path("in"), interval=0)
    )
    thread = Thread(target=running.Stream._watch, args=(stream,), daemon=True)
    thread.start()
    thread.join(10)
    assert len(looks) == 4
    assert len(told) == 4
