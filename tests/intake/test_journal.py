"""The journal: what was added is there, in order, wherever files end and writing was cut off."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from effort import examples
from triplewire.errors import StoreBusy, StoreUnavailable
from triplewire.intake.journal import Journal, JournalReader
from triplewire.store import READ, RETRACT, UNREAD, NewEntry

MUCH = 1 << 30
entries = st.builds(
    NewEntry,
    st.sampled_from([UNREAD, READ, RETRACT]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
    st.none() | st.sampled_from(["", "text/turtle"]),
    st.binary(max_size=200),
)


def read(folder, after=0, most=MUCH):
    return JournalReader(folder).after(after, most=most, most_bytes=MUCH)


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    groups=st.lists(st.lists(entries, min_size=1, max_size=5), max_size=6),
    longest=st.integers(1, 400),
    most=st.integers(1, 4),
)
def test_what_was_added_is_read_in_order_in_parts_of_any_size(groups, longest, most):
    """Invariant of `intake.journal`: positions grow by one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        journal, reader, seen, position = Journal(folder, longest=longest), JournalReader(folder), [], 0
        for group in groups:
            assert journal.append(group) == journal.last
            while some := reader.after(position, most=most, most_bytes=MUCH):
                assert len(some) <= most
                assert [one.position for one in some] == list(range(position + 1, position + 1 + len(some)))
                seen += [one.entry for one in some]
                position = some[-1].position
        assert seen == [entry for group in groups for entry in group]
        journal.close()


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    first=st.lists(entries, min_size=1, max_size=6),
    torn=st.lists(entries, min_size=1, max_size=4),
    cut=st.integers(0, 2_000),
    later=entries,
)
def test_what_was_cut_off_in_the_middle_of_writing_leaves_all_before_it(first, torn, cut, later):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        journal, path = Journal(folder), folder / f"{1:020d}.log"
        journal.append(first)
        mark, end = (folder / "mark").read_bytes(), path.stat().st_size
        journal.append(torn)
        journal.close()
        (folder / "mark").write_bytes(mark)  # the process died before it was acknowledged
        with path.open("rb+") as file:
            file.truncate(max(end, path.stat().st_size - 1 - cut))
        some = read(folder)
        assert [one.entry for one in some] == [*first, *torn][: len(some)]
        assert len(first) <= len(some) < len(first) + len(torn)
        journal = Journal(folder)
        assert journal.append([later]) > len(some)
        assert [one.entry for one in read(folder)] == [*[one.entry for one in some], later]
        journal.close()


def test_zeros_at_the_end_are_no_entry(tmp_path):
    journal = Journal(tmp_path)
    journal.append([NewEntry(READ, "urn:a", None, b"first")])
    journal.close()
    (path,) = tmp_path.glob("*.log")
    for count in (1, 16, 28, 4096):
        with path.open("ab") as file:
            file.write(bytes(count))
        assert [one.entry.uri for one in read(tmp_path)] == ["urn:a"]
    journal = Journal(tmp_path)
    assert journal.append([NewEntry(READ, "urn:b", None, b"second")]) == 2
    assert [one.entry.uri for one in read(tmp_path)] == ["urn:a", "urn:b"]
    journal.close()


def test_damage_is_not_read_as_an_entry(tmp_path):
    journal = Journal(tmp_path)
    journal.append([NewEntry(READ, "urn:a", None, b"first"), NewEntry(READ, "urn:b", None, b"second")])
    (path,) = tmp_path.glob("*.log")
    path.write_bytes(path.read_bytes().replace(b"second", b"secomd"))
    assert [one.entry.uri for one in read(tmp_path)] == ["urn:a"]
    journal.close()


def test_one_process_adds_at_a_time(tmp_path):
    journal = Journal(tmp_path)
    with pytest.raises(StoreBusy):
        Journal(tmp_path)
    journal.close()
    Journal(tmp_path).close()


def test_files_go_when_all_of_them_is_applied_and_positions_go_on(tmp_path):
    journal = Journal(tmp_path, longest=1)
    for n in range(4):
        journal.append([NewEntry(READ, f"urn:{n}", None, b"x")])
    journal.drop(2)
    assert [one.position for one in read(tmp_path, after=2)] == [3, 4]
    assert len(list(tmp_path.glob("*.log"))) == 2
    journal.drop(4)
    journal.close()
    for path in tmp_path.glob("*.log"):
        path.unlink()
    journal = Journal(tmp_path, after=4)
    assert journal.append([NewEntry(READ, "urn:5", None, b"x")]) == 5
    journal.close()


def test_journal_goes_on_when_the_disk_takes_something_again(tmp_path, monkeypatch):
    """Invariant of `intake.journal`: no entry gets the position of one that could not be written."""
    journal = Journal(tmp_path)
    journal.append([NewEntry(READ, "urn:1", None, b"x")])
    real, torn = os.write, []

    def full(file, data):
        if torn:
            raise OSError(28, "No space left on device")
        torn.append(data)
        return real(file, data[:20])

    with monkeypatch.context() as patched:
        patched.setattr("os.write", full)
        for _ in range(3):
            with pytest.raises(StoreUnavailable, match="No space left"):
                journal.append([NewEntry(READ, "urn:2", None, b"x")])
        assert "No space left" in journal.failure
        journal.probe()
        assert "No space left" in journal.failure
    journal.probe()
    assert journal.failure is None
    last = journal.append([NewEntry(READ, "urn:3", None, b"x")])
    assert last > 2, "somebody may have read what was refused, under this position"
    assert [one.entry.uri for one in read(tmp_path)] == ["urn:1", "urn:3"]
    assert [one.entry.uri for one in read(tmp_path, after=2)] == ["urn:3"]
    journal.close()
    journal = Journal(tmp_path)
    assert journal.last == last
    journal.close()
