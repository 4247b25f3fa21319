"""Files: what a hub keeps in them is for the user who runs it, whatever the umask says, and on the disk for good.

A store has documents that are not for everybody, hashes of tokens, and perhaps secrets. New files are made with 0600,
new folders with 0700. Ones that others may read are from before that was so, and are closed; ones that are open to a
group and to nobody else are so on purpose, and stay.
"""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

log = logging.getLogger("triplewire.store")

_FILE, _FOLDER = 0o600, 0o700
_OF_SQLITE = ("", "-wal", "-shm", "-journal")


def private_file(path: Path) -> None:
    """Make a file that only its owner can read and write, or let one that is there be so.

    One that is there is not opened: when a process closes any handle of a file, it loses all locks that it has on it,
    and SQLite's are among them.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, _FILE))
    except FileExistsError:
        close(path)
    except OSError:  # the database that opens it next says why
        return


def private_store(path: Path) -> None:
    """The same for a store of SQLite, and for the files that it has beside it, which get the mode of the first."""
    path = path.resolve()
    private_file(path)
    for suffix in _OF_SQLITE[1:]:
        close(path.with_name(path.name + suffix))


def private_folder(path: Path) -> None:
    """Make a folder that only its owner can look into, or let one that is there be so."""
    path.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
    close(path)


def close(path: Path) -> None:
    """Take from others what they may do with a file or folder, and say so; if that cannot be done, say that."""
    try:
        mode = stat.S_IMODE(path.lstat().st_mode)
    except OSError:
        return
    if not mode & 0o007 or path.is_symlink():
        return
    wanted = _FOLDER if path.is_dir() else _FILE
    try:
        path.chmod(wanted)
    except OSError as error:
        log.warning("%s is open to all users of this machine (%o), and stays so: %s", path, mode, error.strerror)
    else:
        log.warning("%s was open to all users of this machine (%o); now it is for its owner (%o)", path, mode, wanted)


def sync_folder(folder: Path) -> None:
    """Let the names in a folder be on the disk; without it, a machine that loses power may forget a new file."""
    opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
