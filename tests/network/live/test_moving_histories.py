"""Random histories of subscribers that move between live hubs, with faults, against one hub that saw it all (P7)."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.live.exchanges import Exchange

from effort import MANY, examples
from triplewire import Hub
from triplewire.errors import NetworkError, ServiceUnavailable
from triplewire.network.live import NetworkHub
from triplewire.network.live.departures import OldHub
from triplewire.network.live.moves import MOVE, SETTLED, Proof, kept_handovers
from triplewire.network.live.settlements import Newcomer, NewHub

HUBS = 3
QUERIES = [
    ("SELECT ?d { ?d <urn:a> ?x }", "document"),
    ("SELECT ?d ?x { ?d <urn:a> ?x }", "document"),
    ("SELECT ?d ?y { ?d <urn:a> ?x . ?y <urn:b> ?x }", "graph"),
]
CONTENTS = [
    "<urn:a> <urn:x0>",
    "<urn:a> <urn:x1>",
    "<urn:b> <urn:x0>",
    "<urn:a> <urn:x0> ; <urn:b> <urn:x1>",
    "<urn:a> [ <urn:c> 2 ]",
    "<urn:a> <urn:x0> ; <urn:c> 1",
]

ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), st.integers(0, HUBS - 1), st.integers(0, len(CONTENTS) * 2 - 1)),
        st.tuples(st.just("retract"), st.integers(0, HUBS - 1), st.integers(0, 1)),
        st.tuples(st.just("move"), st.integers(0, HUBS - 1), st.integers(0, len(QUERIES) - 1)),
        st.tuples(st.just("lose handover"), st.integers(0, HUBS - 1), st.integers(0, len(QUERIES) - 1)),
        st.tuples(st.just("lose confirmation"), st.integers(0, HUBS - 1), st.integers(0, len(QUERIES) - 1)),
        st.tuples(st.sampled_from(["pause", "resume"]), st.just(0), st.integers(0, len(QUERIES) - 1)),
        st.tuples(st.just("restart"), st.integers(0, HUBS - 1), st.just(0)),
        st.tuples(st.just("run"), st.integers(1, 6), st.just(0)),
    ),
    max_size=18,
)


class Subscriber:
    """A subscription, the hub that it is at, and what its owner has read of it, at all hubs."""

    def __init__(self, id: str, at: int) -> None:
        self.id, self.at, self.cursor = id, at, 0
        self.going: int | None = None
        """The hub to which a move was begun and not ended."""
        self.read: list = []


class Movers:
    """Live hubs, subscribers that move between them, and one hub to which the same happens."""

    def __init__(self, stack: ExitStack) -> None:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        hubs = [stack.enter_context(NetworkHub(folder / f"{number}.db")) for number in range(HUBS)]
        self.exchange, self.oracle = Exchange(), stack.enter_context(Hub(":memory:"))
        self.nodes = self.exchange.form(hubs)
        self.hubs = hubs
        self.olds = [OldHub(node, hub, lambda key: None) for node, hub in zip(self.nodes, hubs, strict=True)]
        self.documents: set[str] = set()
        self.subscribers: list[Subscriber] = []
        for number, (query, scope) in enumerate(QUERIES):
            about = {"id": f"s{number}", "scope": scope, "start": "ever"}
            hubs[number % HUBS].subscribe(query, reach="network", **about)
            self.oracle.subscribe(query, **about)
            self.subscribers.append(Subscriber(f"s{number}", number % HUBS))
        self.exchange.run()

    def act(self, what: str, at: int, which: int) -> None:
        match what:
            case "publish":
                uri = f"urn:doc/{at}/{which % 2}"
                text = f"<{uri}#it> {CONTENTS[which // 2]} ."
                self.documents.add(uri)
                self.hubs[at].publish(text, uri=uri)
                self.oracle.publish(text, uri=uri)
            case "retract" if (uri := f"urn:doc/{at}/{which}") in self.documents:
                self.documents.discard(uri)
                self.hubs[at].retract(uri)
                self.oracle.retract(uri)
            case "restart":
                self.exchange.restart(self.nodes[at])
            case "run":
                self.exchange.run(at)
            case "pause" | "resume" if self.subscribers[which].going is None:
                subscriber = self.subscribers[which]
                getattr(self.hubs[subscriber.at], what)(subscriber.id)
            case "move" | "lose handover" | "lose confirmation":
                self.move(self.subscribers[which], at, {"lose handover": MOVE, "lose confirmation": SETTLED}.get(what))

    def move(self, subscriber: Subscriber, to: int, lost: str | None = None) -> None:
        to = to if subscriber.going is None else subscriber.going
        if to == subscriber.at:
            return
        if subscriber.going is None:
            self.read(subscriber)
        old, new = self.olds[subscriber.at], self.nodes[to]

        async def ask(member: str, question: dict) -> dict:
            answer = old.answer(new.name, question)
            if question["kind"] == lost:
                raise NetworkError("the line is cut")
            return answer

        asked = old.answer(new.name, {"kind": "move challenge", "key": subscriber.id})
        proof = Proof(
            subscriber.id, asked["generation"], asked["nonce"], "", [subscriber.id], {subscriber.id: subscriber.cursor}
        )
        subscriber.going = to
        try:
            newcomer = Newcomer(None, None, lambda patterns: None, asyncio.Lock())
            told = asyncio.run(NewHub(new, self.hubs[to], ask).move(self.nodes[subscriber.at].name, proof, newcomer))
        except ServiceUnavailable:
            assert lost == MOVE
            return
        assert [id for id, _ in told] == [subscriber.id]
        subscriber.at, subscriber.going, subscriber.cursor = to, None, told[0][1]

    def read(self, subscriber: Subscriber) -> None:
        found = list(self.hubs[subscriber.at].events(subscriber.id, after=subscriber.cursor))
        subscriber.read += found
        subscriber.cursor = found[-1].cursor if found else subscriber.cursor

    def places(self, subscriber: Subscriber) -> list[int]:
        """The hubs that tell a subscriber something."""
        return [at for at, hub in enumerate(self.hubs) if subscriber.id in {each.id for each in hub.subscriptions()}]

    def settle(self) -> None:
        for subscriber in self.subscribers:
            if subscriber.going is not None:
                self.move(subscriber, subscriber.going)
        self.exchange.run()
        for subscriber in self.subscribers:
            self.hubs[subscriber.at].resume(subscriber.id)
            self.read(subscriber)


def shown(row) -> str:
    """A row in which blank nodes have no names: those are other ones at each hub."""
    return str({name: "[]" if str(term).startswith("_:") else str(term) for name, term in row.items()})


def ends_as_in_one_hub(actions) -> None:
    """Each row begins, changes and ends in turn, wherever its subscriber was, and what is left is what one hub has."""
    with ExitStack() as stack:
        movers = Movers(stack)
        for action in actions:
            movers.act(*action)
            assert all(len(movers.places(each)) <= 1 for each in movers.subscribers)
        movers.settle()
        for subscriber in movers.subscribers:
            rows = Counter()
            for event in subscriber.read:
                row = shown(event.row)
                rows[row] += {"matched": 1, "unmatched": -1, "changed": 0}[event.kind]
                assert 0 <= rows[row] <= (10 if "[]" in row else 1), f"{subscriber.id}: {event.kind} {row}"
            expected = Counter(map(shown, movers.oracle.rows(subscriber.id)))
            assert +rows == expected
            assert Counter(map(shown, movers.hubs[subscriber.at].rows(subscriber.id))) == expected
            assert movers.places(subscriber) == [subscriber.at]


def is_told_as_by_one_hub(actions) -> None:
    """Where each change has the time that it needs, each event is told, once."""
    with ExitStack() as stack:
        movers = Movers(stack)
        for action in actions:
            movers.act(*action)
            if action[0] in ("publish", "retract"):
                movers.settle()
        movers.settle()
        for subscriber in movers.subscribers:
            expected = [(event.kind, shown(event.row)) for event in movers.oracle.events(subscriber.id)]
            assert sorted((e.kind, shown(e.row)) for e in subscriber.read) == sorted(expected)


def test_hub_that_keeps_what_a_subscriber_had_does_not_leave_before_it_has_arrived():
    """P7: what has arrived, of which only the confirmation was lost, does not hold it up."""
    with ExitStack() as stack:
        movers = Movers(stack)
        by_name = {node.name: old for node, old in zip(movers.nodes, movers.olds, strict=True)}
        confirmed, lost = movers.subscribers[:2]

        def leaves(hub: int) -> None:
            async def ask(member: str, question: dict) -> dict:
                return by_name[member].answer(movers.nodes[hub].name, question)

            asyncio.run(movers.olds[hub].refuse_to_strand(ask))

        movers.move(confirmed, 2, SETTLED)
        leaves(0)
        with movers.hubs[0].store.reading() as reader:
            assert not kept_handovers(reader)
        movers.move(lost, 2, MOVE)
        with pytest.raises(NetworkError, match=f"1 account.*{movers.nodes[2].name}, and has not arrived"):
            leaves(1)
        movers.settle()
        leaves(1)
        assert movers.places(lost) == [2]


@settings(max_examples=examples(25), deadline=None)
@given(ACTIONS)
def test_subscriber_that_moves_is_told_what_one_hub_would_tell_in_random_histories(actions):
    is_told_as_by_one_hub(actions)


@settings(max_examples=examples(25), deadline=None)
@given(ACTIONS)
def test_what_a_subscriber_was_told_at_all_hubs_ends_as_in_one_hub_in_random_histories(actions):
    """Invariant of `network.live.moves`: what an account has is at one hub, or kept for one other, at any time."""
    ends_as_in_one_hub(actions)


@pytest.mark.slow
@settings(max_examples=MANY, deadline=None)
@given(ACTIONS, st.booleans())
def test_many_histories_of_moves_end_as_in_one_hub(actions, has_time):
    (is_told_as_by_one_hub if has_time else ends_as_in_one_hub)(actions)
