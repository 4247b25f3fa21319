"""Access lists: what is published for some accounts is told to them, and found by them, at any hub (N4)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.histories import ACTIONS, SIZES, Both, ends_as_in_one_hub, is_told_as_by_one_hub
from tests.network.pairs import ASKED, THEME

from effort import MANY, examples
from triplewire import Access, Hub
from triplewire.network import Simulation

ACCOUNTS = ["", "ann", "bob"]
LISTS = [None, Access(["ann"]), Access(["ann", "bob"]), Access(["*"]), Access(), Access(writers=["bob"])]


def may_read(access: Access | None, account: str) -> bool:
    return access is None or access.may_read(account)


class Listed(Both):
    """Clients have accounts, and documents lists; each subscription has one hub that saw what its account may read."""

    def __init__(self, seed: int, size, lists: list[Access | None], **faults) -> None:
        super().__init__(seed, size, **faults)
        self.next = iter(lists * 1000)
        self.oracles: dict[str, tuple[Hub, str]] = {}
        self.texts: dict[str, tuple[str, Access | None]] = {}
        self.subscribers = {}

    def account(self, at: int) -> str:
        return ACCOUNTS[at % len(ACCOUNTS)]

    def subscribe(self, at, query):
        if at not in self.subscribers and at not in self.net.nodes:
            return  # it has left, and nobody new comes to it
        client = self.subscribers.get(at) or self.net.client(at=at, account=self.account(at))
        self.subscribers[at] = client
        sid = client.subscribe(query)
        self.sids[sid] = at
        self.oracles[sid] = hub, account = Hub(":memory:"), self.account(at)
        for uri, (text, access) in self.texts.items():
            if may_read(access, account):
                hub.publish(text, uri=uri)
        hub.subscribe(query, id=sid)

    def publish(self, at, uri, text):
        access = next(self.next)
        self.clients[at].publish(text, uri=uri, access=access)
        before = self.texts.get(uri)
        self.texts[uri] = text, access
        for hub, account in self.oracles.values():
            if may_read(access, account):
                hub.publish(text, uri=uri)
            elif before is not None and may_read(before[1], account):
                hub.retract(uri)

    def retract(self, at, uri):
        self.clients[at].retract(uri)
        _, access = self.texts.pop(uri)
        for hub, account in self.oracles.values():
            if may_read(access, account):
                hub.retract(uri)

    def oracle_of(self, sid):
        return self.oracles[sid][0]

    def told(self, sid):
        self.clients, clients = self.subscribers, self.clients
        try:
            return super().told(sid)
        finally:
            self.clients = clients


CHOSEN = st.lists(st.sampled_from(LISTS), min_size=1, max_size=6)


@settings(max_examples=examples(30))
@given(st.integers(0, 2**32), st.sampled_from(SIZES), CHOSEN, st.lists(ACTIONS, max_size=15))
def test_each_event_is_told_to_those_whom_lists_name_as_by_one_hub(seed, size, lists, actions):
    is_told_as_by_one_hub(Listed(seed, size, lists, loss=0.1), actions)


@settings(max_examples=examples(30))
@given(st.integers(0, 2**32), st.sampled_from(SIZES), CHOSEN, st.lists(ACTIONS, max_size=20))
def test_rows_end_as_lists_say_whatever_happens_meanwhile(seed, size, lists, actions):
    ends_as_in_one_hub(Listed(seed, size, lists, loss=0.1, duplication=0.1), actions)


@pytest.mark.slow
@settings(max_examples=MANY)
@given(st.integers(0, 2**32), st.sampled_from(SIZES), CHOSEN, st.lists(ACTIONS, max_size=30))
def test_many_histories_end_as_lists_say(seed, size, lists, actions):
    ends_as_in_one_hub(Listed(seed, size, lists, loss=0.1, duplication=0.1), actions)


def published(net, at: int, **options) -> str:
    uri = f"urn:doc/{at}"
    net.client(at=at).publish(f"<{uri}#it> <{THEME}> <urn:theme/1> .", uri=uri, **options)
    return uri


def test_list_that_changes_ends_rows_for_some_and_begins_them_for_others():
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(2, 3))
    ann, bob = net.client(at=5, account="ann"), net.client(at=5, account="bob")
    sids = [client.subscribe(ASKED % 1) for client in (ann, bob)]
    sim.run()
    for access in (Access(["ann"]), Access(["bob"]), Access(["bob"])):
        published(net, 0, access=access)
        sim.run()
    assert [event.kind for event in ann.events(sids[0])] == ["matched", "unmatched"]
    assert [event.kind for event in bob.events(sids[1])] == ["matched"]


def test_list_goes_along_with_a_client_that_moves():
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(2, 3))
    bob = net.client(at=5, account="bob")
    sid = bob.subscribe(ASKED % 1)
    sim.run()
    bob.move(to=1)
    sim.run()
    published(net, 0, access=Access(["ann"]))
    published(net, 3, access=Access(["bob"]))
    sim.run()
    assert [event.row["d"].value for event in bob.events(sid)] == ["urn:doc/3#it"]


@pytest.mark.parametrize("sought", ["documents", "publications"])
def test_query_finds_what_its_account_may_read_also_when_another_one_has_asked_before(sought):
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(2, 3))
    lists = {1: None, 2: Access(["ann"]), 4: Access(["bob"]), 5: Access(["*"])}
    for at, access in lists.items():
        published(net, at, access=access)
    sim.run()
    for _ in range(2):
        for account in ACCOUNTS:
            query = net.client(at=0, account=account).find(ASKED % 1, sought=sought)
            sim.run()
            found = query.found.documents if sought == "documents" else query.found.publications
            expected = [f"urn:doc/{at}" for at, access in lists.items() if may_read(access, account)]
            assert sorted(each.uri for each in found) == expected
    assert net.answers.hits >= len(ACCOUNTS)


def test_advertisement_with_a_list_is_found_by_those_whom_it_names():
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(2, 3))
    writer = net.client(at=5)
    id = writer.advertise(properties=[THEME], access=Access(["ann"]))
    sim.run()

    def finders() -> list[str]:
        queries = {a: net.client(at=0, account=a).find(ASKED % 1, sought="advertisements") for a in ACCOUNTS}
        sim.run()
        return [account for account, query in queries.items() if query.found.advertisements]

    assert finders() == ["ann"]
    writer.advertise(properties=[THEME], access=Access(["bob"]), id=id)
    sim.run()
    assert finders() == ["bob"]
    writer.advertise(properties=[THEME], id=id)
    sim.run()
    assert finders() == ACCOUNTS
    writer.withdraw(id)
    sim.run()
    assert finders() == []
