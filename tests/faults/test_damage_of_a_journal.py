"""Whatever becomes of the files of a journal: what was acknowledged is read, or told as gone; nothing else is read."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.faults.damage import DAMAGES, files, flip_bytes

from effort import examples
from triplewire.errors import DamagedJournal
from triplewire.intake.journal import Journal, JournalReader
from triplewire.intake.journal.entries import _KIND, _OLD_HEAD
from triplewire.intake.journal.survey import survey
from triplewire.store import READ, NewEntry

MUCH = 1 << 30


def entry(number: int, size: int = 20) -> NewEntry:
    return NewEntry(READ, f"urn:doc:{number}", None, random.Random(number).randbytes(size))


def written(folder: Path, groups: list[int], longest: int) -> dict[int, NewEntry]:
    """A journal with groups of so many entries; what was acknowledged, by position."""
    journal, kept = Journal(folder, longest=longest), {}
    for count in groups:
        some = [entry(len(kept) + n, size=13 * n) for n in range(1, count + 1)]
        last = journal.append(some)
        kept |= dict(enumerate(some, last - count + 1))
    journal.close()
    return kept


def told_gone(found) -> set[int]:
    return {position for gap in found.gone for position in range(gap.first, gap.last + 1)}


@pytest.mark.parametrize("kind", DAMAGES)
@settings(max_examples=examples(25))
@given(
    groups=st.lists(st.integers(1, 4), min_size=1, max_size=8),
    longest=st.sampled_from([1, 200, 600, MUCH]),
    seed=st.integers(0, 1 << 32),
    taken=st.integers(0, 12),
)
def test_every_acknowledged_entry_is_read_or_told_as_gone(kind, groups, longest, seed, taken):
    """Invariant of `intake.journal`: what was acknowledged is read or told as gone, and nothing is cut off before."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = written(folder, groups, longest)
        taken = min(taken, len(kept))
        DAMAGES[kind](folder, random.Random(seed))
        before = {path.name: path.read_bytes() for path in files(folder)}
        found = survey(folder, taken)
        read = {one.position: one.entry for one in found.entries()}
        assert read.items() <= kept.items(), "nothing that was never acknowledged appears"
        assert list(read) == sorted(read)
        assert read.keys() | told_gone(found) >= {position for position in kept if position > taken}
        assert not read.keys() & told_gone(found), "what is read is not told as gone"
        assert told_gone(found) <= kept.keys()
        try:
            journal = Journal(folder, after=taken)
        except DamagedJournal:
            assert found.gone or not found.is_in_order
            assert {path.name: path.read_bytes() for path in files(folder)} == before, "nothing is touched"
        else:
            assert read == {position: one for position, one in kept.items() if position > taken}
            journal.append([entry(99)])
            journal.close()
            again = JournalReader(folder).after(taken, most=MUCH, most_bytes=MUCH)
            assert [one.entry for one in again] == [*read.values(), entry(99)], "a reader gets along with it"


@pytest.mark.parametrize("kind", DAMAGES)
@settings(max_examples=examples(25))
@given(groups=st.lists(st.integers(1, 4), min_size=2, max_size=8), seed=st.integers(0, 1 << 32))
def test_reader_beside_a_live_service_stops_at_damage_and_says_so(kind, groups, seed):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = written(folder, groups, 200)
        DAMAGES[kind](folder, random.Random(seed))
        read, position, reader = {}, 0, JournalReader(folder)
        while position < len(kept):
            try:
                some = reader.after(position, most=3, most_bytes=MUCH)
            except DamagedJournal:
                break
            assert some, "it waits for nothing, for ever"
            read |= {one.position: one.entry for one in some}
            position = some[-1].position
        assert list(read.items()) == list(kept.items())[: len(read)], "in order, and none left out"


def test_without_its_mark_only_the_last_write_can_be_taken_for_a_torn_tail(tmp_path):
    kept = written(tmp_path, [2, 2, 3], MUCH)
    identity = survey(tmp_path).mark.identity
    (tmp_path / "mark").unlink()
    (path,) = files(tmp_path)
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        data = bytearray(whole)
        data[at] ^= 0xFF
        path.write_bytes(data)
        assert survey(tmp_path).gone or survey(tmp_path).places, "not even the head can be read, and that is told"
        found = survey(tmp_path, identity=identity)
        accounted = {place.position for place in found.places} | told_gone(found)
        assert accounted >= {position for position in kept if position <= 4}, at


def test_entry_inside_of_a_document_is_never_read_as_one(tmp_path):
    """What a publisher sends looks like an entry of the journal, and the entry that holds it is damaged."""
    forged = NewEntry(READ, "urn:forged", None, b"never acknowledged")
    other = tmp_path / "other"
    journal = Journal(other)
    journal.append([entry(0), entry(1), forged])
    journal.close()
    rest = _KIND.pack(READ, 3, -1) + b"u:x"
    old = _OLD_HEAD.pack(crc32(rest, 3), len(rest), 3) + rest
    folder = tmp_path / "own"
    journal = Journal(folder)
    journal.append([NewEntry(READ, "urn:a", None, files(other)[0].read_bytes() + old)])
    journal.append([entry(2)])
    journal.close()
    (path,) = files(folder)
    data = bytearray(path.read_bytes())
    data[60] ^= 1
    path.write_bytes(data)
    found = survey(folder)
    assert [one.entry for one in found.entries()] == [entry(2)]
    assert told_gone(found) == {1}


def test_uris_of_what_is_gone_are_told_where_they_can_be_read(tmp_path):
    written(tmp_path, [1, 1, 1], MUCH)
    (path,) = files(tmp_path)
    data = path.read_bytes()
    content = entry(1, 13).content
    assert content in data
    path.write_bytes(data.replace(content, bytes(len(content)), 1))
    with pytest.raises(DamagedJournal, match=r"position 1 \(urn:doc:1\).*triplewire store repair"):
        Journal(tmp_path)


def test_journal_of_an_older_version_is_read_and_its_damage_is_told(tmp_path):
    def spelled(position: int) -> bytes:
        rest = _KIND.pack(READ, 5, -1) + f"urn:{position}".encode() + b"content"
        return _OLD_HEAD.pack(crc32(rest, position), len(rest), position) + rest

    path = tmp_path / f"{1:020d}.log"
    whole = b"".join(map(spelled, (1, 2, 3)))
    path.write_bytes(whole + bytes(16))
    reader = JournalReader(tmp_path)
    assert [one.entry.uri for one in reader.after(0, most=9, most_bytes=MUCH)] == ["urn:1", "urn:2", "urn:3"]
    journal = Journal(tmp_path)
    journal.append([NewEntry(READ, "urn:4", None, b"")])
    journal.close()
    assert [one.entry.uri for one in reader.after(0, most=9, most_bytes=MUCH)][3:] == ["urn:4"]
    path.write_bytes(whole.replace(b"urn:2content", b"urn:2cantent"))
    with pytest.raises(DamagedJournal, match=r"position 2 \(urn:2\)"):
        Journal(tmp_path)


def test_start_is_refused_and_no_file_is_touched_when_bytes_in_the_middle_are_flipped(tmp_path):
    written(tmp_path, [1] * 20, MUCH)
    (path,) = files(tmp_path)
    for seed in range(10):
        whole = path.read_bytes()
        flip_bytes(tmp_path, random.Random(seed))
        damaged = path.read_bytes()
        with pytest.raises(DamagedJournal):
            Journal(tmp_path)
        assert path.read_bytes() == damaged
        path.write_bytes(whole)
