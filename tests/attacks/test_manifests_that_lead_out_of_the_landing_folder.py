"""Who may write into a landing folder reads other files of the machine by it: with a manifest, a link, a pipe."""

from __future__ import annotations

import json
import os

import pytest

from triplewire.documents import Limits
from triplewire.errors import DocumentError
from triplewire.intake.entries import change_of
from triplewire.pipeline.streaming.landing import Landing
from triplewire.store import Store

SECRET = "<urn:secret> <urn:p> 'xyzzy' ."


@pytest.fixture
def folder(tmp_path):
    """A landing folder, beside a file that is none of its own."""
    (tmp_path / "secret.ttl").write_text(SECRET)
    made = tmp_path / "landing"
    (made / "below").mkdir(parents=True)
    (made / "below" / "good.ttl").write_text("<urn:good> <urn:p> 1 .")
    return made


@pytest.fixture
def store(tmp_path):
    with Store.open(f"sqlite:///{tmp_path}/hub.db") as opened:
        yield opened


def landed(folder, store):
    """What is read of what has landed, and why what was not is not."""
    Landing(folder, store).look()
    with store.reading() as reader:
        entries = [one.entry for one in reader.intake.entries(0, 1 << 60)]
        reasons = [rejection.reason for rejection in reader.intake.rejected()]
    return entries, reasons


def read(entry) -> bytes:
    return change_of(entry, Limits()).document.ntriples


def manifest(folder, *paths: str):
    lines = "\n".join(json.dumps({"publish": path, "uri": f"urn:doc:{n}"}) for n, path in enumerate(paths))
    (folder / "a.manifest.jsonl").write_text(lines)


def test_a_manifest_names_files_of_the_folder_only(folder, store, tmp_path):
    (folder / "_out.ttl").symlink_to(tmp_path / "secret.ttl")
    (folder / "_way").symlink_to(tmp_path)
    paths = [
        str(tmp_path / "secret.ttl"),
        "../secret.ttl",
        "below/../../secret.ttl",
        "_out.ttl",
        "_way/secret.ttl",
        "below",
        str(folder / "below" / "good.ttl"),
    ]
    manifest(folder, *paths, "below/good.ttl")
    entries, reasons = landed(folder, store)
    named = [entry for entry in entries if entry.uri.startswith("urn:doc:")]
    assert [entry.uri for entry in named] == [f"urn:doc:{len(paths)}"]
    assert b"urn:good" in read(named[0])
    assert len(reasons) == len(paths)
    assert all("a.manifest.jsonl, line" in reason for reason in reasons)


def test_a_link_that_leads_out_is_not_followed(folder, store, tmp_path):
    (folder / "link.ttl").symlink_to(tmp_path / "secret.ttl")
    (tmp_path / "other.manifest.jsonl").write_text(json.dumps({"publish": "secret.ttl"}))
    (folder / "link.manifest.jsonl").symlink_to(tmp_path / "other.manifest.jsonl")
    (folder / "inner.ttl").symlink_to(folder / "below" / "good.ttl")
    entries, reasons = landed(folder, store)
    assert sum("leads out of the folder" in reason for reason in reasons) == 2
    assert all(b"xyzzy" not in read(entry) for entry in entries)
    assert len(entries) == 2, "a link inside of the folder is one"


def test_a_pipe_holds_up_nobody(folder, store):
    os.mkfifo(folder / "pipe.ttl")
    manifest(folder, "pipe.ttl")
    entries, reasons = landed(folder, store)
    assert sum("no plain file" in reason for reason in reasons) == 2
    assert len(entries) == 1


@pytest.mark.parametrize("way", ["link", "folder", "pipe"])
def test_what_is_put_in_the_place_of_a_file_after_it_was_looked_at_is_not_read(folder, store, tmp_path, way):
    manifest(folder, "below/good.ttl")
    entries, _ = landed(folder, store)
    good = folder / "below" / "good.ttl"
    good.unlink()
    if way == "link":
        good.symlink_to(tmp_path / "secret.ttl")
    elif way == "pipe":
        os.mkfifo(good)
    else:
        good.parent.rmdir()
        good.parent.symlink_to(tmp_path)
        (tmp_path / "good.ttl").write_text(SECRET)
    for entry in entries:
        with pytest.raises(DocumentError):
            read(entry)
