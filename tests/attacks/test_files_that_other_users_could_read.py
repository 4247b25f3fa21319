"""Another user of the machine looks into what a hub keeps in files, with the umask at its widest."""

from __future__ import annotations

import logging
import os
import stat

import pytest

from hub.serving import serving
from triplewire import Hub
from triplewire.intake.journal import Journal
from triplewire.intake.logs import back_up
from triplewire.store import Store
from triplewire.store.files import private_folder


@pytest.fixture
def open_to_all():
    """Whoever makes a file without a thought makes it for everybody."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder) -> dict[str, str]:
    """Everything below a folder that others than its owner may use."""
    return {
        str(path.relative_to(folder)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in folder.rglob("*")
        if stat.S_IMODE(path.stat().st_mode) & 0o077
    }


@pytest.mark.usefixtures("open_to_all")
def test_nobody_else_reads_what_a_service_keeps(tmp_path):
    folder = tmp_path / "hub"
    folder.mkdir()
    with serving(f"sqlite:///{folder}/hub.db", reach="127.0.0.0/8") as served:
        served.subscribe("a", "SELECT ?s { ?s <urn:p> ?o }")
        assert served.send_in("urn:d", "<urn:s> <urn:p> 1 .").status_code == 202
        assert served.publish("urn:e", "<urn:s> <urn:p> 2 .").is_success
        hook = {"url": "http://127.0.0.1:9/hook"}
        assert served.post("/v1/subscriptions/a/deliveries", json=hook).is_success, "it has a secret, and so a key"
        assert {"hub.db", "hub.db-wal", "hub.db.journal", "hub.db.secrets-key"} <= {p.name for p in folder.iterdir()}
        assert modes(folder) == {}
        back_up(served.hub.store, folder / "backup.db")
        assert modes(folder) == {}
    Store.restore(folder / "backup.db", f"sqlite:///{folder}/restored.db").close()
    assert modes(folder) == {}


def test_what_was_open_to_all_is_closed_and_that_is_told(tmp_path, caplog):
    path = tmp_path / "hub.db"
    with Hub(f"sqlite:///{path}") as hub:
        hub.publish("<urn:s> <urn:p> 1 .", uri="urn:d")
        for each in tmp_path.iterdir():
            each.chmod(0o644)
        journal = tmp_path / "journal"
        journal.mkdir(mode=0o755)
        journal.chmod(0o755)
        with caplog.at_level(logging.WARNING):
            Store.open(f"sqlite:///{path}").close()
            Journal(journal).close()
        assert modes(tmp_path) == {}
    assert "hub.db was open to all users of this machine (644)" in caplog.text
    assert "journal was open to all users" in caplog.text


def test_what_is_open_to_a_group_on_purpose_stays_so(tmp_path):
    path = tmp_path / "hub.db"
    Store.open(f"sqlite:///{path}").close()
    path.chmod(0o660)
    Store.open(f"sqlite:///{path}").close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o770)
    private_folder(shared)
    assert stat.S_IMODE(shared.stat().st_mode) == 0o770


def test_a_store_that_is_open_keeps_its_locks_when_it_is_opened_again(tmp_path):
    """To open and close the file itself, to look at its mode, would drop the locks of the whole process."""
    url = f"sqlite:///{tmp_path}/hub.db"
    with Store.open(url) as store, store.writing() as writer:
        writer.settings.set("x", 1)
        before = held(tmp_path / "hub.db")
        with Store.open(url) as again, again.reading() as reader:
            assert reader.settings.get("x") is None
        assert held(tmp_path / "hub.db") >= before


def held(path) -> int:
    """How many locks this process has on a store's files."""
    inodes = {f":{each.stat().st_ino} " for each in path.parent.iterdir() if each.name.startswith(path.name)}
    with open("/proc/locks") as locks:
        return sum(any(inode in line for inode in inodes) for line in locks)
