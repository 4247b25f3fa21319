"""Rules that come, go or are worded anew while a question of the edge is under way: its answer is of before (M7)."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from edge.worlds import ACCOUNT, World
from hub.serving import serving
from triplewire import Access, Edge

WORDS = [
    "SELECT ?x { ?x a <urn:C> }",
    "SELECT ?x { ?x <urn:p> 1 }",
    "SELECT ?x { ?x <urn:s> ?y }",
]
LISTS = [None, None, Access(), Access([ACCOUNT])]


@pytest.fixture
def world():
    world = World()
    world.declare("urn:s")
    world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:s> <urn:2> . <urn:2> <urn:p> 1 .")
    world.publish("urn:b", "<urn:3> <urn:p> 1 .")
    yield world
    world.edge.close()
    world.hub.close()


def talk(world: World, meanwhile) -> None:
    """The edge asks until it has everything; after every answer of the hub, and before the edge has it, something
    happens."""
    conversation = world.edge.conversation()
    question = next(conversation)
    with suppress(StopIteration):
        while True:
            answer = world.cable.serve_edge(question)
            meanwhile(answer)
            question = conversation.send(answer)


def once(holds, act):
    """Something that happens with the first answer of which something holds."""
    done = []

    def meanwhile(answer) -> None:
        if holds(answer) and not done:
            done.append(answer)
            act()

    return meanwhile


def reword(world: World, id: str, text: str) -> None:
    world.unfollow(id)
    world.follow(id, text)


def test_rule_that_is_let_go_of_while_it_is_loading_leaves_nothing_behind(world):
    world.follow("other", WORDS[1])
    world.edge.sync()
    world.follow("c", WORDS[0])
    talk(world, once(lambda answer: answer.whole, lambda: world.unfollow("c")))
    world.check()
    assert world.edge.cause("urn:1").rules == ()


def test_rule_that_is_let_go_of_while_its_resources_change_leaves_nothing_behind(world):
    world.follow("c", WORDS[0])
    world.edge.sync()
    world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:q> 2 . <urn:4> a <urn:C> .")
    talk(world, once(lambda answer: answer.descriptions, lambda: world.unfollow("c")))
    world.check()


@pytest.mark.parametrize("is_loaded", [False, True])
def test_rule_that_is_worded_anew_meanwhile_keeps_what_its_new_words_register(world, is_loaded):
    world.follow("c", WORDS[0])
    if is_loaded:
        world.edge.sync()
        world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:q> 2 .")
    talk(world, once(lambda answer: answer.descriptions, lambda: reword(world, "c", WORDS[1])))
    world.edge.sync()
    world.check()


def test_rule_that_somebody_words_anew_at_the_hub_is_told_again_as_the_edge_has_it(world):
    """The subscription of a rule can be edited at the hub, as all others."""
    world.follow("c", WORDS[0])
    world.edge.sync()
    (found,) = world.hub.subscriptions()
    world.hub.edit(found.id, text=WORDS[1])
    world.edge.sync()
    world.check()
    assert [each.text for each in world.hub.subscriptions()] == [WORDS[0]]


def test_rules_that_the_hub_refuses_do_not_keep_new_ones_from_being_told(tmp_path):
    """More are refused than are told at a time."""
    with serving(f"sqlite:///{tmp_path}/hub.db", quotas={"subscriptions": 1}) as served:
        served.publish("urn:a", "<urn:1> <urn:p> 1 .")
        with Edge(":memory:", hub=served.url) as edge:
            edge.follow_many(((f"r{n}", f"SELECT ?x {{ ?x <urn:p> {n} }}") for n in range(1, 503)), language="sparql")
            edge.sync()
            states = {rule.id: rule.state for rule in edge.follows()}
    assert states.pop("r1") == "kept"
    assert set(states.values()) == {"refused"}


class ForgetfulHub:
    """A hub that forgets each rule as soon as it has heard of it, and says nothing of that."""

    def __init__(self, world: World) -> None:
        self.world, self.questions = world, 0

    def serve_edge(self, question):
        self.questions += 1
        assert self.questions < 100, "the edge asks for ever"
        answer = self.world.cable.serve_edge(question)
        return type(answer)(answer.position, answer.number, answer.time)


def test_hub_that_never_tells_of_a_rule_is_not_asked_for_ever(world):
    with Edge(":memory:", hub=ForgetfulHub(world)) as edge:
        edge.follow(WORDS[0], language="sparql", id="c")
        with pytest.raises(Exception, match="with each question"):
            edge.sync()


@pytest.mark.parametrize("seed", range(12))
def test_cache_is_right_after_rules_and_documents_changed_during_many_questions(world, seed):
    chance = Random(seed)

    def happen(_answer=None) -> None:
        id = f"rule{chance.randrange(2)}"
        deed = chance.randrange(5)
        if deed == 0:
            uri, said = chance.choice(["urn:a", "urn:b"]), ["a <urn:C>", "<urn:p> 1", f"<urn:s> <urn:{seed % 4}>"]
            world.publish(uri, "\n".join(f"<urn:{chance.randrange(4)}> {each} ." for each in chance.sample(said, 2)))
        elif deed == 1 and id in world.rules:
            world.unfollow(id)
        elif deed == 2 and id in world.rules:
            reword(world, id, chance.choice(WORDS))
        elif deed == 3 and id not in world.rules:
            world.follow(id, chance.choice(WORDS))
        elif deed == 4 and chance.random() < 0.3:
            world.hub.store.compact(keep_versions=1, keep_events_after=1_000_000)

    for _ in range(6):
        happen()
        left = iter([happen] * chance.randrange(4))
        talk(world, lambda _answer, left=left: next(left, lambda: None)())
    world.edge.sync()
    world.check()
    assert world.edge.sync(verify=True).drifted == ()


@pytest.mark.parametrize("seed", range(8))
def test_account_that_loses_and_gains_sight_during_a_comparison_holds_what_it_may_read(seed, monkeypatch):
    """Everything is compared, in many questions, between which lists, schema and documents change or are forgotten."""
    monkeypatch.setattr("triplewire.edge.edge._NODES", 2)
    chance, world = Random(seed), World(account=ACCOUNT)

    def publish() -> None:
        said = ["a <urn:C>", "<urn:p> 1", "<urn:s> <urn:1>", "<urn:s> <urn:2>", "<urn:s> [ <urn:s> <urn:3> ]"]
        text = "\n".join(f"<urn:{chance.randrange(5)}> {chance.choice(said)} ." for _ in range(5))
        world.publish(f"urn:d{chance.randrange(3)}", text, chance.choice(LISTS))

    def forget() -> None:
        world.hub.store.compact(keep_versions=1, keep_events_after=1_000_000)

    deeds = [
        publish,
        lambda: world.restrict(f"urn:d{chance.randrange(3)}", chance.choice(LISTS)),
        lambda: world.retract(f"urn:d{chance.randrange(3)}"),
        lambda: world.declare(*chance.choice([("urn:s",), ()])),
        forget,
    ]
    world.follow("c", WORDS[0])
    world.follow("p", WORDS[1])
    for _ in range(5):
        publish()
        forget()
        talk(world, lambda _answer: chance.choice(deeds)() if chance.random() < 0.5 else None)
    world.edge.sync()
    world.check()
    assert world.edge.sync(verify=True).drifted == ()
    world.edge.close()
    world.hub.close()
