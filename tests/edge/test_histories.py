"""After any history an edge holds the strong closure of what its rules register, and its private documents (M1, M7)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edge.worlds import ACCOUNT, World
from effort import MANY, examples
from triplewire import Access
from triplewire.errors import DocumentError, ServiceUnavailable

RESOURCES = [f"<urn:r{number}>" for number in range(4)]
RULES = [
    ("SELECT ?x { ?x a <urn:C> }", "sparql"),
    ("SELECT ?x { ?x <urn:p> ?v FILTER(?v > 0) }", "sparql"),
    ("SELECT ?x { ?x <urn:s> ?y . ?y <urn:p> 1 }", "sparql"),
    ("SELECT ?x ?y { ?x <urn:t> ?y }", "sparql"),
    ("SELECT ?x { ?x <urn:s> ?b . ?b <urn:q> ?v }", "sparql"),
    ("SELECT ?y { <urn:r0> <urn:s> ?y }", "sparql"),
    ("SELECT ?x ?v { ?x a <urn:C> OPTIONAL { ?x <urn:t> ?v } }", "sparql"),
    ("search <urn:C> c register c where c.<urn:p> > 0", "rules"),
    ("//menu[@day='monday']", "xpath"),
]
SCHEMAS = [(), ("urn:s",), ("urn:t",), ("urn:s", "urn:t")]
LISTS = [None, Access(), Access([ACCOUNT]), Access(["other"])]

_objects = st.sampled_from(
    [
        *(f"<urn:{property}> {each}" for property in "st" for each in RESOURCES),
        *(f"<urn:p> {value}" for value in range(3)),
        "a <urn:C>",
        "<urn:s> [ <urn:q> 1 ; <urn:s> <urn:r3> ]",
        "<urn:t> [ <urn:q> 2 ]",
    ]
)
_lines = st.builds("{} {} .".format, st.sampled_from(RESOURCES), _objects)
_rdf = st.lists(_lines, max_size=4).map("\n".join)
_xml = st.sampled_from(["<menu day='monday'><dish>fish</dish></menu>", "<menu day='monday'/>", "<menu day='friday'/>"])
_texts = st.one_of(_rdf, _rdf, _rdf, _xml)
_uris = st.sampled_from(["urn:doc/0", "urn:doc/1", "urn:doc/2", "urn:r0"])

ACTIONS = st.one_of(
    st.tuples(st.just("publish"), _uris, _texts, st.sampled_from([None, None, None, *LISTS])),
    st.tuples(st.just("publish"), _uris, _rdf, st.none()),
    st.tuples(st.just("retract"), _uris),
    st.tuples(st.just("restrict"), _uris, st.sampled_from(LISTS)),
    st.tuples(st.just("declare"), st.sampled_from(SCHEMAS)),
    st.tuples(st.just("follow"), st.integers(0, len(RULES) - 1)),
    st.tuples(st.just("unfollow"), st.integers(0, len(RULES) - 1)),
    st.tuples(st.just("keep"), _uris, _rdf),
    st.tuples(st.sampled_from(["sync", "sync", "sync", "cut there", "cut back", "compact", "verify"])),
)


PROLOGUE = [
    ("declare", ("urn:s",)),
    ("follow", 0),
    ("follow", 1),
    ("publish", "urn:doc/0", "<urn:r0> a <urn:C> ; <urn:s> <urn:r1> . <urn:r1> <urn:s> <urn:r2> .", None),
    ("publish", "urn:doc/1", "<urn:r2> <urn:p> 0 ; <urn:s> <urn:r0> . <urn:r1> <urn:p> 0 .", None),
    ("sync",),
]
"""A cycle of strong references that one rule reaches."""


def act(world: World, action: tuple) -> None:
    """Let something happen; what an edge refuses, because it is the hub's, does not."""
    match action:
        case "publish", uri, text, access:
            world.publish(uri, text, access)
        case "retract", uri:
            world.retract(uri)
        case "restrict", uri, access:
            world.restrict(uri, access)
        case "declare", properties:
            world.declare(*properties)
        case "follow", number if f"rule{number}" not in world.rules:
            world.follow(f"rule{number}", *RULES[number])
        case "unfollow", number if f"rule{number}" in world.rules:
            world.unfollow(f"rule{number}")
        case "keep", uri, text:
            try:
                world.keep(uri, text)
            except DocumentError:
                assert uri not in world.private
        case ("sync",):
            world.edge.sync()
            world.check()
        case ("verify",):
            assert not world.edge.sync().drifted
            assert not world.edge.sync(verify=True).drifted
            world.check()
        case ("cut there" | "cut back" as cut,):
            world.cable.cut = cut.removeprefix("cut ")
            with pytest.raises(ServiceUnavailable):
                world.edge.sync()
            world.cable.cut = ""
        case ("compact",):
            with world.hub.store.reading() as reader:
                last = reader.log.last_cursor()
            world.hub.store.compact(keep_versions=1, keep_events_after=last)


def play(account: str | None, actions: list[tuple]) -> None:
    """Begin with something that is held, and look after every second action, so that what is held is what changes."""
    world = World(account=account)
    for action in PROLOGUE:
        act(world, action)
    for number, action in enumerate(actions):
        act(world, action)
        if number % 2:
            act(world, ("sync",))
    world.edge.sync()
    world.check()
    assert [*world.edge.check()] == []
    world.edge.close()
    world.hub.close()


def test_a_rule_that_is_let_go_of_and_followed_again_in_one_question_leaves_nothing_behind_at_the_hub():
    resource = "<urn:r0> <urn:s> <urn:r0> ; <urn:p> 2 ."
    play(
        None,
        [
            *[("retract", "urn:doc/0")] * 3,
            ("publish", "urn:r0", resource, None),
            ("publish", "urn:doc/0", "", None),
            ("retract", "urn:doc/0"),
            ("unfollow", 1),
            ("follow", 1),
            ("retract", "urn:doc/0"),
            ("publish", "urn:doc/0", "", None),
            ("restrict", "urn:r0", Access(["other"])),
            ("retract", "urn:r0"),
        ],
    )


MONDAY, FRIDAY = "<menu day='monday'><dish>fish</dish></menu>", "<menu day='friday'/>"


@pytest.mark.parametrize("uri", ["urn:r0", "urn:r2"], ids=["registered", "held"])
def test_xml_of_a_resource_of_a_rule_over_triples_comes_changes_and_goes(uri):
    """The XML of a document is content of the resource that has its uri, whatever brings that to the edge."""
    play(None, [("publish", uri, xml, None) for xml in (MONDAY, FRIDAY, MONDAY)] + [("retract", uri)] * 2)


@pytest.mark.parametrize("uri", ["urn:r0", "urn:r2"], ids=["registered", "held"])
def test_xml_of_a_resource_of_a_rule_over_triples_goes_when_the_account_may_not_read_it_any_more(uri):
    lists = [Access(["other"]), None, Access([ACCOUNT]), Access()]
    play(ACCOUNT, [("publish", uri, MONDAY, None)] * 2 + [("restrict", uri, each) for each in lists])


def test_xml_that_one_rule_lets_go_of_stays_for_another():
    both = [("follow", 8), ("follow", 3), ("publish", "urn:r3", MONDAY, None)]
    named = ("publish", "urn:doc/2", "<urn:r3> <urn:t> <urn:r3> .", None)
    play(None, [*both, named, ("sync",), ("publish", "urn:r3", FRIDAY, None), ("sync",), ("retract", "urn:doc/2")])


def test_a_part_of_xml_that_a_rule_does_not_select_changes():
    other = MONDAY.replace("</menu>", "</menu><!-- -->").replace("day=", "year='1' day=")
    play(None, [("follow", 8), ("publish", "urn:menu", MONDAY, None), ("publish", "urn:menu", other, None)])


def test_xml_of_which_no_triple_speaks_is_no_drift():
    """What a store has no number for is held all the same."""
    play(None, [("follow", 8), ("publish", "urn:menu", MONDAY, None), ("sync",), ("verify",), ("verify",)])


def test_blank_node_that_a_rule_registers_is_no_drift():
    world = World(account=None)
    world.follow("blank", "SELECT ?b { ?x <urn:s> ?b . ?b <urn:q> ?v }", "sparql")
    world.publish("urn:doc/0", "<urn:r0> <urn:s> [ <urn:q> 1 ] .", None)
    for action in (("sync",), ("verify",), ("verify",)):
        act(world, action)
    world.edge.close()
    world.hub.close()


@settings(max_examples=examples(100))
@given(st.sampled_from([None, ACCOUNT]), st.lists(ACTIONS, max_size=16))
def test_edge_holds_what_its_rules_register_after_any_history(account, actions):
    """Invariant of `edge.cache`: the cached documents state the contents of what the rules register, nothing else.

    Invariant of `engine.edges.steps`: an edge that follows a step holds what its rules register at the end of it.
    """
    play(account, actions)


@pytest.mark.slow
@settings(max_examples=MANY, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.sampled_from([None, ACCOUNT]), st.lists(ACTIONS, max_size=40))
def test_edge_holds_what_its_rules_register_after_many_long_histories(account, actions):
    """The same, looked for at length."""
    play(account, actions)
