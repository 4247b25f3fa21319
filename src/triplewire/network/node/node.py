"""A node and its links to its neighbours.

Invariant: each input is one step: `state` is what it was before, or what it is after, with every frame of the step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from triplewire.network.link import Deliver, Frame, Link, LinkState, Output, Refuse, Resync, Send, Timing

Outbox = list[tuple[str, Frame]]
"""Frames, each with the neighbour that it is for."""


@dataclass(slots=True)
class NodeState:
    """What a node must not lose: the ends of its links, and under `epoch` which incarnation it is.

    `forgotten` counts the links that it has let go of: one that begins later is another incarnation of the node, so
    that what the link before had under way is not taken for a part of it.
    """

    name: str
    epoch: str
    links: dict[str, LinkState] = field(default_factory=dict)
    forgotten: int = field(default=0, kw_only=True)

    def new_link(self) -> LinkState:
        """The end of a link that begins."""
        return LinkState(f"{self.epoch}/{self.forgotten}" if self.forgotten else self.epoch)


class Participant(Protocol):
    """What a network needs of anything that takes part in it; each method that is handed `now` is one step.

    `due` and `tick` are asked for a peer, and for the name of the participant itself.
    """

    @property
    def name(self) -> str:
        """What others call it."""

    @property
    def state(self) -> NodeState:
        """What it must not lose."""

    @property
    def neighbours(self) -> Iterable[str]:
        """Those that it knows."""

    def connect(self, peer: str, now: float) -> Sequence[tuple[str, Any]]:
        """Frames can be carried to a neighbour, and from it."""

    def receive(self, peer: str, frame: Any, now: float) -> Sequence[tuple[str, Any]]:
        """A frame came."""

    def due(self, peer: str) -> float | None:
        """When `tick` has something to do."""

    def tick(self, peer: str, now: float) -> Sequence[tuple[str, Any]]:
        """Time has passed."""


class Node(ABC):
    """A node, made from its durable state; all else about it may be lost at any time.

    Each method that is handed `now` is one step. Its frames may be sent when the state is durable, and not before.
    """

    def __init__(self, state: NodeState, *, timing: Timing | None = None) -> None:
        self.state = state
        self.refused: list[str] = []
        """Why neighbours were refused."""
        self._timing = timing
        self._outbox: Outbox = []
        self._links = {peer: self._link(peer) for peer in state.links}

    @property
    def name(self) -> str:
        """What other nodes call it."""
        return self.state.name

    @property
    def neighbours(self) -> Iterable[str]:
        """The nodes that it has a link to."""
        return self._links.keys()

    def _link(self, peer: str) -> Link:
        return Link(self.name, peer, self.state.links[peer], timing=self._timing)

    # -- the kind of node

    @abstractmethod
    def hear(self, peer: str, body: Any, now: float) -> None:
        """Take in what a neighbour tells."""

    @abstractmethod
    def hear_all(self, peer: str, body: Any, now: float) -> None:
        """Take in what replaces everything that a neighbour ever told."""

    @abstractmethod
    def all_for(self, peer: str) -> Any:
        """What replaces everything that a neighbour was ever told."""

    def besides(self, peer: str) -> Iterable[Any]:
        """What is told besides, when all of it is told anew; most kinds of nodes have nothing."""
        return ()

    def acknowledged(self, peer: str, now: float) -> None:
        """A neighbour has taken in more of what it was told; most kinds of nodes do not mind."""
        return

    # -- links

    def connect(self, peer: str, now: float) -> Outbox:
        """Frames can be carried to a neighbour, and from it; the first time, the link begins."""
        if peer not in self._links:
            self.state.links[peer] = self.state.new_link()
            self._links[peer] = self._link(peer)
        self._do(peer, self._links[peer].connected(now), now)
        return self._sent()

    def disconnect(self, peer: str) -> None:
        """Frames are not carried any more; what is told meanwhile waits."""
        if peer in self._links:
            self._links[peer].disconnected()

    def forget(self, peer: str) -> None:
        """The neighbour is none any more: the link and all that waits for it go."""
        if self._links.pop(peer, None) is not None:
            del self.state.links[peer]
            self.state.forgotten += 1

    def receive(self, peer: str, frame: Frame, now: float) -> Outbox:
        """A frame came from a neighbour; of a node that is none, it is passed over."""
        link = self._links.get(peer)
        if link is not None:
            done = link.state.done
            self._do(peer, link.receive(frame, now), now)
            if link.state.done > done:
                self.acknowledged(peer, now)
        return self._sent()

    def due(self, peer: str) -> float | None:
        """When `tick` has something to do for a link."""
        link = self._links.get(peer)
        return None if link is None else link.due()

    def tick(self, peer: str, now: float) -> Outbox:
        """Time has passed for a link."""
        if peer in self._links:
            self._do(peer, self._links[peer].tick(now), now)
        return self._sent()

    def tell(self, peer: str, body: Any, now: float) -> None:
        """Put something on the way to a neighbour; its frames are among those of this step."""
        self._do(peer, self._links[peer].send(body, now), now)

    def _do(self, peer: str, outputs: list[Output], now: float) -> None:
        for output in outputs:
            match output:
                case Send(frame):
                    self._outbox.append((peer, frame))
                case Deliver(body, replaces):
                    (self.hear_all if replaces else self.hear)(peer, body, now)
                case Resync():
                    self._do(peer, self._links[peer].replace(self.all_for(peer), now), now)
                    for body in self.besides(peer):
                        self.tell(peer, body, now)
                case Refuse(reason):
                    self.refused.append(reason)

    def _sent(self) -> Outbox:
        frames, self._outbox = self._outbox, []
        return frames
