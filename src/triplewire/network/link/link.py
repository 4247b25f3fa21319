"""A link, seen from one end: a state machine that is handed frames and the time, and says what to do.

    it is                  until                       meanwhile
    cut                    `connected`                 bodies wait in the log
    greeting               the other side's Hello      Hello is said again and again
    open                   `disconnected`              entries are sent, at most `window` of them unacknowledged, and
                                                       sent again when no word came of them in time
    refused                `connected`                 nothing: the ends speak different versions, or the other
                                                       side is not the one that it should be

At least once on the wire, once in effect, in order: the receiver holds what comes after a gap, passes over what it
has, and acknowledges after the node's step is durable. Where the other side lacks what is not kept any more, or this
side is another incarnation than the one it knew, the node is asked for a `Resync`: one body that replaces everything.
There is never a silent gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from triplewire.errors import LinkFull
from triplewire.network.link.frames import VERSION, Arrivals, Frame, Heartbeat, Hello, LogEntry, Position
from triplewire.network.link.state import LinkState


@dataclass(frozen=True, slots=True)
class Timing:
    """How long an end waits, in seconds of the time that it is handed."""

    retry: float = 0.5
    longest_retry: float = 30.0
    heartbeat: float | None = 5.0
    """None: no heartbeats, where the network itself tells of silence."""


@dataclass(frozen=True, slots=True)
class Send:
    """Carry a frame to the other side."""

    frame: Frame


@dataclass(frozen=True, slots=True)
class Deliver:
    """Apply a body of the other side; with `replaces`, it stands for everything that the other side ever said."""

    body: Any
    replaces: bool


@dataclass(frozen=True, slots=True)
class Resync:
    """Hand `Link.replace` one body that says everything: the other side lacks what is not kept any more."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """End the connection, and tell people why."""

    reason: str


Output = Send | Deliver | Resync | Refuse


@dataclass(frozen=True, slots=True)
class LinkLag:
    """How far this end is behind the other: entries that it knows of and lacks, and seconds since it heard anything.

    `is_known` is False while the link is not open, or nothing was heard for three heartbeats: then there may be more.
    """

    entries: int
    silence: float
    is_known: bool


class Link:
    """One end of a link between two nodes.

    `state` is durable; all else here may be lost at any time. `limit` bounds the log, `window` what is under way.
    """

    def __init__(
        self,
        node: str,
        peer: str,
        state: LinkState,
        *,
        timing: Timing | None = None,
        window: int = 64,
        limit: int = 100_000,
    ) -> None:
        self.node, self.peer, self.state = node, peer, state
        self._timing, self._window, self._limit = timing or Timing(), window, limit
        self._forget(now=0.0)

    def _forget(self, now: float) -> None:
        self.is_connected = self.is_open = False
        self._session, self._sessions = "", 0
        self._stranger: str | None = None
        self._held: dict[int, LogEntry] = {}  # what came after a gap
        self._sent: dict[int, float] = {}  # when an entry that is under way was sent
        self._arrived: frozenset[int] = frozenset()  # what the other side holds after a gap
        self._retry = self._timing.retry
        self._greeted = self._beaten = self._heard = now
        self._newest = 0

    # -- the connection

    def connected(self, now: float) -> list[Output]:
        """Frames can be carried again."""
        self._forget(now)
        self.is_connected = True
        return self._greet(now)

    def disconnected(self) -> None:
        """Frames are not carried any more."""
        self.is_connected = self.is_open = False

    def _greet(self, now: float, answers: str | None = None) -> list[Output]:
        """Ask what the other side has; until it has answered this, nothing is sent."""
        self.is_open = False
        self._sessions += 1
        self._session = f"{now!r}-{self._sessions}"
        return [self._hello(now, answers)]

    def _hello(self, now: float, answers: str | None = None) -> Send:
        self._greeted = now
        return Send(Hello(self.node, self.state.epoch, self.state.has, self._session, answers))

    # -- bodies to the other side

    def send(self, body: Any, now: float) -> list[Output]:
        """Put a body on the log; LinkFull when that is at its limit."""
        if len(self.state.waiting) >= self._limit:
            raise LinkFull(self.peer, self._limit)
        self.state.append(body)
        return self._flow(now)

    def replace(self, body: Any, now: float) -> list[Output]:
        """Put a body on the log that stands for everything so far; what waits is dropped."""
        self.state.append(body, replaces=True)
        if self._stranger is not None:
            self.state.peer, self._stranger = self._stranger, None
            self.is_open = self.is_connected
        self._sent.clear()
        return self._flow(now)

    def _flow(self, now: float) -> list[Output]:
        """Send what fits into the window and is not under way."""
        if not self.is_open:
            return []
        while self._sent and (first := next(iter(self._sent))) <= self.state.done:
            del self._sent[first]
        entries = list(islice(self.state.waiting, len(self._sent), self._window))
        self._sent.update((entry.number, now) for entry in entries)
        return [Send(entry) for entry in entries]

    # -- frames from the other side

    def receive(self, frame: Frame, now: float) -> list[Output]:
        """What a frame leads to. Make `state` durable, with what bodies lead to, before anything is sent."""
        if not self.is_connected:
            return []
        self._heard, self._retry = now, self._timing.retry
        match frame:
            case Hello():
                return self._meet(frame, now)
            case LogEntry():
                return self._take(frame)
            case Arrivals():
                return self._advance(frame, now)
            case Heartbeat():
                self._note(frame.newest)
                return []

    def _meet(self, hello: Hello, now: float) -> list[Output]:
        if hello.version != VERSION:
            return self._refuse(
                f"{self.peer} speaks version {hello.version} of the protocol, and this end version {VERSION}: "
                "update the older one"
            )
        if hello.node != self.peer:
            return self._refuse(f"{self.peer} was expected at the other end, and {hello.node} answered")
        if hello.answers != self._session:
            is_new = self.is_open and hello.epoch != self.state.peer
            return self._greet(now, hello.session) if is_new else [self._hello(now, hello.session)]
        if self.is_open:
            return []
        if not self.state.meet(hello.epoch, hello.has):
            self._stranger = hello.epoch
            return [Resync()]
        self.is_open = True
        return self._flow(now)

    def _refuse(self, reason: str) -> list[Output]:
        self.disconnected()
        return [Refuse(reason)]

    def _take(self, entry: LogEntry) -> list[Output]:
        state = self.state
        if not self.is_open or entry.epoch != state.peer:
            return []  # of an incarnation that has not been met, or is no more: what it has said here must not change
        has = state.has or Position(entry.epoch, 0)
        if entry.replaces and (entry.epoch != has.epoch or entry.number > has.number):
            has = Position(entry.epoch, entry.number - 1)
            later = {n: held for n, held in self._held.items() if n > entry.number and held.epoch == entry.epoch}
            self._held = later  # the other side was told that they have arrived
        if entry.epoch != has.epoch:
            return []  # it was asked to replace what an incarnation before it has said
        self._newest = max(self._newest, entry.number)
        if has.number < entry.number <= has.number + self._window:
            self._held[entry.number] = entry
        found: list[Output] = []
        number = has.number
        while (held := self._held.pop(number + 1, None)) is not None:
            number += 1
            found.append(Deliver(held.body, held.replaces))
        state.has = Position(entry.epoch, number)
        found.append(Send(Arrivals(state.epoch, state.has, tuple(sorted(self._held)))))
        return found

    def _advance(self, frame: Arrivals, now: float) -> list[Output]:
        state = self.state
        if frame.epoch != state.peer:
            return self._greet(now) if self.is_open else []  # an incarnation that has not been met
        if frame.has.epoch == state.epoch and state.done <= frame.has.number <= state.newest:
            self._arrived = frozenset(frame.beyond)  # not of a frame that was overtaken: what it names may be lost
            state.acknowledge(frame.has.number)
        return self._flow(now)

    def _note(self, newest: Position) -> None:
        if self.state.has is None or newest.epoch == self.state.has.epoch:
            self._newest = max(self._newest, newest.number)

    # -- time

    def due(self) -> float | None:
        """When `tick` has something to do; None: not before something else happens."""
        if not self.is_connected:
            return None
        times = []
        if not self.is_open:
            times.append(self._greeted + self._timing.retry)
        elif self._sent:
            times.append(min(self._sent.values()) + self._retry)
        if self._timing.heartbeat is not None:
            times.append(self._beaten + self._timing.heartbeat)
        return min(times, default=None)

    def tick(self, now: float) -> list[Output]:
        """What the time that has passed leads to."""
        if not self.is_connected:
            return []
        if not self.is_open:
            return [self._hello(now)] if now >= self._greeted + self._timing.retry else []
        return [*self._send_again(now), *self._beat(now)]

    def _send_again(self, now: float) -> list[Output]:
        late = {number for number, at in self._sent.items() if now >= at + self._retry}
        if not late:
            return []
        self._sent.update(dict.fromkeys(late, now))
        self._retry = min(self._retry * 2, self._timing.longest_retry)
        under_way = islice(self.state.waiting, len(self._sent))
        return [Send(entry) for entry in under_way if entry.number in late - self._arrived]

    def _beat(self, now: float) -> list[Output]:
        every = self._timing.heartbeat
        if every is None or now < self._beaten + every:
            return []
        self._beaten = now
        return [Send(Heartbeat(Position(self.state.epoch, self.state.newest)))]

    def lag(self, now: float) -> LinkLag:
        """How far this end is behind."""
        has = self.state.has.number if self.state.has is not None else 0
        silence = now - self._heard
        every = self._timing.heartbeat
        is_known = self.is_open and (every is None or silence <= 3 * every)
        return LinkLag(max(0, self._newest - has), silence, is_known)
