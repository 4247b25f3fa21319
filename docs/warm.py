"""`triplewire` out of a process that is warm: it has loaded what commands need, and forks for each of them.

Most of a short command's time is loading, and the examples of the docs are many short commands. `WarmCommand.folder`
is to come first on the PATH: the `triplewire` in it hands its arguments, folder, environment and open files over, and
ends as the command does. What a command does is the same as ever; only what it would load first is there already.
"""

from __future__ import annotations

import json
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType

_LENGTH = 8
_LOST = 70
"""The exit code when the process ended without one."""


class WarmCommand:
    """The warm process, and the folder of the command that asks it."""

    def __init__(self) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="warm")
        self.folder = Path(self._place.name)
        address = str(self.folder / "socket")
        command = self.folder / "triplewire"
        command.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-IS", __file__, "ask", address])} "$@"\n')
        command.chmod(0o700)
        served = [sys.executable, __file__, "serve", address]
        self._process = subprocess.Popen(served, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._stdout.readline()

    def __enter__(self) -> WarmCommand:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process; commands that still run go on."""
        self._stdin.close()
        self._process.wait()
        self._stdout.close()
        self._place.cleanup()


def ask(address: str, arguments: list[str]) -> int:
    """Let the warm process do a command with this one's files; its exit code."""
    told = json.dumps({"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [len(told).to_bytes(_LENGTH, "big")], [0, 1, 2])
        connection.sendall(told)
        ended = connection.recv(1)
    return ended[0] if ended else _LOST


def serve(address: str) -> None:
    """Load everything, then fork for each command that is asked for, until standard input ends."""
    _load()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that have ended
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _do(connection)
            connection.close()


def _load() -> None:
    """What commands use most. The command line itself is not loaded yet: it looks at the environment."""
    from triplewire import Hub

    with Hub(":memory:") as hub:
        hub.subscribe("SELECT ?s { ?s <urn:p> ?o }", id="warm", scope="graph")
        hub.publish("<urn:s> <urn:p> 1 .", uri="urn:warm", media_type="text/turtle")


def _do(connection: socket.socket) -> None:
    """In the fork: become the command, and end as it does."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        length, files, _, _ = socket.recv_fds(connection, _LENGTH, 3)
        told = json.loads(_read(connection, int.from_bytes(length, "big")))
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.chdir(told["folder"])
        os.environ.clear()
        os.environ.update(told["environment"])
        sys.argv = ["triplewire", *told["arguments"]]
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # open until the process ends
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  # and this
        sys.stderr = open(2, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115  # and this
        code = _exit_code()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        connection.sendall(bytes([code]))
        os._exit(code)


def _read(connection: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        found += connection.recv(count - len(found))
    return found


def _exit_code() -> int:
    from triplewire.cli import main

    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    return 0


if __name__ == "__main__":
    todo, address, *arguments = sys.argv[1:]
    if todo == "ask":
        sys.exit(ask(address, arguments))
    sys.path.pop(0)  # this folder, which holds no packages
    serve(address)
