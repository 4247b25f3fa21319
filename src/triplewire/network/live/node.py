"""A live node: the places at which a hub stands, run step by step in one thread, with the hub's store below them.

    in     channels open and close, messages come, time passes, the hub's own documents and subscriptions change
    step   all of that is handed to the places and to the council; places of one node talk to each other at once
    out    when everything is durable: messages to other members

Invariant: no message of a step leaves before the step is durable.

A step that fails, whatever another hub has sent, is as if it had not been: the places are made anew of what was
written, and the channel whose message it was is closed.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable
from queue import Empty, Queue
from typing import Any, NamedTuple, Protocol

from triplewire.errors import ChannelRefused, NetworkError, StoreError, TriplewireError
from triplewire.network.link import Timing
from triplewire.network.live.council import Council, Message
from triplewire.network.live.hub import Deed, NetworkHub, Reaching
from triplewire.network.live.passages import PassageLog
from triplewire.network.live.places import LivePlace
from triplewire.network.live.stands import PlaceStand
from triplewire.network.live.states import Place, StateBook, read_records
from triplewire.network.node import Outbox

log = logging.getLogger("triplewire.network")

_LOOK = 0.1
"""Seconds between two looks at what has changed in the store."""
_AT_ONCE = 500
"""Messages, and documents of the hub, that one step takes."""
_FULL = 50_000
"""So many messages may wait for a neighbour; then what is published here waits in the hub's store."""
_REST = 1.0
"""Seconds of rest after a step that failed."""
_STATE = "council", "table"


class MemberPost(Protocol):
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


class _Asked:
    """A deed for a step's transaction, and what became of it."""

    def __init__(self, deed: Deed, prepare: Callable[[PlaceStand, float], None] | None) -> None:
        self.deed, self.prepare, self.done = deed, prepare, threading.Event()
        self.found: list[tuple[bool, Any]] = []

    def answer(self, is_well: bool, value: Any) -> None:
        """Let the one that waits have it."""
        self.found.append((is_well, value))
        self.done.set()


def _awaited(done: threading.Event, found: list[tuple[bool, Any]]) -> Any:
    if not done.wait(30):
        raise StoreError("the node of this hub does not answer; its log says why")
    is_well, value = found[0]
    if not is_well:
        raise value
    return value


class LiveNode:
    """The node of a hub; `start` lets it run until `stop`."""

    def __init__(
        self,
        hub: NetworkHub,
        url: str,
        post: MemberPost,
        *,
        patience: float,
        founds: bool = True,
        network: str = "hypercube",
        cluster: str = "",
    ) -> None:
        self._hub, self._post, self._founds = hub, post, founds
        self._inputs: Queue[Input] = Queue()
        timing = Timing(retry=1.0, longest_retry=10.0, heartbeat=min(5.0, max(1.0, patience / 6)))
        where = {"network": network, "cluster": cluster}
        self.council = Council(hub.identity, url, patience=patience, now=time.monotonic(), **where)
        self.council.log = log.warning
        self._book = StateBook()
        self._kept_council: str | None = None
        self.channels: dict[str, str] = {}
        """The hubs that there is a channel to, with their keys."""
        self._stand = PlaceStand(hub.identity, timing, self.channels)
        self._seen_change = -1
        self._told: list[int] = []
        self._deeds: list[_Asked] = []
        self._wanted: dict[str, str] | None = None
        self.passages = PassageLog()
        self._thread = threading.Thread(target=self._run, name="triplewire network", daemon=True)
        self._stopping = threading.Event()
        self._is_leaving = False
        self.has_left = False
        """Whether it was asked to leave, and has; then it does not join again before it is started anew."""
        self._is_stale = False
        """Whether what is in memory is not what is written: then it is read before the next step."""
        self.problem = ""
        """Why the last step could not be taken."""

    @property
    def places(self) -> dict[str, LivePlace]:
        """Where it stands, by name."""
        return self._stand.places

    @property
    def home(self) -> LivePlace | None:
        """Its own place, while it stands there."""
        return self._stand.home

    @property
    def seen_change(self) -> int:
        """The last change of a subscription that it knows of."""
        return self._seen_change

    @property
    def name(self) -> str:
        """What other hubs call this one."""
        return self.council.name

    # -- from other threads

    def start(self) -> None:
        """Run, in a thread."""
        self._load()
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
        found: list[tuple[bool, Any]] = []

        def run(now: float) -> None:
            try:
                found.append((True, do(now)))
            except TriplewireError as error:
                found.append((False, error))
            done.set()

        self._inputs.put(Input("call", about=run))
        return _awaited(done, found)

    def carry(self, place: LivePlace, frames: Outbox) -> None:
        """Let frames of a place go with the step; in the node's thread."""
        self._stand.carry(place.name, frames)

    def do(self, deed: Deed, prepare: Callable[[PlaceStand, float], None] | None = None) -> Any:
        """Have something done in the transaction of a step, and prepared in that step before; gives what it gives.

        If it fails, the whole step is taken back.
        """
        asked = _Asked(deed, prepare)
        self._inputs.put(Input("call", about=lambda now: self._deeds.append(asked)))
        return _awaited(asked.done, asked.found)

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
                if self._is_stale:
                    self._load()
                self.problem = self._step(inputs, now)
            except Exception as error:  # a hub goes on, whatever others send, and whatever its store does
                log.exception("a step of the network node failed and is taken back: %s", error)
                self.problem = f"{type(error).__name__}: {error}"
                self._answer_deeds(False, [error if isinstance(error, TriplewireError) else StoreError(str(error))])
                pause = self._taken_back(inputs, now)

    def _answer_deeds(self, is_well: bool, values: list[Any]) -> None:
        asked, self._deeds = self._deeds, []
        for place, each in enumerate(asked):
            each.answer(is_well, values[place] if is_well else values[0])

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
        self.council.outbox.clear()
        for each in inputs:
            if each.kind in ("opened", "closed"):
                self._handle(each, now)
        self._is_stale = True
        return _REST

    def _load(self) -> None:
        """Make everything anew of what is written."""
        rows = self._hub.node_state()
        kept = rows.get(_STATE)
        if kept is not None:
            self.council.restore(json.loads(kept))
        elif self._founds and self.council.table is None:
            self.council.found()
        self._kept_council = kept
        table = self.council.table
        records = {} if table is None else read_records(rows, table.topology)
        self._book = StateBook()
        self._book.difference(records)
        self._book.wrote()
        self._stand.load(records, table)
        self._seen_change, self._told, self._is_stale = -1, [], False

    # -- a step

    def _step(self, inputs: Iterable[Input], now: float) -> str:
        """One step; gives why not all of it could be done, nothing if it was."""
        for each in inputs:
            self._handle(each, now)
        self.council.tick(now)
        self._follow_table(now)
        problem = self._take_own(now)
        self._prepare_deeds(now)
        self._stand.tick(now)
        self._stand.talk_inside(now)
        self._commit()
        return problem

    def _prepare_deeds(self, now: float) -> None:
        """After what is in the store was looked at: what is prepared here is there only when the step is durable."""
        if self._stand.home is None:
            self._answer_deeds(False, [NetworkError("this hub stands at no place of the network now; try again later")])
        for each in self._deeds:
            if each.prepare is not None:
                each.prepare(self._stand, now)

    def _follow_table(self, now: float) -> None:
        table = self.council.table
        if table is not None and self.council.is_member:
            self._stand.follow(table, now, self._begin)
        elif self._stand.stand_nowhere():
            self.has_left, self._is_leaving = self._is_leaving, False
            self.council.joins_by = None if self.has_left else self.council.joins_by
        wanted = self.council.wanted()
        if wanted != self._wanted:
            self._post.want(wanted)
            self._wanted = wanted

    def _begin(self) -> None:
        """This hub stands at its place for the first time: all that it has is new to the others."""
        self._hub.tell_all()
        self._seen_change = -1

    def _handle(self, each: Input, now: float) -> None:
        match each.kind:
            case "opened":
                self.channels[each.member] = each.about
                self.council.opened(each.member, each.about, now)
                self.council.canvass(each.member)
                self._stand.cut(each.member)
            case "closed":
                self.channels.pop(each.member, None)
                self.council.closed(each.member)
                self._stand.cut(each.member)
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
            case "frame" | "handed" if self.council.key_of(member) is None:
                raise ChannelRefused(f"{member} is no member of the network, and may only ask to join")
            case "frame":
                for reason in self._stand.hear_frame(member, message, now):
                    self._refuse(member, reason)
            case "handed":
                self._stand.hear_handed(message, now)
            case _:
                self.council.hear(member, message, now)

    # -- the hub's own

    def _take_own(self, now: float) -> str:
        """Tell the network of what has changed in the hub: documents, and subscriptions that reach beyond it.

        Gives why it cannot be told now.
        """
        home = self._stand.home
        if home is None:
            return ""
        if self._is_leaving:
            if not any(link.waiting for link in home.state.links.values()):
                self.council.leave(now)
            return ""
        change = self._hub.last_change()
        if change != self._seen_change:
            self._watch(home, self._hub.reaching(), now)
            self._seen_change = change
        fullest = max((len(link.waiting) for link in home.state.links.values()), default=0)
        if fullest > _FULL:
            return f"a neighbour has not taken the last {fullest:,} messages: what is published here waits"
        for each in self._hub.outgoing(_AT_ONCE):
            if each.is_kept:
                self._stand.carry(home.name, home.put(each.uri, each.document, each.number, each.time, now, each.reach))
            self._told.append(each.number)
        if self._told:
            self._inputs.put(Input("wake"))  # there may be more
        return ""

    def _watch(self, home: LivePlace, wanted: dict[str, Reaching], now: float) -> None:
        known = home.state.subscriptions
        for id, there in [*known.items()]:
            if wanted.get(id) != (there.pattern, there.since, there.reach):
                self._stand.carry(home.name, home.unwatch(id, now))
        for id, asked in wanted.items():
            if id not in known:
                self._stand.carry(home.name, home.watch(id, asked.pattern, asked.since, now, asked.reach))

    def _leave(self, now: float) -> None:
        self.council.refuse_to_leave()
        home = self._stand.home
        if home is not None:
            for id in [*home.state.subscriptions]:
                self._stand.carry(home.name, home.unwatch(id, now))
            for origin, uri in [*home.state.documents]:
                if origin == home.name:
                    version = home.state.versions[uri] + 1
                    self._stand.carry(home.name, home.put(uri, None, version, time.time(), now))
        self._is_leaving = True

    # -- the end of a step

    def _commit(self) -> None:
        """Make it durable, then let messages go."""
        stand = self._stand
        arrivals = [(sent, own.distance(sent.origin)) for own in stand.places.values() for sent in own.arrivals]
        changes: dict[Place, str | None] = self._book.difference(stand.records)
        plain = self.council.plain()
        council = None if plain is None else json.dumps(plain)
        if council != self._kept_council:
            changes[_STATE] = council
        done: list[Any] = []
        if arrivals or changes or self._told or self._deeds:
            done = self._hub.take_step(arrivals, changes, self._told, [each.deed for each in self._deeds])
        self._book.wrote()
        self._kept_council, self._told = council, []
        self._answer_deeds(True, done)
        for own in stand.places.values():
            own.arrivals.clear()
        outgoing, stand.outgoing = [*self.council.outbox, *stand.outgoing], []
        self.council.outbox.clear()
        self.passages.note(stand.places.values(), outgoing)
        for member, message in outgoing:
            if member in self.channels:
                self._post.send(member, message)
