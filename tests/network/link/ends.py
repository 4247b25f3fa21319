"""Two ends of a link and a bad wire between them, in virtual time: each node keeps a list, and tells the other."""

from __future__ import annotations

import copy
import heapq
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

from triplewire.network.link import Deliver, Link, LinkState, Refuse, Resync, Send, Timing

TIMING = Timing(retry=0.2, longest_retry=2.0, heartbeat=None)


@dataclass
class Disk:
    """What a node has written durably: its link, what it has said, and what it has heard from the other."""

    link: LinkState
    said: list[Any] = field(default_factory=list)
    heard: list[Any] = field(default_factory=list)
    replaced: int = 0


class Node:
    """A node: each input is one step, and the disk is written before frames go out."""

    def __init__(self, name: str, peer: str, timing: Timing = TIMING, **limits: int) -> None:
        self.name, self.peer, self._timing, self._limits = name, peer, timing, limits
        self._epochs = count(1)
        self.refused: list[str] = []
        self.lose()

    def lose(self) -> None:
        """The disk is lost, too: the next incarnation begins with nothing."""
        self.disk = Disk(LinkState(f"{self.name}{next(self._epochs)}"))
        self.crash()

    def crash(self) -> None:
        """What is not on the disk is lost."""
        self.disk = copy.deepcopy(self.disk)
        self.link = Link(self.name, self.peer, self.disk.link, timing=self._timing, **self._limits)

    def say(self, body: Any, now: float) -> list[Any]:
        self.disk.said.append(body)
        return self.done(self.link.send(body, now), now)

    def done(self, outputs: list[Any], now: float) -> list[Any]:
        """Do what a step says; gives the frames to carry."""
        frames = []
        for output in outputs:
            match output:
                case Send(frame):
                    frames.append(frame)
                case Deliver(body, replaces):
                    if replaces:
                        self.disk.heard = list(body)
                        self.disk.replaced += 1
                    else:
                        self.disk.heard.append(body)
                case Resync():
                    frames += self.done(self.link.replace(tuple(self.disk.said), now), now)
                case Refuse(reason):
                    self.refused.append(reason)
        return frames


class Wire:
    """A wire that loses, doubles, delays and so reorders frames; `chance` decides."""

    def __init__(self, a: Node, b: Node, chance: Random, *, loss: float = 0.0, duplication: float = 0.0) -> None:
        self.nodes = {a.name: a, b.name: b}
        self._chance, self._loss, self._duplication = chance, loss, duplication
        self._queue: list[tuple[float, int, str, Any]] = []
        self._order = count()
        self.now, self.is_whole, self.carried = 0.0, False, 0

    def carry(self, sender: Node, frames: list[Any]) -> None:
        for frame in frames:
            self.carried += 1
            copies = 1 + (self._chance.random() < self._duplication)
            for _ in range(copies if self.is_whole else 0):
                if self._chance.random() >= self._loss:
                    at = self.now + self._chance.uniform(0.001, 0.05)
                    heapq.heappush(self._queue, (at, next(self._order), sender.peer, frame))

    def join(self) -> None:
        self.is_whole = True
        for node in self.nodes.values():
            self.carry(node, node.done(node.link.connected(self.now), self.now))

    def cut(self) -> None:
        """The connection ends, and with it what is on the way."""
        self.is_whole = False
        self._queue.clear()
        for node in self.nodes.values():
            node.link.disconnected()

    def restart(self, node: Node, *, lose: bool = False) -> None:
        node.lose() if lose else node.crash()
        if self.is_whole:
            self.carry(node, node.done(node.link.connected(self.now), self.now))

    def say(self, node: Node, body: Any) -> None:
        self.carry(node, node.say(body, self.now))

    def run(self, until: float = 1e9) -> None:
        """Until nothing moves, or until then."""
        for _ in range(100_000):
            due = [(at, name) for name, node in self.nodes.items() if (at := node.link.due()) is not None]
            times = [at for at, _ in due] + ([self._queue[0][0]] if self._queue else [])
            if not times or min(times) > until:
                self.now = max(self.now, until) if until < 1e9 else self.now
                return
            self.now = max(self.now, min(times))
            if self._queue and self._queue[0][0] <= self.now:
                _, _, name, frame = heapq.heappop(self._queue)
                node = self.nodes[name]
                self.carry(node, node.done(node.link.receive(frame, self.now), self.now))
            else:
                node = self.nodes[min(due)[1]]
                self.carry(node, node.done(node.link.tick(self.now), self.now))
        raise AssertionError("the link does not come to rest")
