"""Services in processes of their own, as a person starts them; killed at the end, if they still run."""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import httpx
from docs.warm import WarmCommand, WarmProcess

from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

COMMAND = [sys.executable, "-m", "triplewire.cli"]
Process = subprocess.Popen[str] | WarmProcess


@cache
def warm() -> WarmCommand:
    """One for all tests of this process; it loads what services need when the first test wants one."""
    found = WarmCommand()
    atexit.register(found.close)
    return found


def command(*arguments: str, cwd: object = None, **environment: str) -> Process:
    """`triplewire` as a process of its own, whose output is to be read.

    It is forked from a warm one, but for an environment that counts from the first moment on (`LD_PRELOAD`).
    """
    env = os.environ | environment
    if "LD_PRELOAD" not in env:
        return warm().start([*arguments], cwd=cwd, env=env)
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*COMMAND, *arguments], cwd=cwd, text=True, env=env, **pipes)


class Running:
    """A process that says things on standard error, which are kept."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.said: list[str] = []
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()

    def _listen(self) -> None:
        for line in self.process.stderr:
            with self._more:
                self.said.append(line.rstrip("\n"))
                self._more.notify_all()
        with self._more:
            self.said.append("")
            self._more.notify_all()

    def heard(self, pattern: str) -> re.Match:
        """Wait until it says something like this."""
        with self._more:
            while True:
                for line in self.said:
                    if found := re.search(pattern, line):
                        return found
                assert "" not in self.said, "\n".join(self.said)
                assert self._more.wait(120), "\n".join(self.said)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def running(folder, *arguments, words=("serve",), **environment) -> Iterator[Running]:
    """A service; or another command that goes on until it is killed."""
    process = command(*words, *arguments, cwd=folder, **environment)
    found = Running(process)
    try:
        yield found
    finally:
        found.kill()
        found._reader.join()
        process.stdout.close()
        process.stderr.close()


@contextmanager
def serving(folder, *arguments, **environment) -> Iterator[tuple[Running, str]]:
    """One with an interface, and where that is."""
    with running(folder, *arguments, "--port", "0", **environment) as found:
        yield found, found.heard(r"https?://[^\s/]+")[0]


def put(client: httpx.Client, url: str, uri: str, text: str) -> httpx.Response:
    return client.put(f"{url}/v1/document", params={"uri": uri}, content=text, headers={"Content-Type": "text/turtle"})


def token_of(folder, tenant: str) -> dict[str, str]:
    """The header of a new publisher of a tenant of the hub in a folder."""
    with Store.open(f"sqlite:///{folder}/hub.db") as store:
        token = Accounts(store).create_token(f"of {tenant}", role="publisher", tenant=tenant)[1]
    return {"Authorization": f"Bearer {token}"}
