"""A mark that is lost or damaged could hide that the end of a journal is cut: told at start and by a check."""

from __future__ import annotations

import os
import random
from zlib import crc32

import pytest
from tests.faults.damage import files
from tests.faults.test_store_and_journal_apart import all_of, killed_service, refused, repaired, url

from triplewire.errors import DamagedJournal
from triplewire.intake.journal import Journal
from triplewire.intake.journal.entries import _KIND, _OLD_HEAD
from triplewire.intake.logs import log_of
from triplewire.intake.pairs import problems
from triplewire.store import READ, Store


def lose(mark):
    mark.unlink()


def make_a_folder(mark):
    mark.unlink()
    mark.mkdir()


def change_a_byte(mark):
    data = bytearray(mark.read_bytes())
    data[20] ^= 1
    mark.write_bytes(data)


WAYS = {
    "removed": lose,
    "emptied": lambda mark: mark.write_bytes(b""),
    "zeros": lambda mark: mark.write_bytes(bytes(48)),
    "noise": lambda mark: mark.write_bytes(random.Random(3).randbytes(48)),
    "one byte": change_a_byte,
    "cut": lambda mark: mark.write_bytes(mark.read_bytes()[:30]),
    "a folder": make_a_folder,
}


def cut(folder, count):
    path = files(folder)[-1]
    with path.open("rb+") as file:
        file.truncate(path.stat().st_size - count)


@pytest.mark.parametrize("way", WAYS)
def test_a_mark_that_cannot_be_read_is_told_and_repaired(tmp_path, way):
    killed_service(tmp_path)
    WAYS[way](tmp_path / "hub.db.journal" / "mark")
    refused(tmp_path, "its mark is lost or damaged.*position 7 was.*store repair")
    assert repaired(tmp_path) == all_of(*range(7))


@pytest.mark.parametrize("way", ["removed", "noise"])
@pytest.mark.parametrize("count", [30, 200])
def test_a_cut_tail_is_not_hidden_by_a_lost_mark(tmp_path, way, count):
    killed_service(tmp_path)
    folder = tmp_path / "hub.db.journal"
    WAYS[way](folder / "mark")
    cut(folder, count)
    size = files(folder)[-1].stat().st_size
    refused(tmp_path, "its mark is lost or damaged")
    assert files(folder)[-1].stat().st_size == size, "nothing is cut off before somebody has decided"
    saved = repaired(tmp_path)
    assert saved == all_of(*range(len(saved)))
    assert 3 <= len(saved) < 7


def test_a_journal_of_an_older_version_never_had_a_mark_and_is_taken_over(tmp_path):
    rest = _KIND.pack(READ, 5, -1) + b"urn:1content"
    (tmp_path / f"{1:020d}.log").write_bytes(_OLD_HEAD.pack(crc32(rest, 1), len(rest), 1) + rest)
    (tmp_path / f"{2:020d}.log").write_bytes(b"")
    journal = Journal(tmp_path)
    assert journal.last == 1
    journal.close()


def test_a_service_that_is_killed_before_its_first_mark_starts_again(tmp_path):
    (tmp_path / "mark").write_bytes(b"")
    Journal(tmp_path).close()
    Journal(tmp_path).close()


STRANGERS = {
    "a folder": lambda path: path.mkdir(),
    "a pipe": os.mkfifo,
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "a link to itself": lambda path: path.symlink_to(path.name),
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_what_has_the_name_of_a_file_and_is_none_is_told_and_set_aside(tmp_path, kind):
    killed_service(tmp_path)
    STRANGERS[kind](tmp_path / "hub.db.journal" / f"{50:020d}.log")
    refused(tmp_path, "50.log has the name of one of its files, and is no file")
    assert repaired(tmp_path) == all_of(*range(7))


def test_a_folder_in_a_journal_of_which_nothing_else_is_left_is_told(tmp_path):
    with Store.open(url(tmp_path)) as store:
        log_of(store).close()
        folder = tmp_path / "hub.db.journal"
        for path in [*files(folder), folder / "mark"]:
            path.unlink()
        assert not list(problems(store))
        (folder / f"{1:020d}.log").mkdir()
        assert list(problems(store))
        with pytest.raises(DamagedJournal, match="is no file"):
            log_of(store)
