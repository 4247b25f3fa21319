"""A store or its journal that is lost, emptied, set back or exchanged: told at start and by a check, then repaired."""

from __future__ import annotations

import random
import shutil
import threading
import time
from itertools import count
from pathlib import Path
from zlib import crc32

import pytest
from tests.faults.damage import files, flip_bytes
from tests.hub.changes.test_applier import drained, published, uris
from typer.testing import CliRunner

from triplewire import Hub
from triplewire.cli.app import app
from triplewire.documents import Limits
from triplewire.errors import DamagedJournal, StoreBusy
from triplewire.hub.changes.applier import Applier
from triplewire.intake.journal import Journal
from triplewire.intake.journal.entries import _HEAD, _OLD_HEAD, spelled
from triplewire.intake.logs import back_up, log_of
from triplewire.intake.pairs import folder_of, problems, repair
from triplewire.store import Store


def url(folder: Path, name: str = "hub.db") -> str:
    return f"sqlite:///{folder / name}"


def killed_service(folder: Path, *, applied: int = 3, waiting: int = 4, name: str = "hub.db") -> None:
    """A store and a journal as a killed service leaves them."""
    with Hub(url(folder, name), durable=True) as hub:
        log = log_of(hub.store)
        if applied:
            log.append([published(n) for n in range(applied)])
            drained(Applier(hub, Limits()))
            log.applied()
        for n in range(applied, applied + waiting):
            log.append([published(n)])
        with hub.store.writing() as writer:
            known = writer.settings.get("hub.journal.known")
        log.close()
        with hub.store.writing() as writer:
            writer.settings.set("hub.journal.known", known)  # there was no end in peace


def refused(folder: Path, match: str) -> None:
    with Store.open(url(folder)) as store:
        assert list(problems(store)), "a check tells it"
        with pytest.raises(DamagedJournal, match=match):
            log_of(store)
    told = CliRunner().invoke(app, ["store", "check", str(folder / "hub.db")])
    assert told.exit_code == 1
    started = CliRunner().invoke(app, ["serve", str(folder / "hub.db"), "--port", "0"])
    assert started.exit_code != 0
    assert "triplewire store repair" in " ".join(started.output.split())


def repaired(folder: Path) -> list[str]:
    """The documents that are there when the operator has repaired it, and a service has worked and taken more."""
    told = CliRunner().invoke(app, ["store", "repair", str(folder / "hub.db")])
    assert told.exit_code == 0, told.output
    with Hub(url(folder)) as hub:
        assert not list(problems(hub.store))
        log = log_of(hub.store)
        log.append([published(99)])
        drained(Applier(hub, Limits()))
        log.close()
        found = uris(hub)
        assert "urn:doc:99" in found
        return [uri for uri in found if uri != "urn:doc:99"]


def all_of(*numbers: int) -> list[str]:
    return [f"urn:doc:{n}" for n in numbers]


def test_flipped_bytes_lose_one_change_and_the_others_are_applied_in_order(tmp_path):
    killed_service(tmp_path, applied=0, waiting=8)
    (path,) = files(tmp_path / "hub.db.journal")
    data = bytearray(path.read_bytes())
    data[data.index(b"urn:doc:3") - 12] ^= 0xFF
    path.write_bytes(data)
    refused(tmp_path, r"position 4")
    assert repaired(tmp_path) == all_of(0, 1, 2, 4, 5, 6, 7)
    (kept,) = (tmp_path / "hub.db.journal").glob("repaired-*/*.log")
    assert kept.read_bytes() == data, "the file is kept"


def test_deleted_journal(tmp_path):
    killed_service(tmp_path)
    shutil.rmtree(tmp_path / "hub.db.journal")
    refused(tmp_path, "missing")
    assert repaired(tmp_path) == all_of(0, 1, 2)


def test_emptied_journal(tmp_path):
    killed_service(tmp_path)
    for path in files(tmp_path / "hub.db.journal"):
        path.write_bytes(b"")
    refused(tmp_path, "positions 4 to 7")
    assert repaired(tmp_path) == all_of(0, 1, 2)


def test_deleted_files_of_a_journal(tmp_path):
    killed_service(tmp_path)
    for path in files(tmp_path / "hub.db.journal"):
        path.unlink()
    refused(tmp_path, "positions 4 to 7")


def test_lost_write_ahead_log(tmp_path):
    """A store that lost its last commits, beside a journal that has dropped what these had applied."""
    killed_service(tmp_path, applied=3, waiting=0)
    old = (tmp_path / "hub.db").read_bytes()
    with Hub(url(tmp_path)) as hub:
        hub.publish("<urn:s> <urn:p> 1 .", uri="urn:direct")
        log = log_of(hub.store)
        log.applied()
        log.close()
    (tmp_path / "hub.db").write_bytes(old)
    refused(tmp_path, "older than its journal")
    assert repaired(tmp_path) == all_of(0, 1, 2)


def test_store_that_was_set_back_to_before_what_its_journal_dropped(tmp_path):
    killed_service(tmp_path, applied=0, waiting=2)
    old = (tmp_path / "hub.db").read_bytes()
    with Hub(url(tmp_path)) as hub:
        log = log_of(hub.store)
        drained(Applier(hub, Limits()))
        log.append([published(7)])
        log.applied()  # drops the first file
        log.close()
    (tmp_path / "hub.db").write_bytes(old)
    refused(tmp_path, "positions 1 to 2")
    assert repaired(tmp_path) == all_of(7)


def test_empty_store_beside_a_full_journal(tmp_path):
    killed_service(tmp_path)
    (tmp_path / "hub.db").unlink()
    Store.open(url(tmp_path)).close()
    refused(tmp_path, "another store.*4 changes wait")
    assert repaired(tmp_path) == []
    assert list((tmp_path / "hub.db.journal").glob("of-another-store-*/*.log")), "nothing is thrown away"


def test_another_store_beside_a_full_journal(tmp_path):
    killed_service(tmp_path)
    (tmp_path / "b").mkdir()
    killed_service(tmp_path / "b", applied=1, waiting=0)
    shutil.copy(tmp_path / "b" / "hub.db", tmp_path / "hub.db")
    refused(tmp_path, "another store")


def test_new_store_beside_a_journal_in_which_nothing_waits_is_served(tmp_path):
    killed_service(tmp_path, applied=3, waiting=0)
    (tmp_path / "hub.db").unlink()
    with Hub(url(tmp_path)) as hub:
        log = log_of(hub.store)
        log.append([published(1)])
        drained(Applier(hub, Limits()))
        assert uris(hub) == all_of(1)
        log.close()


def test_restored_backup_is_served_and_a_journal_that_was_left_there_is_told(tmp_path):
    killed_service(tmp_path)
    with Store.open(url(tmp_path)) as store:
        assert back_up(store, tmp_path / "backup") == 4
    Store.restore(tmp_path / "backup", url(tmp_path, "elsewhere.db")).close()
    with Hub(url(tmp_path, "elsewhere.db")) as hub:
        log = log_of(hub.store)
        drained(Applier(hub, Limits()))
        assert uris(hub) == all_of(*range(7))
        log.close()
    (tmp_path / "hub.db").unlink()
    Store.restore(tmp_path / "backup", url(tmp_path)).close()
    refused(tmp_path, "another store")
    assert repaired(tmp_path) == all_of(*range(7))


def test_store_that_is_copied_alone_after_an_end_in_peace_is_served(tmp_path):
    with Hub(url(tmp_path)) as hub:
        log = log_of(hub.store)
        log.append([published(1)])
        drained(Applier(hub, Limits()))
        log.close()
    shutil.copy(tmp_path / "hub.db", tmp_path / "copy.db")
    with Hub(url(tmp_path, "copy.db")) as copy:
        assert not list(problems(copy.store))
        log = log_of(copy.store)
        log.append([published(2)])
        drained(Applier(copy, Limits()))
        assert uris(copy) == all_of(1, 2)
        log.close()


def test_store_that_is_copied_alone_while_something_waited_says_what_is_missing(tmp_path):
    with Hub(url(tmp_path)) as hub:
        log = log_of(hub.store)
        log.append([published(1), published(2)])
        log.close()
    shutil.rmtree(tmp_path / "hub.db.journal")
    refused(tmp_path, "positions 1 to 2")


def test_damage_of_what_is_applied_already_is_no_reason_to_refuse(tmp_path):
    with Hub(url(tmp_path)) as hub:
        log = log_of(hub.store)
        log.append([published(n) for n in range(5)])
        drained(Applier(hub, Limits()))
        log.append([published(n) for n in range(5, 8)])
        log.close()
        (path,) = files(folder_of(hub.store.url))
        data = bytearray(path.read_bytes())
        data[data.index(b"urn:doc:2") + 12] ^= 0xFF
        path.write_bytes(data)
        log = log_of(hub.store)
        log.append([published(8)])
        drained(Applier(hub, Limits()))
        assert uris(hub) == all_of(*range(9))
        log.close()


def test_applier_of_a_live_service_stops_at_damage_and_loses_nothing_behind_it(tmp_path):
    killed_service(tmp_path, applied=0, waiting=6)
    flip_bytes(tmp_path / "hub.db.journal", random.Random(3))
    with Hub(url(tmp_path)) as hub, pytest.raises(DamagedJournal):
        drained(Applier(hub, Limits()))
    with Store.open(url(tmp_path)) as store, pytest.raises(DamagedJournal):
        back_up(store, tmp_path / "backup")


def test_journal_of_an_older_version_is_taken_over_with_what_waits_in_it(tmp_path):
    with Hub(url(tmp_path)) as hub:
        folder = folder_of(hub.store.url)
        folder.mkdir()
        old = b""
        for position in (1, 2, 3):
            rest = spelled(bytes(16), position, 0, published(position))[_HEAD.size :]
            old += _OLD_HEAD.pack(crc32(rest, position), len(rest), position) + rest
        (folder / f"{1:020d}.log").write_bytes(old + bytes(16))
        assert not list(problems(hub.store))
        log = log_of(hub.store)
        log.append([published(4)])
        log.close()
        log = log_of(hub.store)
        drained(Applier(hub, Limits()))
        assert uris(hub) == all_of(1, 2, 3, 4)
        assert log.applied() == log.last == 4
        log.close()


def test_file_of_another_journal_among_its_own_is_not_read_and_costs_nothing(tmp_path):
    killed_service(tmp_path)
    old = (tmp_path / "hub.db").read_bytes()
    (tmp_path / "b").mkdir()
    killed_service(tmp_path / "b", applied=0, waiting=20)
    (theirs,) = files(tmp_path / "b" / "hub.db.journal")
    for name in (f"{5:020d}.log", f"{8:020d}.log"):
        shutil.copy(theirs, tmp_path / "hub.db.journal" / name)
    with Hub(url(tmp_path)) as hub:
        drained(Applier(hub, Limits()))
        assert uris(hub) == all_of(*range(7)), "a live reader passes it over"
    (tmp_path / "hub.db").write_bytes(old)
    with Hub(url(tmp_path)) as hub:
        log = log_of(hub.store)
        drained(Applier(hub, Limits()))
        assert uris(hub) == all_of(*range(7))
        log.close()


def test_check_beside_a_live_service_finds_nothing_wrong(tmp_path, monkeypatch):
    """One adds, one applies and drops files, and one checks, all as fast as they can."""
    monkeypatch.setattr(Journal.__init__, "__kwdefaults__", Journal.__init__.__kwdefaults__ | {"longest": 2_000})
    stop = threading.Event()
    with Hub(url(tmp_path)) as hub:
        log, applier = log_of(hub.store), Applier(hub, Limits())

        def add() -> None:
            for n in count():
                if stop.is_set():
                    return
                log.append([published(3 * n + more) for more in range(3)])

        def apply() -> None:
            while not stop.is_set():
                applier.step()
                log.applied()  # drops files

        threads = [threading.Thread(target=work) for work in (add, apply)]
        for thread in threads:
            thread.start()
        try:
            until = time.monotonic() + 2
            while time.monotonic() < until:
                assert not list(problems(hub.store))
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        log.close()


def test_repair_waits_for_nobody_who_adds(tmp_path):
    with Hub(url(tmp_path)) as hub:
        log = log_of(hub.store)
        with pytest.raises(StoreBusy):
            repair(hub.store)
        log.close()


def test_repair_of_what_is_well_loses_nothing_and_may_be_repeated(tmp_path):
    killed_service(tmp_path)
    with Store.open(url(tmp_path)) as store:
        assert repair(store).saved == 4
        assert repair(store).saved == 0
    assert repaired(tmp_path) == all_of(*range(7))


def test_nobody_waits_for_positions_that_were_given_to_nothing(tmp_path):
    """A write that was torn leaves whole entries that were never acknowledged, and they are cut off."""
    with Hub(url(tmp_path)) as hub:
        log = log_of(hub.store)
        log.append([published(1)])
        folder = folder_of(hub.store.url)
        mark = (folder / "mark").read_bytes()
        log.append([published(2), published(3), published(4)])
        log.close()
        (folder / "mark").write_bytes(mark)
        (path,) = files(folder)
        data = bytearray(path.read_bytes())
        data[data.index(b"urn:doc:3")] ^= 0xFF
        path.write_bytes(data)
        log = log_of(hub.store)
        drained(Applier(hub, Limits()))
        assert log.applied() == log.last, "who waits for all that was acknowledged comes to an end"
        assert uris(hub) == all_of(1, 2)
        log.append([published(5)])
        drained(Applier(hub, Limits()))
        assert log.applied() == log.last
        assert uris(hub) == all_of(1, 2, 5)
        log.close()
