"""Services in processes of their own, as a person starts them; killed at the end, if they still run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

COMMAND = [sys.executable, "-m", "triplewire.cli"]


class Running:
    """A process that says things on standard error, which are kept."""

    def __init__(self, process: subprocess.Popen) -> None:
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
def running(folder, *arguments, command=("serve",), **environment) -> Iterator[Running]:
    """A service; or another command that goes on until it is killed."""
    process = subprocess.Popen(
        [*COMMAND, *command, *arguments], cwd=folder, stderr=subprocess.PIPE, text=True, env=os.environ | environment
    )
    found = Running(process)
    try:
        yield found
    finally:
        found.kill()
        found._reader.join()
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
