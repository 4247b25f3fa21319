"""A live node: the corners at which a hub stands, run step by step in one thread, with the hub's store below them.

    in     channels open and close, messages come, time passes, the hub's own documents and subscriptions change
    step   all of that is handed to the corners and to the council; corners of one node talk to each other at once
    out    when everything is durable: messages to other members

Invariant: no message of a step leaves before the step is durable.

A step that fails, whatever another hub has sent, is as if it had not been: the corners are made anew of what was
written, and the channel whose message it was is closed.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from queue import Empty, Queue
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

from triplewire.errors import ChannelRefused, StoreError, TriplewireError
from triplewire.network.hypercube import corner, neighbours, position_of
from triplewire.network.link import Frame, LogEntry, Timing
from triplewire.network.live.acceptance import refuse_forged
from triplewire.network.live.corners import LiveCorner, signed_text
from triplewire.network.live.council import Council, Message
from triplewire.network.live.hub import NetworkHub
from triplewire.network.live.identities import is_signed
from triplewire.network.live.spelling import read_frame, read_question, spelled_frame, spelled_question
from triplewire.network.live.states import CornerRecord, Place, StateBook, read_records
from triplewire.network.node import Outbox
from triplewire.network.routing import RoutingState

log = logging.getLogger("triplewire.network")

_LOOK = 0.1
"""Seconds between two looks at what has changed in the store."""
_AT_ONCE = 500
"""Messages, and documents of the hub, that one step takes."""
_FULL = 50_000
"""So many messages may wait for a neighbour; then what is published here waits in the hub's store."""
_REST = 1.0
"""Seconds of rest after a step that failed."""
_PASSAGES = 10_000
"""So many versions of documents that went by are remembered for `trace`, in memory."""
_STATE = "council", "table"


class Post(Protocol):
    """What carries messages to other members."""

    def send(self, member: str, message: Message) -> None:
        """Carry a message; from the node's thread."""

    def want(self, members: dict[str, str]) -> None:
        """These members should have channels, at these addresses."""

    def close(self, member: str, reason: str) -> None:
        """End the channel to a member."""


class Input(NamedTuple):
    """Something that happens to a node: a member's channel opens or closes, a message, or a call."""

    kind: str
    member: str = ""
    about: Any = None


@dataclass
class Passage:
    """A version of a document that was here: where it came from, and where it went."""

    origin: str
    uri: str
    version: int
    is_there: bool
    came: str
    at: float
    to: list[str] = field(default_factory=list)


class LiveNode:
    """The node of a hub; `start` lets it run until `stop`."""

    def __init__(self, hub: NetworkHub, url: str, post: Post, *, patience: float, founds: bool = True) -> None:
        self._hub, self._post, self._founds = hub, post, founds
        self._inputs: Queue[Input] = Queue()
        self._timing = Timing(retry=1.0, longest_retry=10.0, heartbeat=min(5.0, max(1.0, patience / 6)))
        self.council = Council(hub.identity, url, patience=patience, now=time.monotonic())
        self.council.log = log.warning
        self._records: dict[int, CornerRecord] = {}
        self.corners: dict[int, LiveCorner] = {}
        """Where it stands, by position."""
        self._book = StateBook()
        self._kept_council: str | None = None
        self.channels: dict[str, str] = {}
        """The hubs that there is a channel to, with their keys."""
        self._linked: dict[tuple[int, int], bool] = {}
        self._seen_change = -1
        self._outgoing: list[tuple[str, Message]] = []
        self._local: deque[tuple[int, str, Frame]] = deque()
        self._told: list[int] = []
        self._stamp: tuple[int, int] | None = None
        self._wanted: dict[str, str] | None = None
        self.passages: dict[tuple[str, str, int, bool], Passage] = {}
        """What went by lately, the oldest first."""
        self._thread = threading.Thread(target=self._run, name="triplewire network", daemon=True)
        self._stopping = threading.Event()
        self._is_leaving = False
        self.problem = ""
        """Why the last step could not be taken."""

    @property
    def name(self) -> str:
        """What other hubs call this one."""
        return self.council.name

    # -- from other threads

    def start(self) -> None:
        """Run, in a thread."""
        self._load(time.monotonic())
        self._thread.start()

    def stop(self) -> None:
        """End; what is durable is what there is when it starts again."""
        self._stopping.set()
        self._inputs.put(Input("wake"))
        if self._thread.is_alive():
            self._thread.join()

    def opened(self, member: str, key: str) -> None:
        """There is a channel to a hub that has proved its name."""
        self._inputs.put(Input("opened", member, key))

    def closed(self, member: str) -> None:
        """There is none any more."""
        self._inputs.put(Input("closed", member))

    def received(self, member: str, message: Message) -> None:
        """A message came."""
        self._inputs.put(Input("message", member, message))

    @property
    def waiting(self) -> int:
        """How many inputs wait for their turn."""
        return self._inputs.qsize()

    def call(self, do: Callable[[float], Any]) -> Any:
        """Have something done in the node's thread, as a step of its own; gives what it gives."""
        done = threading.Event()
        found: list[Any] = []

        def run(now: float) -> None:
            try:
                found.append((True, do(now)))
            except TriplewireError as error:
                found.append((False, error))
            done.set()

        self._inputs.put(Input("call", about=run))
        if not done.wait(30):
            raise StoreError("the node of this hub does not answer; its log says why")
        is_well, value = found[0]
        if not is_well:
            raise value
        return value

    def leave(self) -> None:
        """Take back what this hub has told the network, then be a member no more."""
        self.call(self._leave)

    def expel(self, name: str) -> None:
        """Let a hub be a member no more; this member must be the one that decides."""
        self.call(lambda now: self.council.expel(name, now))

    # -- the loop

    def _run(self) -> None:
        pause = _LOOK
        while not self._stopping.is_set():
            inputs = self._waiting_inputs(pause)
            now = time.monotonic()
            pause = _LOOK
            try:
                self._step(inputs, now)
                self.problem = ""
            except Exception as error:  # a hub goes on, whatever others send, and whatever its store does
                log.exception("a step of the network node failed and is taken back: %s", error)
                self.problem = f"{type(error).__name__}: {error}"
                pause = self._taken_back(inputs, now)

    def _waiting_inputs(self, pause: float) -> list[Input]:
        found: list[Input] = []
        try:
            found.append(self._inputs.get(timeout=pause))
            while len(found) < _AT_ONCE:
                found.append(self._inputs.get_nowait())
        except Empty:
            pass
        return found

    def _taken_back(self, inputs: Iterable[Input], now: float) -> float:
        """Go back to what is durable; channels whose messages were lost by that are to begin anew."""
        for member in {each.member for each in inputs if each.kind == "message"}:
            self._post.close(member, "a message could not be taken in; the log of this hub says why")
        for each in inputs:
            if each.kind == "opened":
                self.channels[each.member] = each.about
            elif each.kind == "closed":
                self.channels.pop(each.member, None)
        try:
            self._load(now)
        except Exception as error:  # the store may be away; it is tried again
            log.warning("the node cannot read its state: %s", error)
        return _REST

    def _load(self, now: float) -> None:
        """Make everything anew of what is written."""
        rows = self._hub.node_state()
        kept = rows.get(_STATE)
        if kept is not None:
            self.council.restore(json.loads(kept))
        elif self._founds and self.council.table is None:
            self.council.found()
        self._kept_council = kept
        self._records = read_records(rows)
        self._book = StateBook()
        self._book.difference(self._records)
        self._book.wrote()
        self.corners = {p: self._made(r.state) for p, r in self._records.items() if not r.is_lost}
        self._linked, self._stamp, self._seen_change = {}, None, -1
        self._outgoing, self._told = [], []
        self._local.clear()

    def _made(self, state: RoutingState) -> LiveCorner:
        return LiveCorner(state, self._hub.identity.sign, timing=self._timing)

    # -- a step

    def _step(self, inputs: Iterable[Input], now: float) -> None:
        for each in inputs:
            self._handle(each, now)
        self.council.tick(now)
        self._follow_table(now)
        self._take_own(now)
        self._tick_links(now)
        self._talk_inside(now)
        self._commit()

    def _handle(self, each: Input, now: float) -> None:
        match each.kind:
            case "opened":
                self.channels[each.member] = each.about
                self.council.opened(each.member, each.about, now)
                self.council.canvass(each.member)
                self._cut(each.member)
            case "closed":
                self.channels.pop(each.member, None)
                self.council.closed(each.member)
                self._cut(each.member)
            case "call":
                each.about(now)
            case "message":
                try:
                    self._hear(each.member, each.about, now)
                except ChannelRefused as error:
                    self._refuse(each.member, str(error))

    def _refuse(self, member: str, reason: str) -> None:
        log.warning("the channel to %s is closed: %s", member, reason)
        self._post.close(member, reason)

    def _hear(self, member: str, message: Message, now: float) -> None:
        match message.get("about"):
            case "frame":
                self._hear_frame(member, message, now)
            case "handed":
                self._hear_handed(member, message, now)
            case _:
                self.council.hear(member, message, now)

    # -- frames

    def _hear_frame(self, member: str, message: Message, now: float) -> None:
        table = self.council.table
        if table is None or self.council.key_of(member) is None:
            raise ChannelRefused(f"{member} is no member of the network, and may only ask to join")
        came, to, stamp = _places(message)
        if stamp > table.stamp or not 0 <= came < len(table.seats) or to not in self.corners:
            return  # one of the two has an older table: the frame comes again
        if table.seats[came].host != member:
            if stamp == table.stamp:
                raise ChannelRefused(f"it speaks for corner {came}, at which {table.seats[came].host} stands")
            return
        if (to ^ came).bit_count() != 1:
            raise ChannelRefused(f"corner {came} is no neighbour of corner {to}")
        frame = read_frame(message.get("frame"))
        if isinstance(frame, LogEntry):
            frame = refuse_forged(frame, came, to, table)
        self._carry(to, self.corners[to].receive(corner(came), frame, now))
        for reason in self.corners[to].refused:
            self._refuse(member, reason)
        self.corners[to].refused.clear()

    def _carry(self, position: int, frames: Outbox) -> None:
        """Frames of a corner: to one that is here too at once, to others when the step is durable."""
        table = self.council.table
        assert table is not None, "corners stand in a table"
        for name, frame in frames:
            other = position_of(name)
            if other in self.corners:
                self._local.append((other, corner(position), frame))
            elif other < len(table.seats):
                told = {"from": position, "to": other, "stamp": [*table.stamp], "frame": spelled_frame(frame)}
                self._outgoing.append((table.seats[other].host, {"about": "frame", **told}))

    def _talk_inside(self, now: float) -> None:
        while self._local:
            position, came, frame = self._local.popleft()
            self._carry(position, self.corners[position].receive(came, frame, now))

    def _tick_links(self, now: float) -> None:
        for position, own in self.corners.items():
            for peer in [*own.neighbours]:
                due = own.due(peer)
                if due is not None and now >= due:
                    self._carry(position, own.tick(peer, now))

    # -- corners

    def _follow_table(self, now: float) -> None:
        """Stand where the table says, and nowhere else; have links to all neighbours of these corners."""
        table = self.council.table
        if table is None:
            return
        if not self.council.is_member:
            self._stand_nowhere()
            return
        if table.stamp != self._stamp:
            self._stamp = table.stamp
            for position, seat in enumerate(table.seats):
                if seat.host == self.name:
                    self._stand_at(position, seat.generation, now)
                elif position in self.corners:
                    self._give_up(position)
            self._forget_strangers(now)
        wanted = self.council.wanted()
        if wanted != self._wanted:
            self._post.want(wanted)
            self._wanted = wanted
        for position in self.corners:
            for other in neighbours(position, table.dimensions):
                self._link(position, other, now)

    def _stand_at(self, position: int, generation: int, now: float) -> None:
        record = self._records.get(position)
        if record is not None and not record.is_lost and record.generation == generation:
            return
        table = self.council.table
        assert table is not None, "it was looked at"
        owner = table.owner(position)
        is_own = owner is not None and owner.name == self.name
        state = RoutingState(
            corner(position), f"{generation}-{uuid4().hex}", stands_in=owner is not None and not is_own
        )
        self._records[position] = CornerRecord(position, generation, state)
        self.corners[position] = self._made(state)
        self._linked = {pair: known for pair, known in self._linked.items() if pair[0] != position}
        for other in neighbours(position, table.dimensions):
            self._link(position, other, now)
        if is_own and record is not None:
            self._carry(position, self.corners[position].adopt(record.state, now))
        elif is_own:
            self._hub.tell_all()
        if is_own:
            self._seen_change = -1

    def _give_up(self, position: int) -> None:
        """Another member stands there now. What this hub's own corner knows is kept until it is back."""
        table = self.council.table
        assert table is not None, "it was looked at"
        del self.corners[position]
        record = self._records[position]
        owner = table.owner(position)
        if owner is not None and owner.name == self.name:
            record.is_lost = True
            return
        del self._records[position]
        if record.state.asked:
            asked = [spelled_question(each) for each in record.state.asked]
            handed = {"about": "handed", "corner": position, "asked": asked}
            self._outgoing.append((table.seats[position].host, handed))

    def _stand_nowhere(self) -> None:
        """This hub has left, or was left out: it tells and hears nothing any more."""
        if self.corners:
            log.warning("%s is no member of the network any more; to be one again, start it with --join", self.name)
            self.corners.clear()
            self._records.clear()
            self._linked.clear()
            self._local.clear()
            self._post.want({})
            self._wanted, self._stamp, self._is_leaving = {}, None, False

    def _hear_handed(self, member: str, message: Message, now: float) -> None:
        """The one that stood in here hands over what it was asked meanwhile."""
        position = message.get("corner")
        if not isinstance(position, int) or position not in self.corners:
            return
        try:
            questions = [read_question(each) for each in message["asked"]]
        except (ValueError, TypeError, KeyError) as error:
            raise ChannelRefused(f"it handed over what are no questions: {error}") from None
        for question in questions:
            self._carry(position, self.corners[position].take_question(question, now))

    def _forget_strangers(self, now: float) -> None:
        """Documents of hubs that are no members any more are gone."""
        table = self.council.table
        assert table is not None, "it was looked at"
        for position, own in self.corners.items():
            kept = {key[0]: each.told for key, each in own.state.documents.items()}
            for origin, sent in kept.items():
                owner = table.owner(position_of(origin))
                if owner is None or not is_signed(signed_text(sent), sent.signature, owner.key):
                    self._carry(position, own.forget_origin(origin, now))

    # -- links

    def _link(self, position: int, other: int, now: float) -> None:
        """See to it that a link is as its channel is."""
        table = self.council.table
        assert table is not None, "it was looked at"
        is_reached = other in self.corners or table.seats[other].host in self.channels
        known = self._linked.get((position, other))
        if known == is_reached:
            return
        own = self.corners[position]
        self._linked[position, other] = is_reached
        if is_reached or corner(other) not in own.state.links:
            self._carry(position, own.connect(corner(other), now))
        if not is_reached:
            own.disconnect(corner(other))

    def _cut(self, member: str) -> None:
        """The channel to a member is another one, or gone: its links begin anew."""
        table = self.council.table
        if table is None:
            return
        for position, other in [*self._linked]:
            if other < len(table.seats) and table.seats[other].host == member and other not in self.corners:
                if position in self.corners:
                    self.corners[position].disconnect(corner(other))
                del self._linked[position, other]

    # -- the hub's own

    def _home(self) -> LiveCorner | None:
        table = self.council.table
        member = None if table is None else table.member(self.name)
        own = None if member is None else self.corners.get(member.position)
        return None if own is None or own.state.stands_in else own

    def _take_own(self, now: float) -> None:
        """Tell the network of what has changed in the hub: documents, and subscriptions that reach beyond it."""
        home = self._home()
        if home is None:
            return
        if self._is_leaving:
            if not any(link.waiting for link in home.state.links.values()):
                self.council.leave()
            return
        position = position_of(home.name)
        change = self._hub.last_change()
        if change != self._seen_change:
            self._watch(home, self._hub.reaching(), now)
            self._seen_change = change
        fullest = max((len(link.waiting) for link in home.state.links.values()), default=0)
        if fullest > _FULL:
            self.problem = f"a neighbour has not taken the last {fullest:,} messages: what is published here waits"
            return
        for each in self._hub.outgoing(_AT_ONCE):
            if each.is_kept:
                self._carry(position, home.put(each.uri, each.document, each.number, each.time, now))
            self._told.append(each.number)
        if self._told:
            self._inputs.put(Input("wake"))  # there may be more

    def _watch(self, home: LiveCorner, wanted: dict[str, tuple[Any, float]], now: float) -> None:
        position = position_of(home.name)
        known = home.state.subscriptions
        for id in [*known]:
            if id not in wanted or wanted[id] != (known[id].pattern, known[id].since):
                self._carry(position, home.unwatch(id, now))
        for id, (pattern, since) in wanted.items():
            if id not in known:
                self._carry(position, home.watch(id, pattern, since, now))

    def _leave(self, now: float) -> None:
        self.council.refuse_to_leave()
        home = self._home()
        if home is not None:
            position = position_of(home.name)
            for id in [*home.state.subscriptions]:
                self._carry(position, home.unwatch(id, now))
            for origin, uri in [*home.state.documents]:
                if origin == home.name:
                    version = home.state.versions[uri] + 1
                    self._carry(position, home.put(uri, None, version, time.time(), now))
        self._is_leaving = True

    # -- the end of a step

    def _commit(self) -> None:
        """Make it durable, then let messages go."""
        arrivals = [sent for own in self.corners.values() for sent in own.arrivals]
        changes: dict[Place, str | None] = self._book.difference(self._records)
        plain = self.council.plain()
        council = None if plain is None else json.dumps(plain)
        if council != self._kept_council:
            changes[_STATE] = council
        if arrivals or changes or self._told:
            self._hub.take_step(arrivals, changes, self._told)
        self._book.wrote()
        self._kept_council = council
        self._told = []
        outgoing, self._outgoing = [*self.council.outbox, *self._outgoing], []
        self.council.outbox.clear()
        self._note_passages(outgoing)
        for member, message in outgoing:
            if member in self.channels:
                self._post.send(member, message)

    def _note_passages(self, outgoing: Iterable[tuple[str, Message]]) -> None:
        moment = time.time()
        for own in self.corners.values():
            own.arrivals.clear()
            for sent, came in own.passages:
                about = sent.origin, sent.uri, sent.version
                self.passages[*about, sent.document is not None] = Passage(
                    *about, sent.document is not None, came, moment
                )
            own.passages.clear()
        while len(self.passages) > _PASSAGES:
            del self.passages[next(iter(self.passages))]
        for _, message in outgoing:
            entry = message.get("frame", {}).get("entry") if message["about"] == "frame" else None
            told = entry[2].get("document") if entry else None
            passage = None if told is None else self.passages.get((told[0], told[1], told[2], told[4] is not None))
            if passage is not None and corner(message["to"]) not in passage.to:
                passage.to.append(corner(message["to"]))


def _places(message: Message) -> tuple[int, int, tuple[int, int]]:
    """From which corner to which a frame goes, and by which table."""
    came, to, stamp = message.get("from"), message.get("to"), message.get("stamp")
    numbers = [came, to, *stamp] if isinstance(stamp, list) else []
    if len(numbers) != 4 or not all(type(each) is int for each in numbers):
        raise ChannelRefused("it sent a frame without saying from which corner to which")
    return numbers[0], numbers[1], (numbers[2], numbers[3])
