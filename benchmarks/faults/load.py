"""Load: publishers that change documents as fast as they are answered, and remember what they were told.

Each publisher has documents of its own and changes one after the other, so that of each document it is known which
change was acknowledged last, and whether one after it has an unknown fate: the connection was cut before the answer.
"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field

import httpx

PREFIXES = "@prefix : <urn:faults:> .\n"
DOCUMENTS, ORGANISATIONS = 25, 5
"""Of each publisher."""


@dataclass(slots=True)
class Fate:
    """A document: the content that was acknowledged last (None: retracted), and those that may have come after it."""

    acknowledged: str | None = None
    possible: list[str | None] = field(default_factory=list)

    @property
    def allowed(self) -> tuple[str | None, ...]:
        """What may be there."""
        return self.acknowledged, *self.possible


@dataclass(slots=True)
class Tally:
    """What the publishers were told."""

    acknowledged: int = 0
    refused: int = 0
    unknown: int = 0
    slowest: float = 0.0


class Publisher(threading.Thread):
    """Changes its documents, by single requests and by uploads, until it is to stop."""

    def __init__(self, url: str, number: int, seed: int, stop: threading.Event) -> None:
        super().__init__(name=f"publisher {number}", daemon=True)
        self._url, self._number, self._stop_event = url, number, stop
        self._chance = random.Random(f"{seed}.{number}")
        self._version = 0
        self.fates: dict[str, Fate] = {}
        self.tally = Tally()

    def run(self) -> None:
        """See `Thread.run`."""
        with httpx.Client(base_url=self._url, timeout=20.0, trust_env=False) as client:
            while not self._stop_event.is_set():
                self._version += 1
                uri = self._uri()
                content = None if self._chance.random() < 0.15 else self._content(uri)
                self._settle(uri, content, self._sent(client, uri, content))
                time.sleep(self._chance.random() * 0.01)

    def _uri(self) -> str:
        kind, count = ("org", ORGANISATIONS) if self._chance.random() < 0.1 else ("doc", DOCUMENTS)
        return f"urn:faults:{kind}:{self._number}:{self._chance.randrange(count)}"

    def _content(self, uri: str) -> str:
        if ":org:" in uri:
            return f'{PREFIXES}<{uri}> :name "{self._number}.{self._version}" .'
        publisher = f"urn:faults:org:{self._number}:{self._chance.randrange(ORGANISATIONS)}"
        return f"{PREFIXES}<{uri}> :version {self._version} ; :publisher <{publisher}> ."

    def _sent(self, client: httpx.Client, uri: str, content: str | None) -> int | None:
        """The status of the answer; None if there was none."""
        began = time.monotonic()
        try:
            if content is None:
                answer = client.delete("/v1/document", params={"uri": uri})
            else:
                headers = {"Content-Type": "text/turtle"}
                answer = client.put("/v1/document", params={"uri": uri}, content=content, headers=headers)
        except httpx.HTTPError:
            return None
        self.tally.slowest = max(self.tally.slowest, time.monotonic() - began)
        return answer.status_code

    def _settle(self, uri: str, content: str | None, status: int | None) -> None:
        fate = self.fates.setdefault(uri, Fate())
        if status is not None and (status < 300 or (status == 404 and content is None)):
            fate.acknowledged, fate.possible = content, []
            self.tally.acknowledged += 1
        elif status is None or status >= 500:  # a gateway or a time limit may say so of what was done
            fate.possible.append(content)
            self.tally.unknown += status is None
            self.tally.refused += status is not None
            time.sleep(0.2)
        else:
            self.tally.refused += 1
            time.sleep(0.2)
