"""The stand: the places at which a node stands, their links, and what goes over these.

A place has a link to each neighbour, at whichever node that one stands. Between places of this node frames are handed
over at once; to others they go when the step is durable.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping
from uuid import uuid4

from triplewire.errors import ChannelRefused
from triplewire.network.channels.identities import HubIdentity, is_signed
from triplewire.network.channels.spelling import UNREADABLE, read_frame, spelled_frame
from triplewire.network.link import Frame, LogEntry, Timing
from triplewire.network.live.acceptance import refuse_forged
from triplewire.network.live.council import Message
from triplewire.network.live.places import LivePlace, signed_text
from triplewire.network.live.spelling import ROUTED, read_question, spelled_question
from triplewire.network.live.states import PlaceRecord
from triplewire.network.membership import MemberTable, read_place, spelled_place
from triplewire.network.node import Outbox
from triplewire.network.routing import RoutingState

log = logging.getLogger("triplewire.network")


class PlaceStand:
    """Where a node stands. `channels` has the members that frames can be carried to now."""

    def __init__(self, identity: HubIdentity, timing: Timing, channels: Mapping[str, str]) -> None:
        self._identity, self._name, self._timing, self._channels = identity, identity.name, timing, channels
        self.table: MemberTable | None = None
        self.records: dict[str, PlaceRecord] = {}
        self.places: dict[str, LivePlace] = {}
        """By their names; those of the records that nobody else stands at."""
        self.outgoing: list[tuple[str, Message]] = []
        """What is to be sent when the step is durable, each with the member that it is for."""
        self._linked: dict[tuple[str, str], bool] = {}
        self._local: deque[tuple[str, str, Frame]] = deque()

    def load(self, records: dict[str, PlaceRecord], table: MemberTable | None) -> None:
        """Stand where it stood, as is written, by this table."""
        self.table, self.records, self.outgoing, self._linked = None, records, [], {}
        self.places = {p: self._made(r, table) for p, r in records.items() if not r.is_lost and table is not None}
        self._local.clear()

    def _made(self, record: PlaceRecord, table: MemberTable) -> LivePlace:
        made = LivePlace(record.state, table.topology(record.place), self._identity.sign, timing=self._timing)
        record.wanting = made.wanting
        return made

    @property
    def home(self) -> LivePlace | None:
        """The node's own place, while it stands there."""
        member = None if self.table is None else self.table.member(self._name)
        return None if member is None else self.places.get(member.place)

    # -- frames

    def hear_frame(self, member: str, message: Message, now: float) -> list[str]:
        """A frame of a member came; gives reasons to end the channel that the link has.

        ChannelRefused for one that the member cannot have sent as it is.
        """
        table = self.table
        came, to, stamp = _places(message)
        if table is None or stamp > table.stamp or table.seat(came) is None or to not in self.places:
            return []  # one of the two has an older table: the frame comes again
        if table.host_of(came) != member:
            if stamp == table.stamp:
                raise ChannelRefused(f"it speaks for {table.words(came)}, at which {table.host_of(came)} stands")
            return []
        if not table.are_neighbours(to, came):
            raise ChannelRefused(f"{table.words(came)} is no neighbour of {table.words(to)}")
        frame = read_frame(message.get("frame"), ROUTED)
        if isinstance(frame, LogEntry):
            frame = refuse_forged(frame, came, to, table)
        self.carry(to, self.places[to].receive(came, frame, now))
        refused, self.places[to].refused = self.places[to].refused, []
        return refused

    def carry(self, place: str, frames: Outbox) -> None:
        """Frames of a place: to one that is here too at once, to others when the step is durable."""
        table = self.table
        assert table is not None, "places are in a table"
        for other, frame in frames:
            if other in self.places:
                self._local.append((other, place, frame))
            elif host := table.host_of(other):
                ends = {"from": spelled_place(place), "to": spelled_place(other)}
                told = {**ends, "stamp": [*table.stamp], "frame": spelled_frame(frame, ROUTED)}
                self.outgoing.append((host, {"about": "frame", **told}))

    def talk_inside(self, now: float) -> None:
        """Let the places that are here hear each other, until none has anything to say."""
        while self._local:
            place, came, frame = self._local.popleft()
            self.carry(place, self.places[place].receive(came, frame, now))

    def tick(self, now: float) -> None:
        """Time has passed for the links."""
        for place, own in self.places.items():
            for peer in [*own.neighbours]:
                due = own.due(peer)
                if due is not None and now >= due:
                    self.carry(place, own.tick(peer, now))
            self.carry(place, own.pass_over_silent(now))

    # -- places

    def follow(self, table: MemberTable, now: float, begin: Callable[[], None]) -> None:
        """Stand where a table says, and nowhere else; have links to all neighbours of these places.

        `begin` is called if the node stands at its own place for the first time.
        """
        if self.table is None or table.stamp != self.table.stamp:
            self.table = table
            for place in table.places:
                if table.host_of(place) == self._name:
                    self._stand_at(place, now, begin)
                elif place in self.places:
                    self._give_up(place)
            self._forget_strangers(now)
        for place in self.places:
            for other in table.beside(place):
                self._link(place, other, now)

    def stand_nowhere(self) -> bool:
        """This hub has left, or was left out: it tells and hears nothing any more; False if it did not before."""
        if not self.places:
            return False
        log.warning("%s is no member of the network any more; to be one again, start it with --join", self._name)
        self.load({}, None)
        return True

    def _stand_at(self, place: str, now: float, begin: Callable[[], None]) -> None:
        table = self.table
        seat = None if table is None else table.seat(place)
        assert table is not None and seat is not None, "it was looked at"  # noqa: PT018  # one is there with the other
        record = self.records.get(place)
        if record is not None and not record.is_lost and record.generation == seat.generation:
            return
        owner = table.owner_of(place)
        is_own = owner is not None and owner.name == self._name
        epoch = f"{seat.generation}-{uuid4().hex}"
        state = RoutingState(place, epoch, stands_in=owner is not None and not is_own)
        self.records[place] = PlaceRecord(seat.generation, state)
        self.places[place] = self._made(self.records[place], table)
        self._linked = {pair: known for pair, known in self._linked.items() if pair[0] != place}
        for other in table.beside(place):
            self._link(place, other, now)
        if is_own and record is not None:
            self.carry(place, self.places[place].adopt(record.state, now))
        elif is_own:
            begin()

    def _give_up(self, place: str) -> None:
        """Another member stands there now. What this hub's own place knows is kept until it is back."""
        table = self.table
        assert table is not None, "it was looked at"
        del self.places[place]
        record = self.records[place]
        owner = table.owner_of(place)
        if owner is not None and owner.name == self._name:
            record.is_lost = True
            return
        del self.records[place]
        if record.state.asked:
            asked = [spelled_question(each) for each in record.state.asked]
            handed = {"about": "handed", "corner": spelled_place(place), "asked": asked}
            self.outgoing.append((table.host_of(place), handed))

    def hear_handed(self, message: Message, now: float) -> None:
        """The one that stood in here hands over what it was asked meanwhile."""
        told = message.get("corner")
        place = read_place(told) if isinstance(told, int | str) else ""
        if place not in self.places:
            return
        try:
            questions = [read_question(each) for each in message["asked"]]
        except UNREADABLE as error:
            raise ChannelRefused(f"it handed over what are no questions: {error}") from None
        for question in questions:
            self.carry(place, self.places[place].take_question(question, now))

    def _forget_strangers(self, now: float) -> None:
        """Documents of hubs that are no members any more are gone."""
        table = self.table
        assert table is not None, "it was looked at"
        for place, own in self.places.items():
            kept = {key[0]: each.told for key, each in own.state.documents.items()}
            own.state.unanswered = [q for q in own.state.unanswered if table.owner_of(q.origin) is not None]
            for origin, sent in kept.items():
                owner = table.owner_of(origin)
                if owner is None or not is_signed(signed_text(sent), sent.signature, owner.key):
                    self.carry(place, own.forget_origin(origin, now))

    # -- links

    def _link(self, place: str, other: str, now: float) -> None:
        """See to it that a link is as its channel is."""
        table = self.table
        assert table is not None, "it was looked at"
        is_reached = other in self.places or table.host_of(other) in self._channels
        known = self._linked.get((place, other))
        if known == is_reached:
            return
        own = self.places[place]
        self._linked[place, other] = is_reached
        if is_reached or other not in own.state.links:
            self.carry(place, own.connect(other, now))
        if not is_reached:
            own.disconnect(other)

    def cut(self, member: str) -> None:
        """The channel to a member is another one, or gone: its links begin anew."""
        table = self.table
        if table is None:
            return
        for place, other in [*self._linked]:
            if table.host_of(other) == member and other not in self.places:
                if place in self.places:
                    self.places[place].disconnect(other)
                del self._linked[place, other]


def _places(message: Message) -> tuple[str, str, tuple[int, int]]:
    """From which place to which a frame goes, and by which table."""
    came, to, stamp = message.get("from"), message.get("to"), message.get("stamp")
    numbers = stamp if isinstance(stamp, list) else []
    ends = [each for each in (came, to) if type(each) is int or type(each) is str]
    if len(numbers) != 2 or len(ends) != 2 or not all(type(each) is int for each in numbers):
        raise ChannelRefused("it sent a frame without saying from which place to which")
    return read_place(ends[0]), read_place(ends[1]), (numbers[0], numbers[1])
