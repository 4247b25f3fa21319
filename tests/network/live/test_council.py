"""The council: members agree by messages who they are, in virtual time (P3)."""

from __future__ import annotations

from collections import deque
from contextlib import suppress

import pytest

from triplewire.errors import ChannelRefused
from triplewire.network.channels.identities import HubIdentity
from triplewire.network.hypercube import Membership
from triplewire.network.live.council import Council, _ballot, _resolution, _succession

PATIENCE = 6.0
IDENTITIES = [HubIdentity.new(f"hub-{number}") for number in range(6)]


class Councils:
    """Members with channels between those that are up; messages arrive at once, in order."""

    def __init__(self, count: int) -> None:
        self.now = 100.0
        self.down: set[int] = set()
        self.members = [self._council(number) for number in range(count)]
        self.members[0].found()
        for number in range(1, count):
            by = self.members[number // 2]
            self.members[number].joins_by = by.name
            self._open(self.members[number], by)
            self.settle()

    def _council(self, number: int) -> Council:
        return Council(IDENTITIES[number], f"http://{number}", patience=PATIENCE, now=self.now)

    def number(self, name: str) -> int:
        return next(n for n, each in enumerate(self.members) if each.name == name)

    def is_up(self, name: str) -> bool:
        return self.number(name) not in self.down

    def _open(self, one: Council, other: Council) -> None:
        for a, b in ((one, other), (other, one)):
            if b.name not in a._open:
                a.opened(b.name, b._identity.public_key, self.now)
                a.canvass(b.name)

    def settle(self) -> None:
        for _ in range(50):
            self._connect()
            messages = deque((each, *sent) for each in self.members for sent in each.outbox)
            for each in self.members:
                each.outbox.clear()
            if not messages:
                return
            for sender, to, message in messages:
                if self.is_up(sender.name) and self.is_up(to):
                    self.members[self.number(to)].hear(sender.name, message, self.now)
        raise AssertionError("they never stop talking")

    def _connect(self) -> None:
        for each in self.members:
            for name in [*each._open]:
                if not (self.is_up(each.name) and self.is_up(name)):
                    each.closed(name)
            for name in each.wanted():
                if self.is_up(each.name) and self.is_up(name):
                    self._open(each, self.members[self.number(name)])

    def run(self, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until:
            self.now += 0.5
            for number, each in enumerate(self.members):
                if number not in self.down:
                    each.tick(self.now)
            self.settle()

    def leave(self, number: int, seconds: float) -> None:
        """A member wants to leave, and says so until it is none."""
        until = self.now + seconds
        while self.now < until and self.members[number].is_member:
            self.members[number].leave(self.now)
            self.settle()
            self.run(0.5)

    def tables(self) -> list[Membership]:
        return [each.table for number, each in enumerate(self.members) if number not in self.down]


def test_hub_joins_through_any_member_and_all_hear_of_it():
    councils = Councils(6)
    councils.run(2)
    (table,) = {*councils.tables()}
    assert [member.position for member in table.members] == [0, 1, 2, 3, 4, 5]
    assert table.decider == councils.members[0].name


def test_silent_member_is_stood_in_for_after_patience_and_gets_its_corner_back():
    councils = Councils(5)
    councils.down = {3}
    councils.run(PATIENCE - 2)
    assert not any(member.is_away for member in councils.tables()[0].members)
    councils.run(6)
    (table,) = {*councils.tables()}
    assert [member.is_away for member in table.members] == [False, False, False, True, False]
    councils.down = set()
    councils.run(4)
    (table,) = {*councils.tables()}
    assert not any(member.is_away for member in table.members)
    assert table.seats[3].host == councils.members[3].name


def test_when_the_decider_is_silent_another_one_is_voted_for_and_it_follows_when_it_is_back():
    councils = Councils(5)
    councils.run(2)
    councils.down = {0}
    councils.run(8 * PATIENCE)
    (table,) = {*councils.tables()}
    assert table.term > 1
    assert table.decider != councils.members[0].name
    assert table.member(councils.members[0].name).is_away
    councils.down = set()
    councils.run(2 * PATIENCE)
    (after,) = {*councils.tables()}
    assert after.decider == table.decider
    assert not any(member.is_away for member in after.members)


def test_half_of_the_members_decide_nothing():
    """So that the other half cannot decide something else meanwhile."""
    councils = Councils(4)
    councils.run(2)
    before = councils.tables()[0]
    councils.down = {2, 3}
    councils.run(10 * PATIENCE)
    assert {*councils.tables()} == {before}
    councils.down = {0, 1}
    councils.run(10 * PATIENCE)
    assert {*councils.tables()} == {before}


def test_member_votes_once_in_a_term_and_not_while_it_hears_the_decider():
    councils = Councils(3)
    councils.run(2)
    voter = councils.members[1]
    voter.hear(councils.members[2].name, {"about": "elect", "term": 2}, councils.now)
    assert not voter.outbox
    later = councils.now + 3 * PATIENCE
    for _ in range(2):
        voter.hear(councils.members[2].name, {"about": "elect", "term": 2}, later)
    assert [message["about"] for _, message in voter.outbox] == ["vote"]


@pytest.mark.parametrize("count", [2, 3, 5])
def test_decider_that_leaves_lets_another_one_decide_at_once(count):
    councils = Councils(count)
    councils.run(2)
    councils.leave(0, PATIENCE)
    (table,) = {each.table for each in councils.members[1:]}
    assert len(table.members) == count - 1
    assert (table.term, table.decider) == (2, councils.members[1].name)
    assert not councils.members[0].is_member


def test_decider_that_has_yielded_decides_nothing_and_asks_another_one_if_the_first_is_gone():
    """So that there are never two: its successor may be elected without its hearing of it."""
    councils = Councils(4)
    councils.run(2)
    councils.down = {1}
    councils.members[0].leave(councils.now)
    assert [(to, sent["about"]) for to, sent in councils.members[0].outbox] == [(councils.members[1].name, "yield")]
    before = councils.members[0].table
    councils.members[0].hear(councils.members[2].name, {"about": "leave"}, councils.now)
    assert councils.members[0].table == before
    councils.leave(0, 4 * PATIENCE)
    (table,) = {each.table for each in councils.members[2:]}
    assert table.decider in {each.name for each in councils.members[2:]}
    assert councils.members[0].name not in {member.name for member in table.members}


def test_decider_that_forgets_that_it_has_yielded_gets_no_answers():
    """Who has voted for its successor does not answer it, until there is another table."""
    councils = Councils(3)
    councils.run(2)
    decider, voter = councils.members[0], councils.members[2]
    decider.leave(councils.now)
    ((_, told),) = decider.outbox
    councils.members[1].hear(decider.name, told, councils.now)
    elect = next(sent for to, sent in councils.members[1].outbox if to == voter.name)
    voter.hear(councils.members[1].name, elect, councils.now)
    voter.outbox.clear()
    pulse = {"about": "pulse", "time": councils.now, "stamp": [*decider.table.stamp]}
    voter.hear(decider.name, pulse, councils.now)
    assert not voter.outbox
    again = councils._council(2)
    again.restore(voter.plain())
    again.opened(decider.name, IDENTITIES[0].public_key, councils.now)
    again.outbox.clear()
    again.hear(decider.name, pulse, councils.now)
    assert not again.outbox


def test_member_cannot_say_that_the_decider_yields_to_it():
    councils = Councils(3)
    councils.run(2)
    liar, voter = councils.members[2], councils.members[1]
    signed = IDENTITIES[2].sign(_succession(2, liar.name))
    with pytest.raises(ChannelRefused, match="which has not signed that"):
        voter.hear(liar.name, {"about": "elect", "term": 2, "yielded": signed}, councils.now)
    assert not voter.outbox
    voter.hear(liar.name, {"about": "yield", "term": 2, "yielded": signed}, councils.now)
    assert not voter.outbox
    for_another = IDENTITIES[0].sign(_succession(2, voter.name))
    with pytest.raises(ChannelRefused, match="which has not signed that"):
        voter.hear(liar.name, {"about": "elect", "term": 2, "yielded": for_another}, councils.now)


def forged(identity: HubIdentity, table: Membership, votes: dict[str, str]) -> dict:
    return {"about": "members", "table": table.plain(), "signature": identity.sign(_resolution(table)), "votes": votes}


def test_table_that_the_decider_has_not_signed_is_refused():
    councils = Councils(3)
    liar, reader = councils.members[2], councils.members[1]
    table = reader.table.left(councils.members[0].name)
    with pytest.raises(ChannelRefused, match=r"too few have voted|not signed"):
        reader.hear(liar.name, forged(IDENTITIES[2], table, {}), councils.now)
    own = reader.table.decided_by(liar.name, 9)
    votes = {liar.name: IDENTITIES[2].sign(_ballot(9, liar.name)), reader.name: "00"}
    with pytest.raises(ChannelRefused, match="too few have voted"):
        reader.hear(liar.name, forged(IDENTITIES[2], own, votes), councils.now)


def test_table_in_which_a_member_has_the_key_of_another_is_refused():
    councils = Councils(2)
    plain = councils.members[0].table.plain()
    plain["members"][1]["key"] = IDENTITIES[5].public_key
    table = Membership.read(plain | {"number": 99})
    with pytest.raises(ChannelRefused, match="not its own"):
        councils.members[1].hear(councils.members[0].name, forged(IDENTITIES[0], table, {}), councils.now)


def test_hub_that_is_no_member_may_only_ask_to_join():
    councils = Councils(2)
    stranger = IDENTITIES[4]
    councils.members[0].opened(stranger.name, stranger.public_key, councils.now)
    for message in ({"about": "pulse", "time": 0, "stamp": [1, 1]}, {"about": "leave"}, {"about": "nonsense"}, {}):
        with pytest.raises(ChannelRefused, match="may only ask to join"):
            councils.members[0].hear(stranger.name, message, councils.now)


@pytest.mark.parametrize(
    "message",
    [
        {"about": "pulse"},
        {"about": "members", "table": 3},
        {"about": "vote"},
        {"about": "elect", "term": "x"},
        {"about": "join", "url": "ftp://x", "name": "x", "key": "y"},
        {"about": "nonsense"},
        {},
    ],
)
def test_garbage_is_refused_in_words_or_passed_over(message):
    councils = Councils(2)
    before = councils.members[0].table
    with suppress(ChannelRefused):
        councils.members[0].hear(councils.members[1].name, message, councils.now)
    assert councils.members[0].table == before


def test_what_a_council_keeps_is_what_it_goes_on_with():
    councils = Councils(3)
    again = councils._council(1)
    again.restore(councils.members[1].plain())
    assert again.plain() == councils.members[1].plain()
    assert again.wanted() == councils.members[1].wanted()
