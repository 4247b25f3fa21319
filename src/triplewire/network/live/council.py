"""The council: how the members of a live network agree who they are, by messages.

The table of members (`membership.MemberTable`) is decided by one member at a time, the decider of a term. It signs each
table; all others take the one with the highest stamp, and pass it on. Time is handed in; there is no IO.

    pulse      the decider asks each member whether it is there, and each answers
    members    a table, with the decider's signature and the votes that its term began with
    join       a hub wants to be a member; the member that it asks vouches for it, and passes it to the decider
    refused    why a hub cannot be a member; it goes back the way of its wish to join
    back       a member for which others stand in is there again
    leave      a member goes
    elect      a member that has not heard the decider for long wants to decide, in a new term
    vote       another member has not heard the decider either, and agrees: once for each term
    yield      the decider wants to leave: another member shall be elected, though nobody is silent

The decider decides only while more than half of the members have answered it lately. A member votes only when it has
not heard the decider for longer than that. So there are never two who decide, as long as clocks run at about the same
speed. What follows: while half of the members or more are away, nobody joins, and nobody is stood in for; documents
flow between those that are there.

Nor are there two when a decider yields. It decides nothing from then on, and who votes for its successor does not
answer it any more, until there is another table: so it could not, even if it had forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from triplewire.errors import ChannelRefused, NetworkError
from triplewire.network.channels.identities import HubIdentity, is_name_of, is_signed
from triplewire.network.channels.spelling import UNREADABLE
from triplewire.network.live.tables import read_table, table_of
from triplewire.network.membership import MemberTable

Message = dict[str, Any]


class Council:
    """A member's part in it. `patience` is how many seconds a member may be silent before others stand in for it."""

    def __init__(
        self,
        identity: HubIdentity,
        url: str,
        *,
        patience: float,
        now: float,
        network: str = "hypercube",
        cluster: str = "",
    ) -> None:
        self._identity, self._url, self._patience = identity, url, patience
        self._network, self._cluster = network, cluster
        self.name = identity.name
        self.table: MemberTable | None = None
        self._signature, self._votes = "", dict[str, str]()
        self._voted = self._yielded = 0
        self._yields = 0
        self._next_yield = now
        self._open: set[str] = set()
        self._keys: dict[str, str] = {}
        self._answered: dict[str, float] = {}
        self._heard_decider = self._began = now
        self._next_pulse = self._next_election = now
        self._candidacy: _Candidacy | None = None
        self.outbox: list[tuple[str, Message]] = []
        self.joins_by: str | None = None
        """The hub that is asked to take this one in."""
        self.refusal = ""
        """Why it was not taken in."""
        self.log: Callable[[str], None] = lambda line: None

    # -- what is durable

    def plain(self) -> Message | None:
        """What must not be lost; None if there is nothing yet."""
        if self.table is None:
            return None
        kept = {"table": self.table.plain(), "signature": self._signature, "votes": self._votes}
        return {**kept, "voted": self._voted, "yielded": self._yielded}

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Go on with what was kept."""
        self.table = read_table(kept["table"])
        if self.table.network != self._network:
            raise NetworkError(
                f"this store is that of a hub of a {self.table.network}; serve it with --network {self.table.network}"
            )
        self._signature, self._votes, self._voted = kept["signature"], dict(kept["votes"]), kept["voted"]
        self._yielded = 0 if self.is_decider else kept.get("yielded", 0)

    def found(self) -> None:
        """Be the first member."""
        self._decide(table_of(self._network).founded(self.name, self._url, self._identity.public_key, self._cluster))

    # -- what others may know

    @property
    def is_member(self) -> bool:
        """Whether this hub has a place in the table."""
        return self.table is not None and self.table.member(self.name) is not None

    @property
    def is_decider(self) -> bool:
        """Whether this member decides."""
        return self.table is not None and self.table.decider == self.name

    def key_of(self, name: str) -> str | None:
        """The public key of a member."""
        member = self.table.member(name) if self.table is not None else None
        return None if member is None else member.key

    def wanted(self) -> dict[str, str]:
        """The members to have a channel to, and where they are: neighbours, the decider; for that one, everybody."""
        table = self.table
        if table is None or not self.is_member:
            return {}
        is_for_all = self.is_decider or self._candidacy is not None
        names = {each.name for each in table.hubs} if is_for_all else table.next_to(self.name) | {table.decider}
        return {each.name: each.url for each in table.hubs if each.name in names and each.name != self.name}

    # -- channels

    def opened(self, member: str, key: str, now: float) -> None:
        """There is a channel to a hub, which has proved its key."""
        self._open.add(member)
        self._keys[member] = key
        if self.table is not None:
            self._tell(member)
        self._ask_to_join()
        self._greet_decider(member, now)
        if self.is_decider and self.key_of(member) is not None:
            self._answered[member] = now

    def _ask_to_join(self) -> None:
        if self.joins_by is not None and not self.is_member:
            self._send(
                self.joins_by, {"about": "join", "url": self._url, "network": self._network, "cluster": self._cluster}
            )

    def closed(self, member: str) -> None:
        """There is none any more."""
        self._open.discard(member)

    def _greet_decider(self, member: str, now: float) -> None:
        if self.table is None or member != self.table.decider:
            return
        self._heard_decider = now
        own = self.table.member(self.name)
        if own is not None and (own.is_away or own.url != self._url):
            self._send(member, {"about": "back", "url": self._url})

    # -- messages

    def hear(self, member: str, message: Message, now: float) -> None:
        """A message of another hub; ChannelRefused for one that it may not send."""
        about = message.get("about")
        if about not in ("join", "members", "refused") and self.key_of(member) is None:
            if self.is_member:
                raise ChannelRefused(f"{member} is no member of the network, and may only ask to join")
            return
        try:
            _HEARD[str(about)](self, member, message, now)
        except UNREADABLE as error:
            if isinstance(error, NetworkError):
                raise
            raise ChannelRefused(f"it sent a message about {str(about)[:20]!r} that is none: {error}"[:300]) from None

    def _hear_join(self, member: str, message: Message, now: float) -> None:
        if self.key_of(member) is None or "name" not in message:  # it asks for itself, and has proved its key
            name, key = member, self._keys[member]
        else:
            name, key = str(message["name"]), str(message["key"])
        url = str(message["url"])
        if not is_name_of(name, key) or not url.startswith(("http://", "https://")):
            raise ChannelRefused(f"{name[:80]!r} cannot join: its name, key or address is none")
        wish = {"network": str(message.get("network", "hypercube")), "cluster": str(message.get("cluster", ""))}
        if self.is_decider:
            self._take_in(member, name, url, key, wish, now)
        elif self.table is not None:
            self._send(self.table.decider, {"about": "join", "name": name, "key": key, "url": url, **wish})

    def _take_in(self, by: str, name: str, url: str, key: str, wish: Mapping[str, str], now: float) -> None:
        """Decide that a hub is a member, or tell it why it cannot be."""
        assert self.table is not None, "a decider has one"
        try:
            if wish["network"] != self.table.network:
                raise NetworkError(_other_network(self.table.network))
            self._decide_if_may(lambda table: table.joined(name, url, key, wish["cluster"]), now)
            self._answered.setdefault(name, now)
        except (NetworkError, ValueError) as error:
            self.log(f"{name} is not taken in: {error}")
            self._send(by, {"about": "refused", "name": name, "reason": str(error)})

    def _hear_refused(self, member: str, message: Message, now: float) -> None:
        if message["name"] != self.name:
            if self.table is not None and member == self.table.decider:
                self._send(str(message["name"]), message)
        elif not self.is_member and member == self.joins_by:
            self._note_refusal(str(message["reason"])[:500])

    def _note_refusal(self, reason: str) -> None:
        """A reason that stays the same is told once."""
        if reason != self.refusal:
            self.log(f"{self.name} is not taken into the network: {reason}")
        self.refusal = reason

    def _hear_back(self, member: str, message: Message, now: float) -> None:
        url, key = str(message["url"]), self._keys[member]
        if not url.startswith(("http://", "https://")):
            raise ChannelRefused("its address is none")
        if self.is_decider:
            self._answered[member] = now
            self._decide_if_may(lambda table: table.joined(member, url, key).back(member), now)

    def _hear_leave(self, member: str, message: Message, now: float) -> None:
        if self.is_decider:
            self._decide_if_may(lambda table: table.left(member), now)

    def _hear_pulse(self, member: str, message: Message, now: float) -> None:
        if self.table is None:
            return
        stamp = tuple(message["stamp"])
        if message.get("is_answer"):
            self._answered[member] = max(self._answered.get(member, 0.0), float(message["time"]))
        elif member == self.table.decider and not self._has_yielded:
            self._heard_decider = now
            self._greet_decider(member, now)
            self._send(member, {**message, "is_answer": True, "stamp": [*self.table.stamp]})
        if stamp < self.table.stamp:
            self._tell(member)

    def _hear_elect(self, member: str, message: Message, now: float) -> None:
        term = int(message["term"])
        if self.table is None or term <= max(self._voted, self.table.term):
            return
        if "yielded" in message:
            self._refuse_usurper(member, term, str(message["yielded"]))
            self._yielded = term
        elif self.is_decider or now - self._heard_decider <= 2 * self._patience:
            return
        self._voted = term
        vote = self._identity.sign(_ballot(term, member))
        self._send(member, {"about": "vote", "term": term, "vote": vote})

    def _refuse_usurper(self, name: str, term: int, yielded: str) -> None:
        """ChannelRefused unless the decider has signed that a member shall decide after it."""
        assert self.table is not None, "it was looked at"
        key = self.key_of(self.table.decider)
        if key is None or not is_signed(_succession(term, name), yielded, key):
            raise ChannelRefused("it says that the decider lets it decide, which has not signed that")

    @property
    def _has_yielded(self) -> bool:
        """Whether another one than the decider of this table is to decide."""
        return self.table is not None and self._yielded > self.table.term

    def _hear_vote(self, member: str, message: Message, now: float) -> None:
        if self._candidacy is None or self.table is None or message["term"] != self._candidacy.term:
            return
        term, votes, yielded = self._candidacy
        key = self.key_of(member)
        if key is None or not is_signed(_ballot(term, self.name), str(message["vote"]), key):
            raise ChannelRefused("its vote is not signed by it")
        votes[member] = str(message["vote"])
        if self.table.is_majority(votes):
            self._candidacy, self._votes = None, votes
            self._answered = dict.fromkeys(votes, now)
            reason = "yields" if yielded else "was silent for too long"
            self.log(f"{self.name} decides from now on, in term {term}: {self.table.decider} {reason}")
            self._decide(self.table.decided_by(self.name, term))

    # -- tables

    def _hear_members(self, member: str, message: Message, now: float) -> None:
        coming = read_table(message["table"])
        if coming.network != self._network:
            self._note_refusal(_other_network(coming.network))
            return
        signature, votes = str(message["signature"]), dict(message["votes"])
        known = self.table
        if known is not None and self.is_member and coming.stamp <= known.stamp:
            if coming.stamp < known.stamp:
                self._tell(member)
            return
        self._refuse_unlawful(member, coming, signature, votes)
        self.table, self._signature, self._votes = coming, signature, votes
        self._candidacy, self._heard_decider, self._yielded = None, now, 0
        self.refusal = "" if self.is_member else self.refusal
        for other in sorted(self._open - {member}):
            self._tell(other)
        if coming.decider in self._open:
            self._greet_decider(coming.decider, now)

    def _refuse_unlawful(self, member: str, coming: MemberTable, signature: str, votes: Mapping[str, Any]) -> None:
        """ChannelRefused for a table that was not decided as the council decides.

        A hub takes the word of the one that it joins by, whose address its operator has given it.
        """
        for each in coming.hubs:
            if not is_name_of(each.name, each.key):
                raise ChannelRefused(f"its table says that {each.name[:80]!r} has a key that is not its own")
        judge = self.table if self.table is not None and self.is_member and member != self.joins_by else coming
        decider = judge.member(coming.decider)
        if decider is None or not is_signed(_resolution(coming), signature, decider.key):
            raise ChannelRefused("its table of members is not signed by the one who decides")
        if (coming.term, coming.decider) == (judge.term, judge.decider):
            return
        ballot = _ballot(coming.term, coming.decider)
        signed = {n for n, vote in votes.items() if (m := judge.member(n)) and is_signed(ballot, str(vote), m.key)}
        if not judge.is_majority(signed):
            raise ChannelRefused("its table of members is of a term that too few have voted for")

    def _decide_if_may(self, change: Callable[[MemberTable], MemberTable], now: float) -> None:
        assert self.table is not None, "a decider has one"
        made = change(self.table)
        if made == self.table:
            return
        if self._has_yielded:
            self.log("nothing is decided about members now: this hub leaves, and another one is to decide")
            return
        lately = [name for name, at in self._answered.items() if now - at <= self._patience]
        if not self.table.is_majority([self.name, *lately]):
            self.log("fewer than half of the members answer, so nothing is decided about members now")
            return
        self._decide(made)

    def _decide(self, made: MemberTable) -> None:
        self.table, self._signature = made, self._identity.sign(_resolution(made))
        for member in sorted(self._open):
            self._tell(member)

    def _tell(self, member: str) -> None:
        assert self.table is not None, "there is one to tell"
        told = {"table": self.table.plain(), "signature": self._signature, "votes": self._votes}
        self._send(member, {"about": "members", **told})

    def _send(self, member: str, message: Message) -> None:
        if member in self._open:
            self.outbox.append((member, message))

    # -- time

    def tick(self, now: float) -> None:
        """Time has passed."""
        if now < self._next_pulse:
            return
        self._next_pulse = now + min(5.0, self._patience / 6)
        if self.table is None or not self.is_member:
            self._ask_to_join()
        elif self.is_decider:
            self._pulse(now)
        elif now - self._heard_decider > 2 * self._patience:
            self._stand(now)

    def _pulse(self, now: float) -> None:
        assert self.table is not None, "a decider has one"
        for member in sorted(self._open):
            if self.key_of(member) is not None:
                self._send(member, {"about": "pulse", "time": now, "stamp": [*self.table.stamp]})
        for each in self.table.hubs:
            silent_for = now - self._answered.get(each.name, self._began)
            if each.name != self.name and not each.is_away and silent_for > self._patience:
                before = self.table
                self._decide_if_may(_away(each.name), now)
                if self.table != before:
                    self.log(f"{each.name} was silent for {silent_for:.0f} seconds: others stand in for it")

    def _stand(self, now: float) -> None:
        """Be a candidate; those that come later in the table wait longer, so that one of them is first."""
        assert self.table is not None, "a member has one"
        up = [each.name for each in self.table.hubs if not each.is_away and each.name != self.table.decider]
        rank = up.index(self.name) if self.name in up else len(up)
        if now < self._next_election or now - self._heard_decider < (2 + rank / 2) * self._patience:
            return
        self._next_election = now + (1 + len(up) / 2) * self._patience
        self._be_candidate(max(self._voted, self.table.term) + 1)

    def _be_candidate(self, term: int, yielded: str = "") -> None:
        self._voted = term
        self._candidacy = _Candidacy(term, {self.name: self._identity.sign(_ballot(term, self.name))}, yielded)
        for member in sorted(self._open):
            self.canvass(member)

    def canvass(self, member: str) -> None:
        """Ask a member for its vote, perhaps one that could not be asked before."""
        if self._candidacy is not None:
            yielded = {"yielded": self._candidacy.yielded} if self._candidacy.yielded else {}
            self._send(member, {"about": "elect", "term": self._candidacy.term, **yielded})

    def _hear_yield(self, member: str, message: Message, now: float) -> None:
        term, yielded = int(message["term"]), str(message["yielded"])
        if self.table is not None and member == self.table.decider and term > max(self._voted, self.table.term):
            self._refuse_usurper(self.name, term, yielded)
            self._yielded = term
            self._be_candidate(term, yielded)

    # -- this member

    def refuse_to_leave(self) -> None:
        """NetworkError if this hub cannot leave."""
        if not self.is_member:
            raise NetworkError("this hub is no member of its network")
        if self.is_decider and not self._successors():
            raise NetworkError("no other hub of the network is up, and the last one cannot leave; stop it")

    def expel(self, name: str, now: float) -> None:
        """Let a hub be a member no more; NetworkError if this one does not decide that."""
        if self.table is None or not self.is_decider:
            where = self.table.member(self.table.decider) if self.table is not None else None
            raise NetworkError(f"another hub decides who is a member: ask {where.url if where else 'it'}")
        if name == self.name or self.table.member(name) is None:
            raise NetworkError(f"{name!r} is no other member of the network")
        before = self.table
        self._decide_if_may(lambda table: table.left(name), now)
        if self.table == before:
            raise NetworkError("fewer than half of the members answer, so nothing is decided about members now")

    def leave(self, now: float) -> None:
        """Go, by the decider's decision; one that decides has another one decide first. Again, until it is done."""
        assert self.table is not None, "a member has one"
        if not self.is_decider:
            self._send(self.table.decider, {"about": "leave"})
        elif now >= self._next_yield and (names := self._successors()):
            self._next_yield = now + self._patience
            self._yielded = max(self._voted, self._yielded, self.table.term) + 1
            name = names[self._yields % len(names)]
            self._yields += 1
            signed = self._identity.sign(_succession(self._yielded, name))
            self._send(name, {"about": "yield", "term": self._yielded, "yielded": signed})

    def _successors(self) -> list[str]:
        """The other members that are there, and could decide."""
        members = self.table.hubs if self.table is not None else ()
        return [each.name for each in members if each.name in self._open and not each.is_away]


class _Candidacy(NamedTuple):
    """The term that a member wants to decide in, who has voted for it, and that the decider yields, if it does."""

    term: int
    votes: dict[str, str]
    yielded: str


def _other_network(network: str) -> str:
    return f"this network is a {network}: serve the hub with --network {network}"


def _away(name: str) -> Callable[[MemberTable], MemberTable]:
    return lambda table: table.away(name)


def _succession(term: int, name: str) -> bytes:
    return json.dumps(["triplewire network successor", term, name]).encode()


def _ballot(term: int, name: str) -> bytes:
    return json.dumps(["triplewire network vote", term, name]).encode()


def _resolution(table: MemberTable) -> bytes:
    return json.dumps(["triplewire network members", table.plain()], sort_keys=True).encode()


_HEARD: Mapping[str, Callable[[Council, str, Message, float], None]] = {
    "join": Council._hear_join,
    "refused": Council._hear_refused,
    "back": Council._hear_back,
    "leave": Council._hear_leave,
    "pulse": Council._hear_pulse,
    "elect": Council._hear_elect,
    "vote": Council._hear_vote,
    "yield": Council._hear_yield,
    "members": Council._hear_members,
}
