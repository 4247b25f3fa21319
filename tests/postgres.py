"""A real PostgreSQL for the tests: started once for a session, from the server's own binaries, and stopped at the end.

It lives in a temporary folder, listens on a socket in it and nowhere else, and does not wait for the disk. PostgreSQL
refuses to run as root, so root starts it as the user `postgres` (or `nobody`).
"""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path

HOW_TO_GET_IT = (
    "no PostgreSQL server was found: install one (Debian, Ubuntu: apt install postgresql; Fedora: dnf install"
    " postgresql-server; macOS: brew install postgresql), or put the folder of initdb on the PATH"
)

_QUICK = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "max_connections": "60",
    "autovacuum": "off",
}
_SAFE = {name: value for name, value in _QUICK.items() if value != "off"}


def binaries() -> Path | None:
    """The folder of initdb and pg_ctl: the newest of Debian's, or the one on the PATH."""
    found = sorted(
        (path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")),
        key=lambda folder: float(folder.parent.name),
    )
    if found:
        return found[-1]
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def _user() -> str:
    """Who runs the server: whoever runs the tests, unless that is root."""
    if os.geteuid() != 0:
        return getpass.getuser()
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


class PostgresServer:
    """A server; `url` makes a new place in it.

    That is a schema of one database: a database of its own takes the server a fifth of a second, and as much again to
    get to know it.
    """

    def __init__(self, folder: Path, user: str, programs: Path, settings: Mapping[str, str] = _QUICK) -> None:
        self._folder = folder
        self._settings = settings
        self._user = user
        self._numbers = count(1)
        self._control = (programs / "pg_ctl", "-D", folder / "data", "-w")

    def start(self) -> None:
        """Let it run."""
        options = " ".join(f"-c {name}='{value}'" for name, value in self._settings.items())
        options += f" -c unix_socket_directories={self._folder}"
        _run(self._user, *self._control, "-l", self._folder / "log", "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        """End it; whoever is connected is cut off. "fast" keeps what is committed, which this server may lose else."""
        _run(self._user, *self._control, "-m", mode, "stop")

    def processes(self) -> list[int]:
        """The processes of the server: the first, and those that it started."""
        first = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(first)], capture_output=True, text=True)
        return [first, *map(int, listed.stdout.split())]

    def url(self) -> str:
        """The url of a new, empty place."""
        import psycopg

        name, address = f"test_{next(self._numbers)}", f"postgresql://{self._user}@/postgres?host={self._folder}"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"{address}&options=-csearch_path%3D{name}"


@contextmanager
def running(*, is_safe: bool = False) -> Iterator[PostgresServer]:
    """A server for the time of the block; FileNotFoundError says how to get PostgreSQL when there is none.

    One that is safe keeps what it committed, however it ends.
    """
    folder = binaries()
    if folder is None:
        raise FileNotFoundError(HOW_TO_GET_IT)
    user = _user()
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp", ignore_cleanup_errors=True) as place:
        home = Path(place)  # short: the path of a socket has at most about 100 characters
        if os.geteuid() == 0:
            shutil.chown(home, user)
        data = home / "data"
        _run(user, folder / "initdb", "-D", data, "-U", user, "-A", "trust", "-E", "UTF8", "--no-sync", "--no-locale")
        server = PostgresServer(home, user, folder, _SAFE if is_safe else _QUICK)
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _run(user: str, *command: str | Path) -> None:
    words = [str(word) for word in command]
    if os.geteuid() == 0:
        words = [*_becoming(user), *words]
    done = subprocess.run(
        words, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} failed:\n{done.stdout}")


def _becoming(user: str) -> list[str]:
    if shutil.which("runuser"):
        return ["runuser", "-u", user, "--"]
    entry = pwd.getpwnam(user)
    return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]
