"""Passages: what a node remembers of the documents that went by, so that the way of an event can be told."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from triplewire.network.live.council import Message
from triplewire.network.live.places import LivePlace
from triplewire.network.membership import read_place

_MOST = 10_000
"""So many versions of documents are remembered, in memory."""


@dataclass
class Passage:
    """A version of a document that was here: where it came from, how far it goes, and where it went."""

    origin: str
    uri: str
    version: int
    is_there: bool
    came: str
    at: float
    reach: int
    to: list[str] = field(default_factory=list)


class PassageLog:
    """What went by lately, the oldest first."""

    def __init__(self) -> None:
        self._passages: dict[tuple[str, str, int, bool], Passage] = {}

    def note(self, places: Iterable[LivePlace], outgoing: Iterable[tuple[str, Message]]) -> None:
        """A step has taken in what its places say, and these messages go."""
        moment = time.time()
        for own in places:
            for sent, came in own.passages:
                about = sent.origin, sent.uri, sent.version
                passage = Passage(*about, sent.document is not None, came, moment, sent.reach)
                self._passages[*about, passage.is_there] = passage
            own.passages.clear()
        while len(self._passages) > _MOST:
            del self._passages[next(iter(self._passages))]
        for _, message in outgoing:
            self._note_going(message)

    def _note_going(self, message: Message) -> None:
        entry = message.get("frame", {}).get("entry") if message["about"] == "frame" else None
        told = entry[2].get("document") if entry else None
        passage = None if told is None else self._passages.get((told[0], told[1], told[2], told[4] is not None))
        if passage is not None and (to := read_place(message["to"])) not in passage.to:
            passage.to.append(to)

    def of(self, origin: str, uri: str) -> list[Passage]:
        """What is remembered of a document, the last first."""
        return [each for each in reversed([*self._passages.values()]) if (each.origin, each.uri) == (origin, uri)]
