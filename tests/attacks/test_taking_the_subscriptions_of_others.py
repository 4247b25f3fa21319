"""Moves between hubs of a network, tried by those whose subscriptions they are not, and by hubs that lie (P7, P8)."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from dataclasses import replace
from itertools import count

import pytest
from tests.attacks.test_hubs_that_lie_to_other_hubs import EVE, Liar, line_in
from tests.network.live.exchanges import Exchange
from tests.network.live.federations import WATER, members, wait_for

from hub.serving import problem, serving
from triplewire.client import Client
from triplewire.errors import BadRequest, NotAllowed, ServiceUnavailable, TriplewireError
from triplewire.hub.identity.accounts import Accounts
from triplewire.network.live import NetworkHub
from triplewire.network.live.departures import OldHub
from triplewire.network.live.moves import LIST, MOVE, Proof
from triplewire.network.live.settlements import Newcomer, NewHub
from triplewire.store import Store
from triplewire.wire.keys import move_text, new_private_key, public_key_of, signature_of

PEOPLE = ("maja", "mallory")
NUMBERS = count()


class Guarded:
    """Two hubs that ask who their callers are, at which maja and mallory have an account each, with the same key."""

    def __init__(self, stack: ExitStack, folder) -> None:
        self.pems = {name: new_private_key() for name in PEOPLE}
        for name, pem in self.pems.items():
            (folder / f"{name}.pem").write_bytes(pem)
        stores = [folder / "harbour.db", folder / "hill.db"]
        keys = [self.identity(store) for store in stores]
        made = [self.accounts(f"sqlite:///{store}", [*keys, EVE.public_key]) for store in stores]
        self.ids = [ids for ids, _ in made]
        self.hubs = []
        for store, (_, admin) in zip(stores, made, strict=True):
            join = {"join": self.hubs[0].url} if self.hubs else {}
            served = serving(f"sqlite:///{store}", network="hypercube", identity=True, network_patience=3_600, **join)
            self.hubs.append(stack.enter_context(served))
            self.hubs[-1].headers["Authorization"] = f"Bearer {admin}"
        wait_for(lambda: all(members(each) == 2 for each in self.hubs))
        self.names = [each.get("/v1/network").json()["name"] for each in self.hubs]
        self.people = {
            name: [
                stack.enter_context(Client(hub.url, account=ids[name], key=folder / f"{name}.pem"))
                for hub, ids in zip(self.hubs, self.ids, strict=True)
            ]
            for name in PEOPLE
        }

    def identity(self, store) -> str:
        with NetworkHub(store) as hub:
            return hub.identity.public_key

    def accounts(self, store: str, hubs: list[str]) -> tuple[dict[str, str], str]:
        with Store.open(store) as opened:
            accounts = Accounts(opened)
            for number, key in enumerate(hubs):
                accounts.add_key(f"hub {number}", key, role="publisher")
            ids = {
                name: accounts.add_key(name, public_key_of(pem), role="reader").id for name, pem in self.pems.items()
            }
            return ids, accounts.create_token("me", role="admin")[1]

    def federation(self, at: int):
        return self.hubs[at].server.config.app.state.service.federation

    def old(self, at: int) -> OldHub:
        return self.federation(at)._questions._old

    def proof(self, who: str, signer: str, old: int, new: str) -> Proof:
        """A proof with the key of one and the signature of another, or the same."""
        key = public_key_of(self.pems[who])
        asked = self.old(old).answer(new, {"kind": "move challenge", "key": key})
        text = move_text(self.names[old], new, key, asked["generation"], asked["nonce"])
        return Proof(key, asked["generation"], asked["nonce"], signature_of(self.pems[signer], text))


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    with ExitStack() as stack:
        yield Guarded(stack, tmp_path_factory.mktemp("guarded"))


@pytest.fixture
def hers(guarded):
    """Maja's subscription at the harbour, which has told her of one document; wherever it gets, it ends."""
    maja, number = guarded.people["maja"][0], next(NUMBERS)
    query = f"SELECT ?d {{ ?d <urn:theme{number}> <urn:water> }}"
    maja.subscribe(query, id="hers", language="sparql", reach="network", start="ever")
    guarded.hubs[1].publish(f"urn:doc{number}", f"<urn:d> <urn:theme{number}> <urn:water> .")
    wait_for(lambda: [event.kind for event in maja.events("hers")] == ["matched"])
    yield "hers"
    for hub in guarded.hubs:
        hub.delete("/v1/subscriptions/hers")


def is_at(guarded, at: int) -> bool:
    """Whether maja's subscription is at a hub, and hers there, and nowhere else."""
    found = [hub.get("/v1/subscriptions/hers") for hub in guarded.hubs]
    is_hers = found[at].status_code == 200 and found[at].json()["owner"] == guarded.ids[at]["maja"]
    return is_hers and found[1 - at].status_code == 404


def test_owner_moves_with_the_same_key_and_account_at_each_hub(guarded, hers):
    told = guarded.people["maja"][1].move_from(guarded.names[0])
    assert [each.id for each in told.subscriptions] == ["hers"]
    assert is_at(guarded, 1)
    assert [event.kind for event in guarded.people["maja"][1].events("hers")] == ["matched"]
    guarded.people["maja"][0].move_from(guarded.names[1], subscriptions=["hers"])
    assert is_at(guarded, 0)


@pytest.mark.parametrize("name", ["hers", "nobody's"])
def test_other_account_cannot_move_a_subscription_nor_learn_whether_there_is_one(guarded, hers, name, caplog):
    mallory = guarded.people["mallory"][1]
    with pytest.raises(NotAllowed, match=f"{name}: this account has no such subscription here"):
        mallory.move_from(guarded.names[0], subscriptions=[name])
    with pytest.raises(BadRequest, match="this account has no subscription here"):
        mallory.move_from(guarded.names[0])
    line_in(caplog, f"a move to {guarded.names[1]} is refused")
    assert is_at(guarded, 0)


def test_other_account_cannot_say_that_the_owners_key_is_its_own(guarded, hers):
    mallory = guarded.people["mallory"][1]
    wanted = {"hub": guarded.names[0], "key": public_key_of(guarded.pems["maja"])}
    with pytest.raises(NotAllowed, match="known by the same key at both hubs"):
        mallory._ask("POST", "/network/moves/challenge", json=wanted)
    signed = wanted | {"generation": 1, "nonce": "x", "signature": "00"}
    with pytest.raises(NotAllowed, match="known by the same key at both hubs"):
        mallory._ask("POST", "/network/moves", json=signed)
    problem(guarded.hubs[1].post("/v1/network/moves", json=signed), 403)  # nor can the admin, who has a token alone
    assert is_at(guarded, 0)


def test_account_that_was_revoked_moves_nothing(guarded, hers, tmp_path):
    """What it had stays where it is, for the operator to remove."""
    with Store.open(guarded.hubs[0].hub.store.url) as opened:
        known = Accounts(opened).add_key("late", public_key_of(new_private_key()), role="reader")
        Accounts(opened).revoke(known.id)
    late = Proof(known.public_key, 1, "", "")
    asked = guarded.old(0).answer(guarded.names[1], {"kind": "move challenge", "key": late.key})
    told = guarded.old(0).answer(guarded.names[1], replace(late, **asked).question(LIST))
    assert "its key is that of no account here" in told["refused"]


# -- hubs that lie


@pytest.fixture
def eve(guarded):
    """A hub that is a member, and does what it likes."""
    with Liar(guarded.hubs[0].url) as liar:
        liar.enter(EVE)
        liar.say({"about": "join", "url": "http://127.0.0.1:1"})
        wait_for(lambda: len(guarded.hubs[0].get("/v1/network").json()["members"]) == 3)
        yield liar


def asked(guarded, liar: Liar, question: dict) -> dict:
    liar.say({"about": "question", "from": EVE.name, "to": guarded.names[0], "id": 7, "hops": 0} | question)
    while True:
        told = liar.hear()
        if told["about"] == "answer":
            return told["answer"]


@pytest.mark.parametrize(
    ("signer", "to", "reason"),
    [
        ("mallory", EVE.name, "the signature is not that of the account's key"),
        ("maja", None, "its challenge is none of this hub for this move"),
    ],
    ids=["signed by another", "captured on its way to another hub"],
)
@pytest.mark.parametrize("kind", [LIST, MOVE])
def test_member_that_asks_in_the_name_of_a_subscriber(guarded, hers, eve, signer, to, reason, kind, caplog):
    """The other accounts' events are not given to a hub because it is one."""
    proof = guarded.proof("maja", signer, 0, to or guarded.names[1])
    assert reason in asked(guarded, eve, proof.question(kind))["refused"]
    line_in(caplog, f"a move to {EVE.name} is refused .* {reason}")
    assert is_at(guarded, 0)


def test_member_cannot_confirm_what_was_handed_over_to_another(guarded, hers, eve):
    """Else it could have it thrown away before it has arrived."""
    proof = guarded.proof("maja", "maja", 0, guarded.names[1])
    handed = guarded.old(0).answer(guarded.names[1], proof.question(MOVE))
    settled = {"kind": "move settled", "key": proof.key, "generation": handed["handover"]["generation"]}
    assert asked(guarded, eve, settled) == {}
    guarded.people["maja"][1].move_from(guarded.names[0])
    assert is_at(guarded, 1)


def settled(guarded, tampered, at: int = 1) -> list[tuple[str, int]]:
    """A move of maja's to the hill, by way of an old hub whose answers are tampered with."""
    proof = guarded.proof("maja", "maja", 1 - at, guarded.names[at])

    async def ask(member: str, question: dict) -> dict:
        return tampered(
            question["kind"], await asyncio.to_thread(guarded.old(1 - at).answer, guarded.names[at], question)
        )

    newcomer = Newcomer(guarded.ids[at]["maja"], guarded.ids[at]["maja"], lambda patterns: None, asyncio.Lock())
    new = NewHub(guarded.federation(at).node, guarded.hubs[at].hub, ask)
    return asyncio.run(new.move(guarded.names[1 - at], proof, newcomer))


def forged(handover: dict) -> None:
    """A document says something else than its publisher has signed."""
    text = json.dumps(handover["documents"])
    handover["documents"] = json.loads(text.replace("<urn:water>", "<urn:wine>"))
    assert json.dumps(handover["documents"]) != text


def renamed(handover: dict) -> None:
    handover["subscriptions"][0]["id"] = "another"


def multiplied(handover: dict) -> None:
    handover["subscriptions"] *= 2


def wider(handover: dict) -> None:
    handover["subscriptions"][0]["scope"] = "graph"


def without_columns(handover: dict) -> None:
    handover["subscriptions"][0]["rows"] = [["<urn:a>", "<urn:b>"]]


def of_no_terms(handover: dict) -> None:
    handover["subscriptions"][0]["rows"] = [["DROP TABLE"]]


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [
        (forged, "which has not signed it"),
        (renamed, "something else than it said"),
        (multiplied, "something else than it said"),
        (wider, "something else than it said"),
        (without_columns, "cannot be read"),
        (of_no_terms, "cannot be read"),
    ],
)
def test_old_hub_that_hands_over_something_else_is_refused_and_nothing_is_lost(guarded, hers, tamper, reason, caplog):
    def tampered(kind: str, answer: dict) -> dict:
        if kind == MOVE:
            tamper(answer["handover"])
        return answer

    with pytest.raises(ServiceUnavailable, match=reason):
        settled(guarded, tampered)
    line_in(caplog, f"{guarded.names[0]} hands over|what {guarded.names[0]} hands over")
    settled(guarded, lambda kind, answer: answer)
    assert is_at(guarded, 1)
    assert [event.kind for event in guarded.people["maja"][1].events("hers")] == ["matched"]


def test_handover_that_comes_again_is_taken_once(guarded, hers, caplog):
    """What was moved on since does not come back with an old handover."""
    captured = {}

    def kept(kind: str, answer: dict) -> dict:
        captured.setdefault(kind, answer)
        return answer

    def again(kind: str, answer: dict) -> dict:
        return captured.get(kind, answer)

    settled(guarded, kept)
    settled(guarded, lambda kind, answer: answer, at=0)
    assert is_at(guarded, 0)
    settled(guarded, lambda kind, answer: answer)
    guarded.people["maja"][1].unsubscribe("hers")
    guarded.people["maja"][0].subscribe(WATER, id="hers", language="sparql", reach="network", start="ever")
    with pytest.raises(NotAllowed, match="hands over what was moved from it before"):
        settled(guarded, again)
    line_in(caplog, "hands over again what was moved from it before")
    assert is_at(guarded, 0)


@pytest.mark.parametrize(
    "told", [{}, {"subscriptions": 3}, {"generation": 1, "subscriptions": [["a"]]}, {"refused": 3}]
)
def test_old_hub_that_answers_garbage_is_named(guarded, hers, told):
    with pytest.raises(TriplewireError, match=guarded.names[0]):
        settled(guarded, lambda kind, answer: told)
    assert is_at(guarded, 0)


def test_hub_that_asks_nobody_who_they_are_hands_over_to_its_own_machine_only(tmp_path):
    """There nobody can prove that something is theirs; all who can ask are on that machine, and other hubs are not."""
    exchange = Exchange()
    with NetworkHub(tmp_path / "open.db") as hub:
        (node,) = exchange.form([hub])
        node.council.table = node.council.table.joined(EVE.name, "https://far.example", EVE.public_key)
        node._hub.subscribe(WATER, id="water", reach="network")
        old = OldHub(node, hub, lambda key: None)
        told = old.answer(EVE.name, {"kind": "move challenge", "key": ""})
        proof = Proof("", told["generation"], told["nonce"], "")
        refused = old.answer(EVE.name, proof.question(MOVE))
        assert "hands over to hubs of its own machine only" in refused["refused"]
        assert [each.id for each in hub.subscriptions()] == ["water"]
