"""The journal: what was added is there, in order, wherever files end and writing was cut off."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triplewire.errors import StoreBusy, StoreUnavailable
from triplewire.hub.journal import Journal, JournalReader
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


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    groups=st.lists(st.lists(entries, min_size=1, max_size=5), max_size=6),
    longest=st.integers(1, 400),
    most=st.integers(1, 4),
)
def test_what_was_added_is_read_in_order_in_parts_of_any_size(groups, longest, most):
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


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(first=st.lists(entries, min_size=1, max_size=6), cut=st.integers(0, 2_000), later=entries)
def test_what_was_cut_off_in_the_middle_of_writing_leaves_all_before_it(first, cut, later):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        journal, ends = Journal(folder), []
        path = folder / f"{1:020d}.log"
        for entry in first:
            journal.append([entry])
            ends.append(path.stat().st_size)
        journal.close()
        cut = min(cut, ends[-1])
        with path.open("rb+") as file:
            file.truncate(cut)
        whole = sum(end <= cut for end in ends)
        assert [one.entry for one in read(folder)] == first[:whole]
        journal = Journal(folder)
        assert journal.append([later]) == whole + 1
        assert [one.entry for one in read(folder)] == [*first[:whole], later]
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


def test_journal_that_could_not_be_written_takes_nothing_more(tmp_path, monkeypatch):
    journal = Journal(tmp_path)
    journal.append([NewEntry(READ, "urn:1", None, b"x")])

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.write", full)
        with pytest.raises(StoreUnavailable, match="No space left"):
            journal.append([NewEntry(READ, "urn:2", None, b"x")])
    with pytest.raises(StoreUnavailable, match="restart"):
        journal.append([NewEntry(READ, "urn:3", None, b"x")])
    assert [one.entry.uri for one in read(tmp_path)] == ["urn:1"]
    journal.close()
