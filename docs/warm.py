"""`triplewire` out of a process that is warm: it has loaded what commands need, and forks for each of them.

Most of a short command's time is loading, and the examples of the docs, and the tests, are many short commands. What a
command does is the same as ever; only what it would load first is there already. There are two ways to it:

- `WarmCommand.folder` is to come first on the PATH: the `triplewire` in it hands its arguments, folder, environment and
  open files over, and ends as the command does.
- `WarmCommand.start` gives a `WarmProcess`, which is used as one of `subprocess` is: a real process with a number, that
  can be killed.

Each command has a parent of its own, which waits for it and says how it has ended.
"""

from __future__ import annotations

import gc
import json
import os
import random
import select
import shlex
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import IO, Any

_LENGTH = struct.Struct("!Q")
_WHO = struct.Struct("!q")
"""Of a command's number, when it has begun; and of how it has ended, as `subprocess` says it: negative for a signal."""
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

    def start(
        self,
        arguments: list[str],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        start_new_session: bool = False,
    ) -> WarmProcess:
        """The command with these arguments, which reads nothing; what it says is to be read from the process."""
        about = {"arguments": arguments, "folder": str(cwd or os.getcwd()), "is_apart": start_new_session}
        about["environment"] = dict(os.environ if env is None else env)
        pipes = [os.pipe(), os.pipe()]
        with open(os.devnull, "rb") as nothing:
            connection = _asked(str(self.folder / "socket"), about, [nothing.fileno(), *(pipe[1] for pipe in pipes)])
        for pipe in pipes:
            os.close(pipe[1])
        return WarmProcess(connection, *(open(pipe[0], encoding="utf-8") for pipe in pipes))

    def close(self) -> None:
        """End the process; commands that still run go on."""
        self._stdin.close()
        self._process.wait()
        self._stdout.close()
        self._place.cleanup()


class WarmProcess:
    """A command that runs: as much of `subprocess.Popen` as its users need."""

    def __init__(self, connection: socket.socket, stdout: IO[str], stderr: IO[str]) -> None:
        self._connection = connection
        self.stdout, self.stderr = stdout, stderr
        self.pid: int = _WHO.unpack(_read(connection, _WHO.size))[0]
        self.returncode: int | None = None

    def __enter__(self) -> WarmProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stdout.close()
        self.stderr.close()
        self.wait()

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it, in the middle of whatever it does."""
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """How it has ended; None while it runs."""
        if self.returncode is None and select.select([self._connection], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """How it has ended, when it has: negative for a signal. `TimeoutExpired` if it has not by then."""
        if self.returncode is None:
            if not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(["triplewire"], timeout or 0)
            self.returncode = _ended(self._connection)
            self._connection.close()
        return self.returncode


def _asked(address: str, about: dict[str, object], files: list[int]) -> socket.socket:
    """The connection over which the warm process tells of a command that it has been asked for."""
    told = json.dumps(about).encode()
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    socket.send_fds(connection, [_LENGTH.pack(len(told))], files)
    connection.sendall(told)
    return connection


def _ended(connection: socket.socket) -> int:
    found = _read(connection, _WHO.size)
    return int(_WHO.unpack(found)[0]) if found else _LOST


def ask(address: str, arguments: list[str]) -> int:
    """Let the warm process do a command with this one's files; its exit code."""
    about: dict[str, object] = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
    with _asked(address, about, [0, 1, 2]) as connection:
        _read(connection, _WHO.size)
        status = _ended(connection)
    return status if status >= 0 else 128 - status


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
                _attend(connection)
            connection.close()


def _attend(connection: socket.socket) -> None:
    """In the first fork: begin the command in another one, and tell who it is and how it has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, files, _, _ = socket.recv_fds(connection, _LENGTH.size, 3)
    told = json.loads(_read(connection, _LENGTH.unpack(length)[0]))
    command = os.fork()
    if command == 0:
        connection.close()
        _do(told, files)
    for number in {0, 1, 2, *files}:
        os.close(number)
    try:
        connection.sendall(_WHO.pack(command))
        connection.sendall(_WHO.pack(os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])))
    finally:
        os._exit(0)


_LOADED = ("httpx", "uvicorn", "websockets", "triplewire.hub.app", "triplewire.hub.sparql.process", "triplewire.client")
"""What a service, and who speaks to one, would load; the command line itself looks at the environment when it is."""


def _load() -> None:
    from triplewire import Hub

    for name in _LOADED:
        import_module(name)
    with Hub(":memory:") as hub:
        hub.subscribe("SELECT ?s { ?s <urn:p> ?o }", id="warm", scope="graph")
        hub.publish("<urn:s> <urn:p> 1 .", uri="urn:warm", media_type="text/turtle")
    gc.freeze()  # what is there now is shared by all forks, as long as nobody touches it


def _do(told: dict[str, Any], files: list[int]) -> None:
    """In the second fork: become the command, and end as it does."""
    code = 1
    try:
        if told.get("is_apart"):
            os.setsid()
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.chdir(told["folder"])
        os.environ.clear()
        os.environ.update(told["environment"])
        random.seed()
        sys.argv = ["triplewire", *told["arguments"]]
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # open until the process ends
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  # and this
        sys.stderr = open(2, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115  # and this
        code = _exit_code()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _read(connection: socket.socket, count: int) -> bytes:
    """This many bytes, or as many as there are before the other side ends."""
    found = b""
    while len(found) < count and (more := connection.recv(count - len(found))):
        found += more
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
