"""A landing folder: what is dropped into it is on the intake log, once, in the order in which it was written."""

from __future__ import annotations

import json
import os

import pytest

from triplewire import Hub
from triplewire.pipeline.streaming.landing import Landing
from triplewire.store import FILE, RETRACT, Store

TURTLE = "<urn:a> <urn:p> 1 ."


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "landing"
    made.mkdir()
    return made


@pytest.fixture
def store(new_url):
    with Store.open(new_url("sqlite")) as opened:
        yield opened


class Clock:
    """Writes files one after the other, whatever the resolution of the file system's clock."""

    def __init__(self, folder):
        self.folder, self.now = folder, 1_700_000_000

    def write(self, name, text=TURTLE):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.now += 1
        os.utime(path, (self.now, self.now))
        return path


@pytest.fixture
def clock(folder):
    return Clock(folder)


def waiting(store):
    """What is on the log, each submission a list; it is taken off."""
    with store.writing() as writer:
        found = {}
        for one in writer.intake.entries(0, 1 << 60):
            found.setdefault(one.position, []).append((one.entry.kind, one.entry.uri))
        writer.intake.take(1 << 60)
    return list(found.values())


def test_files_are_on_the_log_in_the_order_in_which_they_were_written(folder, store, clock):
    paths = [clock.write(name) for name in ("b.ttl", "a.nt", "deep/er/c.jsonld")]
    for other in ("notes.txt", ".hidden.ttl", "_new.ttl", "_data/d.ttl", "e.ttl.tmp"):
        clock.write(other)
    landing = Landing(folder, store)
    assert landing.look() == 3
    assert waiting(store) == [[(FILE, path.as_uri())] for path in paths]
    assert landing.look() == 0
    assert waiting(store) == []


def test_a_file_that_is_written_again_is_on_the_log_again(folder, store, clock):
    landing = Landing(folder, store)
    path = clock.write("a.ttl")
    landing.look()
    clock.write("a.ttl", "<urn:a> <urn:p> 2 .")
    assert landing.look() == 1
    assert waiting(store) == [[(FILE, path.as_uri())]] * 2


def test_another_process_knows_what_was_seen(folder, store, clock):
    clock.write("a.ttl")
    Landing(folder, store).look()
    assert Landing(folder, store).look() == 0


def test_a_marker_takes_a_document_back_and_a_later_file_brings_it_again(folder, store, clock):
    landing = Landing(folder, store)
    uri = clock.write("a.ttl").as_uri()
    clock.write("a.ttl.retract", "")
    landing.look()
    assert waiting(store) == [[(FILE, uri)], [(RETRACT, uri)]]
    clock.write("a.ttl")
    landing.look()
    assert waiting(store) == [[(FILE, uri)]]
    clock.write("a.ttl.retract", "")
    landing.look()
    assert waiting(store) == [[(RETRACT, uri)]]


def test_a_file_that_went_and_comes_back_is_new(folder, store, clock):
    landing = Landing(folder, store)
    path = clock.write("a.ttl")
    landing.look()
    path.unlink()
    assert landing.look() == 0
    clock.now -= 1
    clock.write("a.ttl")
    assert landing.look() == 1
    assert len(waiting(store)) == 2


def test_a_manifest_is_one_submission_and_its_bad_lines_are_set_aside(folder, store, clock):
    data = clock.write("_data/d.ttl")
    lines = [
        json.dumps({"publish": "_data/d.ttl", "uri": "urn:d", "media_type": "text/turtle"}),
        json.dumps({"publish": "_data/d.ttl"}),
        "",
        json.dumps({"retract": "urn:e"}),
        "no json",
        json.dumps({"publish": "a", "retract": "b"}),
        json.dumps({"publish": "a", "colour": "red"}),
        json.dumps({"retract": 5}),
    ]
    clock.write("z.ttl")
    clock.write("monday.manifest.jsonl", "\n".join(lines))
    Landing(folder, store).look()
    with store.reading() as reader:
        refused = [rejection.reason for rejection in reader.intake.rejected()]
    assert waiting(store) == [
        [(FILE, (folder / "z.ttl").as_uri())],
        [(FILE, "urn:d"), (FILE, data.as_uri()), (RETRACT, "urn:e")],
    ]
    assert [reason.partition(", line ")[2][:1] for reason in refused] == ["5", "6", "7", "8"]
    assert "'colour' is not known" in refused[2]


def test_two_folders_of_one_store_do_not_forget_each_others_files(tmp_path, store):
    first, second = tmp_path / "one", tmp_path / "one too"
    for folder in (first, second):
        folder.mkdir()
        Clock(folder).write("a.ttl")
        Landing(folder, store).look()
    assert [Landing(folder, store).look() for folder in (first, second)] == [0, 0]


def test_a_stream_on_a_folder_publishes_changes_and_takes_back(spark, folder, new_url, tmp_path, clock):
    from tests.pipeline.streams import Running, eventually

    url = new_url("sqlite")
    with Hub(url) as hub:
        hub.subscribe("SELECT ?x ?y { ?x <urn:p> ?y }", id="all")
    world = Running(spark, url, tmp_path, source=str(folder))

    def heard():
        return [f"{event.kind} {event.row['y'].value}" for event in world.hub.events("all")]

    try:
        clock.write("a.ttl")
        eventually(lambda: heard() == ["matched 1"], "it is published")
        clock.write("a.ttl", "<urn:a> <urn:p> 2 .")
        eventually(lambda: sorted(heard()[1:]) == ["matched 2", "unmatched 1"], "it is changed")
        clock.write("bad.ttl", "no Turtle")
        clock.write("a.ttl.retract", "")
        eventually(lambda: heard()[3:] == ["unmatched 2"], "it is taken back")
        eventually(world.hub.rejected, "the bad one is set aside")
        assert "bad.ttl" in world.hub.rejected()[0].reason
    finally:
        world.close()
