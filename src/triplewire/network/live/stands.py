"""The stand: the corners at which a node stands, their links, and what goes over these.

A corner has a link to each neighbour, at whichever node that one stands. Between corners of this node frames are handed
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
from triplewire.network.hypercube import Membership, corner, neighbours, position_of
from triplewire.network.link import Frame, LogEntry, Timing
from triplewire.network.live.acceptance import refuse_forged
from triplewire.network.live.corners import LiveCorner, signed_text
from triplewire.network.live.council import Message
from triplewire.network.live.spelling import ROUTED, read_question, spelled_question
from triplewire.network.live.states import CornerRecord
from triplewire.network.node import Outbox
from triplewire.network.routing import RoutingState

log = logging.getLogger("triplewire.network")


class CubeStand:
    """Where a node stands. `channels` has the members that frames can be carried to now."""

    def __init__(self, identity: HubIdentity, timing: Timing, channels: Mapping[str, str]) -> None:
        self._identity, self._name, self._timing, self._channels = identity, identity.name, timing, channels
        self.table: Membership | None = None
        self.records: dict[int, CornerRecord] = {}
        self.corners: dict[int, LiveCorner] = {}
        """By position; those of the records that nobody else stands at."""
        self.outgoing: list[tuple[str, Message]] = []
        """What is to be sent when the step is durable, each with the member that it is for."""
        self._linked: dict[tuple[int, int], bool] = {}
        self._local: deque[tuple[int, str, Frame]] = deque()

    def load(self, records: dict[int, CornerRecord]) -> None:
        """Stand where it stood, as is written."""
        self.table, self.records, self.outgoing, self._linked = None, records, [], {}
        self.corners = {p: self._made(r) for p, r in records.items() if not r.is_lost}
        self._local.clear()

    def _made(self, record: CornerRecord) -> LiveCorner:
        made = LiveCorner(record.state, self._identity.sign, timing=self._timing)
        record.wanting = made.wanting
        return made

    @property
    def home(self) -> LiveCorner | None:
        """The node's own corner, while it stands there."""
        member = None if self.table is None else self.table.member(self._name)
        return None if member is None else self.corners.get(member.position)

    # -- frames

    def hear_frame(self, member: str, message: Message, now: float) -> list[str]:
        """A frame of a member came; gives reasons to end the channel that the link has.

        ChannelRefused for one that the member cannot have sent as it is.
        """
        table = self.table
        came, to, stamp = _places(message)
        if table is None or stamp > table.stamp or not 0 <= came < len(table.seats) or to not in self.corners:
            return []  # one of the two has an older table: the frame comes again
        if table.seats[came].host != member:
            if stamp == table.stamp:
                raise ChannelRefused(f"it speaks for corner {came}, at which {table.seats[came].host} stands")
            return []
        if (to ^ came).bit_count() != 1:
            raise ChannelRefused(f"corner {came} is no neighbour of corner {to}")
        frame = read_frame(message.get("frame"), ROUTED)
        if isinstance(frame, LogEntry):
            frame = refuse_forged(frame, came, to, table)
        self.carry(to, self.corners[to].receive(corner(came), frame, now))
        refused, self.corners[to].refused = self.corners[to].refused, []
        return refused

    def carry(self, position: int, frames: Outbox) -> None:
        """Frames of a corner: to one that is here too at once, to others when the step is durable."""
        table = self.table
        assert table is not None, "corners stand in a table"
        for name, frame in frames:
            other = position_of(name)
            if other in self.corners:
                self._local.append((other, corner(position), frame))
            elif other < len(table.seats):
                told = {"from": position, "to": other, "stamp": [*table.stamp], "frame": spelled_frame(frame, ROUTED)}
                self.outgoing.append((table.seats[other].host, {"about": "frame", **told}))

    def talk_inside(self, now: float) -> None:
        """Let the corners that are here hear each other, until none has anything to say."""
        while self._local:
            position, came, frame = self._local.popleft()
            self.carry(position, self.corners[position].receive(came, frame, now))

    def tick(self, now: float) -> None:
        """Time has passed for the links."""
        for position, own in self.corners.items():
            for peer in [*own.neighbours]:
                due = own.due(peer)
                if due is not None and now >= due:
                    self.carry(position, own.tick(peer, now))

    # -- corners

    def follow(self, table: Membership, now: float, begin: Callable[[], None]) -> None:
        """Stand where a table says, and nowhere else; have links to all neighbours of these corners.

        `begin` is called if the node stands at its own corner for the first time.
        """
        if self.table is None or table.stamp != self.table.stamp:
            self.table = table
            for position, seat in enumerate(table.seats):
                if seat.host == self._name:
                    self._stand_at(position, seat.generation, now, begin)
                elif position in self.corners:
                    self._give_up(position)
            self._forget_strangers(now)
        for position in self.corners:
            for other in neighbours(position, table.dimensions):
                self._link(position, other, now)

    def stand_nowhere(self) -> bool:
        """This hub has left, or was left out: it tells and hears nothing any more; False if it did not before."""
        if not self.corners:
            return False
        log.warning("%s is no member of the network any more; to be one again, start it with --join", self._name)
        self.load({})
        return True

    def _stand_at(self, position: int, generation: int, now: float, begin: Callable[[], None]) -> None:
        record = self.records.get(position)
        if record is not None and not record.is_lost and record.generation == generation:
            return
        table = self.table
        assert table is not None, "it was looked at"
        owner = table.owner(position)
        is_own = owner is not None and owner.name == self._name
        state = RoutingState(
            corner(position), f"{generation}-{uuid4().hex}", stands_in=owner is not None and not is_own
        )
        self.records[position] = CornerRecord(position, generation, state)
        self.corners[position] = self._made(self.records[position])
        self._linked = {pair: known for pair, known in self._linked.items() if pair[0] != position}
        for other in neighbours(position, table.dimensions):
            self._link(position, other, now)
        if is_own and record is not None:
            self.carry(position, self.corners[position].adopt(record.state, now))
        elif is_own:
            begin()

    def _give_up(self, position: int) -> None:
        """Another member stands there now. What this hub's own corner knows is kept until it is back."""
        table = self.table
        assert table is not None, "it was looked at"
        del self.corners[position]
        record = self.records[position]
        owner = table.owner(position)
        if owner is not None and owner.name == self._name:
            record.is_lost = True
            return
        del self.records[position]
        if record.state.asked:
            asked = [spelled_question(each) for each in record.state.asked]
            handed = {"about": "handed", "corner": position, "asked": asked}
            self.outgoing.append((table.seats[position].host, handed))

    def hear_handed(self, message: Message, now: float) -> None:
        """The one that stood in here hands over what it was asked meanwhile."""
        position = message.get("corner")
        if not isinstance(position, int) or position not in self.corners:
            return
        try:
            questions = [read_question(each) for each in message["asked"]]
        except UNREADABLE as error:
            raise ChannelRefused(f"it handed over what are no questions: {error}") from None
        for question in questions:
            self.carry(position, self.corners[position].take_question(question, now))

    def _forget_strangers(self, now: float) -> None:
        """Documents of hubs that are no members any more are gone."""
        table = self.table
        assert table is not None, "it was looked at"
        for position, own in self.corners.items():
            kept = {key[0]: each.told for key, each in own.state.documents.items()}
            for origin, sent in kept.items():
                owner = table.owner(position_of(origin))
                if owner is None or not is_signed(signed_text(sent), sent.signature, owner.key):
                    self.carry(position, own.forget_origin(origin, now))

    # -- links

    def _link(self, position: int, other: int, now: float) -> None:
        """See to it that a link is as its channel is."""
        table = self.table
        assert table is not None, "it was looked at"
        is_reached = other in self.corners or table.seats[other].host in self._channels
        known = self._linked.get((position, other))
        if known == is_reached:
            return
        own = self.corners[position]
        self._linked[position, other] = is_reached
        if is_reached or corner(other) not in own.state.links:
            self.carry(position, own.connect(corner(other), now))
        if not is_reached:
            own.disconnect(corner(other))

    def cut(self, member: str) -> None:
        """The channel to a member is another one, or gone: its links begin anew."""
        table = self.table
        if table is None:
            return
        for position, other in [*self._linked]:
            if other < len(table.seats) and table.seats[other].host == member and other not in self.corners:
                if position in self.corners:
                    self.corners[position].disconnect(corner(other))
                del self._linked[position, other]


def _places(message: Message) -> tuple[int, int, tuple[int, int]]:
    """From which corner to which a frame goes, and by which table."""
    came, to, stamp = message.get("from"), message.get("to"), message.get("stamp")
    numbers = [came, to, *stamp] if isinstance(stamp, list) else []
    if len(numbers) != 4 or not all(type(each) is int for each in numbers):
        raise ChannelRefused("it sent a frame without saying from which corner to which")
    return numbers[0], numbers[1], (numbers[2], numbers[3])
