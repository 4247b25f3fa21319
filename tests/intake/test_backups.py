"""A backup holds every change that was acknowledged before it began: applied, or waiting; never both, never neither."""

from __future__ import annotations

import threading
import time
from itertools import count

from tests.hub.changes.test_applier import drained, published, uris

from triplewire import Hub
from triplewire.documents import Limits
from triplewire.hub.changes.applier import Applier
from triplewire.intake.journal import HeldJournal, Journal
from triplewire.intake.logs import back_up, log_of
from triplewire.intake.pairs import folder_of
from triplewire.store import Store


def restored(path, url) -> Hub:
    Store.restore(path, url).close()
    return Hub(url)


def test_what_waits_is_in_the_backup_and_is_applied_after_it_was_restored(new_url, tmp_path):
    with Hub(new_url("sqlite")) as hub:
        log = log_of(hub.store)
        log.append([published(n) for n in range(4)])
        drained(Applier(hub, Limits()))
        log.append([published(n) for n in range(4, 7)])
        assert back_up(hub.store, tmp_path / "backup") == 3
        drained(Applier(hub, Limits()))
        assert back_up(hub.store, tmp_path / "later") == 0
        log.close()
    for kind in ("sqlite", "postgresql"):
        with restored(tmp_path / "backup", new_url(kind)) as again:
            assert len(uris(again)) == 4
            drained(Applier(again, Limits()))
            assert uris(again) == [f"urn:doc:{n}" for n in range(7)]
            log = log_of(again.store)
            log.append([published(7)])
            drained(Applier(again, Limits()))
            assert len(uris(again)) == 8, "new changes follow those of the backup"
            log.close()


def test_a_store_without_a_journal_has_all_of_it_in_its_own_log(new_url, tmp_path):
    with Hub(new_url("postgresql")) as hub:
        log_of(hub.store).append([published(1)])
        assert back_up(hub.store, tmp_path / "backup") == 1
        assert not (tmp_path / "backup.journal").exists()


def test_what_is_dropped_while_it_is_held_is_still_there(tmp_path):
    journal = Journal(tmp_path, longest=1)
    for n in range(5):
        journal.append([published(n)])
    with HeldJournal(tmp_path) as held:
        journal.drop(4)
        assert [one.position for one in held.after(1)] == [2, 3, 4, 5]
        journal.append([published(5)])
        assert [one.position for one in held.after(3)] == [4, 5, 6], "what is added is there, too"
        journal.append([published(6)])
        journal.append([published(7)])
        journal.drop(7)
        assert [one.position for one in held.after(5)] == [6], "what follows something that nobody knows is not"
    journal.close()


def test_backups_beside_a_live_service_are_whole(new_url, tmp_path, monkeypatch):
    """One adds, one applies and drops files, and one backs up, all as fast as they can."""
    monkeypatch.setattr(Journal.__init__, "__kwdefaults__", Journal.__init__.__kwdefaults__ | {"longest": 2_000})
    hub, stop, acknowledged = Hub(new_url("sqlite")), threading.Event(), [0]
    hub.subscribe("SELECT ?s ?o { ?s <urn:p> ?o }", id="all")
    log, applier = log_of(hub.store), Applier(hub, Limits())

    def add() -> None:
        for n in count():
            if stop.is_set():
                return
            log.append([published(3 * n + more, "<urn:s{0}> <urn:p> {0} .") for more in range(3)])
            acknowledged[0] = 3 * n + 3
            time.sleep(0.002)

    def apply() -> None:
        while not stop.is_set():
            applier.step()
            log.applied()  # drops files

    threads = [threading.Thread(target=work) for work in (add, apply)]
    for thread in threads:
        thread.start()
    made = []
    try:
        for number in range(6):
            time.sleep(0.2)
            before = acknowledged[0]
            waiting = back_up(hub.store, tmp_path / f"{number}.backup")
            made.append((before, waiting, acknowledged[0]))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert acknowledged[0] > 50
    assert any(waiting for _, waiting, _ in made)
    assert (folder_of(hub.store.url) / f"{1:020d}.log").exists() is False, "files were dropped meanwhile"
    log.close()
    hub.close()
    for number, (before, _, after) in enumerate(made):
        with restored(tmp_path / f"{number}.backup", new_url("sqlite")) as again:
            drained(Applier(again, Limits()))
            found = {int(uri.removeprefix("urn:doc:")) for uri in uris(again)}
            assert found == set(range(len(found))), "none is left out"
            assert before <= len(found) <= after + 3
            told = [event.kind for event in again.events("all", limit=100_000)]
            assert told == ["matched"] * len(found), "and none is applied twice"
