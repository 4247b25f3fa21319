"""What the MDV paper says of tiers, references and updates (sections 2, 2.2, 2.4, 3.5), and what it leaves open.

`test_edge` has most of it; here is the rest, sentence by sentence, each quoted.
"""

from __future__ import annotations

import pytest

from edge.worlds import World, held_by, strong
from triplewire import BackboneHub, Edge
from triplewire.errors import DocumentError, NetworkError

CLASS = "SELECT ?x { ?x a <urn:CycleProvider> }"
PATH = "search <urn:CycleProvider> c register c where c.<urn:info>.<urn:memory> > 64"


@pytest.fixture
def world():
    made = World()
    made.declare("urn:info")
    yield made
    made.edge.close()
    made.hub.close()


def subjects(edge):
    return {str(triple.subject) for triple in held_by(edge)[0]}


def provider(world, memory: int, uri: str = "urn:servers") -> None:
    """A server in a document of its own, which a provider references strongly."""
    world.publish(uri, f"<urn:s> a <urn:ServerInformation> ; <urn:memory> {memory} .")


# -- section 2 and 2.2


def test_queries_are_evaluated_locally(world):
    """Section 1: "supports caching and replication in the middle-tier so that queries can be evaluated locally"."""
    world.publish("urn:doc", "<urn:p> a <urn:CycleProvider> .")
    world.follow("rule", CLASS)
    world.edge.sync()
    asked = len(world.cable.questions)
    assert world.edge.query("ASK { <urn:p> a <urn:CycleProvider> }")
    assert [*world.edge.resource("urn:p").triples]
    assert len(world.cable.questions) == asked


def test_providers_share_the_same_schema_and_replicate_metadata_consistently():
    """Section 2.2: "by sharing the same schema and consistently replicating metadata among each other"."""
    with BackboneHub(":memory:", name="a") as one, BackboneHub(":memory:", name="b", others=[one]) as other:
        one.connect([other])
        one.set_schema(strong("urn:info"))
        one.publish("<urn:p> a <urn:CycleProvider> ; <urn:info> <urn:s> .", uri="urn:doc")
        other.publish("<urn:s> <urn:memory> 92 .", uri="urn:servers")
        other.sync()
        one.sync()
        held = []
        for hub in (one, other):
            with Edge(":memory:", hub=hub) as edge:
                edge.follow(CLASS, language="sparql", id="rule")
                edge.sync()
                held.append(held_by(edge))
        assert held[0] == held[1]
        assert len(held[0][0]) == 3


def test_set_of_rules_defines_the_parts_that_an_edge_caches(world):
    """Section 2.2: "a set of subscription rules which define the parts of the metadata the LMR wants"."""
    world.publish("urn:doc", "<urn:p> a <urn:CycleProvider> . <urn:d> a <urn:DataProvider> .")
    world.follow("rule", CLASS)
    world.edge.sync()
    assert subjects(world.edge) == {"<urn:p>"}
    world.follow("more", "SELECT ?x { ?x a <urn:DataProvider> }")
    world.edge.sync()
    assert subjects(world.edge) == {"<urn:p>", "<urn:d>"}
    world.unfollow("rule")
    assert subjects(world.edge) == {"<urn:d>"}


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (("publish", "<urn:p> a <urn:CycleProvider> ; <urn:port> 2 ."), 2),
        (("publish", "<urn:p> a <urn:CycleProvider> . <urn:q> a <urn:CycleProvider> ."), 2),
        (("retract",), 0),
    ],
    ids=["update", "insertion", "deletion"],
)
def test_updates_insertions_and_deletions_are_published_to_edges(world, change, left):
    """Section 2.2: "MDPs use subscription rules to publish updates, insertions, or deletions ... to LMRs"."""
    world.publish("urn:doc", "<urn:p> a <urn:CycleProvider> ; <urn:port> 1 .")
    world.follow("rule", CLASS)
    world.edge.sync()
    getattr(world, change[0])("urn:doc", *change[1:])
    world.edge.sync()
    world.check()
    assert len(held_by(world.edge)[0]) == left


def test_administration_is_done_at_hubs(world):
    """Section 2.2: "Metadata administration ... is done at MDPs": what is cached cannot be changed at an edge."""
    world.publish("urn:doc", "<urn:p> a <urn:CycleProvider> .")
    world.follow("rule", CLASS)
    world.edge.sync()
    with pytest.raises(DocumentError, match="change it there"):
        world.edge.publish("<urn:p> <urn:port> 2 .", uri="urn:doc")
    with pytest.raises(DocumentError, match="change it there"):
        world.edge.retract("urn:doc")
    with pytest.raises(NetworkError, match="schema of an edge"):
        world.edge.set_schema(strong())


def test_deleting_can_be_done_by_removing_parts_from_a_document(world):
    """Section 2.2: "either by removing parts from a document and updating it or by removing the complete document"."""
    both = "<urn:p> a <urn:CycleProvider> . <urn:q> a <urn:CycleProvider> ."
    world.publish("urn:doc", both)
    world.follow("rule", CLASS)
    world.edge.sync()
    world.publish("urn:doc", "<urn:p> a <urn:CycleProvider> .")
    assert world.edge.sync().deleted == ("<urn:q>",)
    world.retract("urn:doc")
    assert world.edge.sync().deleted == ("<urn:p>",)


def test_selected_metadata_becomes_a_rule_of_the_edge(world):
    """Section 2.2: "browse metadata at an MDP and select it for caching. Their LMR will generate appropriate rules"."""
    world.publish("urn:doc", "<urn:p> a <urn:CycleProvider> .")
    world.edge.sync()
    (name,) = world.hub.edges()
    world.hub.offer(name, CLASS, language="sparql", id="picked")
    world.edge.sync()
    assert [rule.id for rule in world.edge.follows()] == ["picked"]
    assert subjects(world.edge) == {"<urn:p>"}


# -- section 2.4


def test_it_is_irrelevant_in_which_document_a_referenced_resource_is_defined(world):
    """Section 2.1: "somewhere else in the same or even in another document"; no dangling reference is left."""
    world.publish("urn:doc", "<urn:p> a <urn:CycleProvider> ; <urn:info> <urn:s> .")
    world.follow("rule", CLASS)
    world.edge.sync()
    assert subjects(world.edge) == {"<urn:p>"}
    provider(world, 92)
    world.edge.sync()
    assert subjects(world.edge) == {"<urn:p>", "<urn:s>"}


def test_complete_database_is_not_transmitted(world):
    """Section 2.4: "a possible transmission of the complete database": a weak reference ends the way."""
    world.publish("urn:doc", "<urn:p> a <urn:CycleProvider> ; <urn:info> <urn:s> . <urn:s> <urn:near> <urn:far> .")
    world.publish("urn:far", "<urn:far> <urn:info> <urn:further> . <urn:further> <urn:memory> 1 .")
    world.follow("rule", CLASS)
    world.edge.sync()
    assert subjects(world.edge) == {"<urn:p>", "<urn:s>"}


@pytest.mark.parametrize("way", ["removed", "changed"])
def test_resource_without_a_rule_goes_when_the_rule_that_caused_it_is_removed_or_changed(world, way):
    """Section 2.4: "if the resource that caused their transmission is deleted, e.g., because the rule is changed"."""
    world.publish("urn:doc", "<urn:p> a <urn:CycleProvider> ; <urn:info> <urn:s> .")
    provider(world, 92)
    world.follow("rule", CLASS)
    world.edge.sync()
    world.unfollow("rule")
    if way == "changed":
        world.follow("rule", "SELECT ?x { ?x a <urn:DataProvider> }")
    world.edge.sync()
    world.check()
    assert subjects(world.edge) == set()


def test_resource_that_two_others_hold_goes_with_the_last_of_them(world):
    """The paper counts references; so does the trace from the rules, and it counts cycles right."""
    world.publish("urn:a", "<urn:p> a <urn:CycleProvider> ; <urn:info> <urn:s> .")
    world.publish("urn:b", "<urn:q> a <urn:CycleProvider> ; <urn:info> <urn:s> .")
    provider(world, 92)
    world.follow("rule", CLASS)
    world.edge.sync()
    world.retract("urn:a")
    world.edge.sync()
    assert subjects(world.edge) == {"<urn:q>", "<urn:s>"}
    world.retract("urn:b")
    assert world.edge.sync().moved_out == ("<urn:s>",)
    assert subjects(world.edge) == set()


# -- section 3.5


@pytest.mark.parametrize(("memory", "is_there"), [(128, True), (32, False), (None, False)], ids=["up", "down", "gone"])
def test_resources_that_reference_an_updated_or_deleted_resource_are_considered(world, memory, is_there):
    """Section 3.5: "there can be CycleProvider resources that now match", and some that "must now be removed"."""
    world.publish("urn:doc", "<urn:p> a <urn:CycleProvider> ; <urn:info> <urn:s> .")
    provider(world, 92 if not is_there else 32)
    world.follow("rule", PATH, "rules")
    world.edge.sync()
    if memory is None:
        world.retract("urn:servers")
    else:
        provider(world, memory)
    world.edge.sync()
    world.check()
    assert ("<urn:p>" in subjects(world.edge)) == is_there


def test_resource_that_no_longer_matches_one_rule_and_newly_matches_another_stays(world):
    """A wrong candidate: "there can be other rules they still match or new rules they now match (after an update)"."""
    world.publish("urn:doc", "<urn:p> a <urn:CycleProvider> .")
    world.follow("rule", CLASS)
    world.follow("other", "SELECT ?x { ?x a <urn:DataProvider> }")
    world.edge.sync()
    world.publish("urn:doc", "<urn:p> a <urn:DataProvider> .")
    done = world.edge.sync()
    assert done.moved_out == ()
    assert done.deleted == ()
    assert subjects(world.edge) == {"<urn:p>"}


def test_property_that_is_changed_added_or_removed_updates_the_resource(world):
    """Section 3.5: "A resource is updated if ... at least one property is changed, added, or removed"."""
    world.follow("rule", CLASS)
    for said in ("<urn:port> 1", "<urn:port> 2", "<urn:port> 2 ; <urn:host> 'h'", "<urn:host> 'h'"):
        world.publish("urn:doc", f"<urn:p> a <urn:CycleProvider> ; {said} .")
        world.edge.sync()
        world.check()


# -- traps that NETWORK names


def test_first_load_of_a_new_rule_is_atomic_with_its_position(world):
    """A trap: the paper "never describes the first load of a new rule"."""
    for number in range(5):
        world.publish(f"urn:doc/{number}", f"<urn:p{number}> a <urn:CycleProvider> .")
    world.follow("rule", CLASS)
    world.cable.cut = "back"
    with pytest.raises(Exception, match="cut"):
        world.edge.sync()
    assert subjects(world.edge) == set()
    world.cable.cut = ""
    world.edge.sync()
    assert len(subjects(world.edge)) == 5
    assert world.edge.as_of.position == world.hub.batches()[-1].number


def test_rule_built_on_a_rule_loses_what_goes_with_documents_of_the_inner_one(world):
    """A trap: the paper does not say "what happens to rules built on rules when documents go"."""
    world.publish("urn:a", "<urn:p> a <urn:CycleProvider> ; <urn:port> 5 .")
    world.follow("inner", "search <urn:CycleProvider> c register c where c.<urn:port> > 0", "rules")
    world.follow("outer", "search inner c register c where c.<urn:port> > 4", "rules", ("inner",))
    world.edge.sync()
    assert subjects(world.edge) == {"<urn:p>"}
    world.retract("urn:a")
    world.edge.sync()
    world.check()
    assert subjects(world.edge) == set()


def test_private_document_that_names_something_does_not_ask_the_hub_for_it(world):
    """A trap: "to ask the hub for it would tell the hub": what no rule reaches dangles, and `cause` says so."""
    world.publish("urn:doc", "<urn:p> a <urn:CycleProvider> .")
    world.keep("urn:own", "<urn:note> <urn:info> <urn:p> .")
    world.edge.sync()
    assert subjects(world.edge) == set()
    assert world.edge.cause("urn:p").dangles
    assert not any("urn:p>" in repr(question) for question in world.cable.questions)
