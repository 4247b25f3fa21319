"""What the paper says of tiers, references and updates, and what an edge promises, each as a test (M1, M6 to M8)."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from backbone.served import wait_for
from edge.worlds import ACCOUNT, Cable, World, held_by, strong
from triplewire import Access, Edge, Hub
from triplewire.errors import (
    DocumentError,
    DuplicateSubscription,
    NetworkError,
    QueryError,
    ServiceUnavailable,
    SubscriptionError,
    UnknownSubscription,
)

PIRATES = """
<urn:doc#host> a <urn:v#CycleProvider> ; <urn:v#serverHost> "pirates.uni-passau.de" ;
    <urn:v#serverPort> 5874 ; <urn:v#serverInformation> <urn:doc#info> .
<urn:doc#info> a <urn:v#ServerInformation> ; <urn:v#memory> 92 ; <urn:v#cpu> 600 .
"""
EXAMPLE_1 = """
search <urn:v#CycleProvider> c register c
where c.<urn:v#serverHost> contains 'uni-passau.de' and c.<urn:v#serverInformation>.<urn:v#memory> > 64
"""


def subjects(edge):
    return {str(triple.subject) for triple in held_by(edge)[0]}


@pytest.fixture
def world():
    world = World()
    yield world
    world.edge.close()
    world.hub.close()


@pytest.fixture
def passau(world):
    """The example of the paper: a provider with a strong reference to the information on its server."""
    world.declare("urn:v#serverInformation")
    world.publish("urn:doc", PIRATES)
    world.follow("example1", EXAMPLE_1, "rules")
    world.edge.sync()
    return world


# -- section 2.2: tiers


def test_edge_uses_only_locally_available_metadata_for_query_processing(passau):
    passau.cable.cut, passau.cable.questions = "there", []
    assert passau.edge.query("ASK { <urn:doc#host> <urn:v#serverPort> 5874 }")
    assert passau.edge.resource("urn:doc#info").content
    assert passau.cable.questions == []


def test_local_metadata_is_not_forwarded(passau):
    passau.keep("urn:notes", '<urn:doc#host> <urn:v#note> "ours alone" ; <urn:v#see> <urn:elsewhere> .')
    passau.publish("urn:doc", PIRATES.replace("92", "93"))
    passau.follow("second", "SELECT ?x { ?x <urn:v#note> ?n }")
    passau.edge.sync(verify=True)
    asked = repr(passau.cable.questions)
    assert "ours alone" not in asked
    assert "urn:elsewhere" not in asked
    assert "urn:notes" not in asked
    passau.check()


def test_what_a_private_document_refers_to_is_no_cause_for_keeping_it(passau):
    passau.publish("urn:other", "<urn:other#it> <urn:v#memory> 1 .")
    passau.keep("urn:notes", "<urn:mine> <urn:v#serverInformation> <urn:other#it> .")
    passau.edge.sync()
    cause = passau.edge.cause("urn:other#it")
    assert cause.dangles
    assert cause.private == ("urn:notes",)
    assert "no rule brings" in str(cause)
    passau.check()


def test_private_document_does_not_hold_what_its_rule_has_let_go(passau):
    passau.keep("urn:notes", "<urn:mine> <urn:v#serverInformation> <urn:doc#info> .")
    passau.unfollow("example1")
    passau.edge.sync()
    assert held_by(passau.edge) == (set(), {})


def test_private_and_cached_metadata_are_asked_together(passau):
    passau.keep("urn:notes", '<urn:doc#host> <urn:v#note> "ours" .')
    found = passau.edge.query("SELECT ?n { ?h <urn:v#note> ?n ; <urn:v#serverInformation>/<urn:v#memory> 92 }")
    assert [row["n"].value for row in found] == ["ours"]


# -- section 2.4: references


def test_referenced_resource_is_transmitted_with_the_one_that_refers_to_it_strongly(passau):
    assert subjects(passau.edge) == {"<urn:doc#host>", "<urn:doc#info>"}
    assert passau.edge.cause("urn:doc#info").parents == ("<urn:doc#host>",)
    assert passau.edge.cause("urn:doc#host").rules == ("example1",)


def test_resource_that_is_referenced_weakly_is_never_transmitted(world):
    world.publish("urn:doc", PIRATES)
    world.follow("example1", EXAMPLE_1, "rules")
    world.edge.sync()
    assert subjects(world.edge) == {"<urn:doc#host>"}


def test_strong_references_are_followed_until_there_is_nothing_new(world):
    world.declare("urn:s")
    world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:s> <urn:2> . <urn:2> <urn:s> <urn:3> .")
    world.publish("urn:b", "<urn:3> <urn:s> <urn:1> ; <urn:w> <urn:4> . <urn:4> <urn:p> 1 .")
    world.follow("c", "SELECT ?x { ?x a <urn:C> }")
    world.edge.sync()
    assert subjects(world.edge) == {"<urn:1>", "<urn:2>", "<urn:3>"}


def test_what_a_strong_reference_brought_goes_with_its_rule(passau):
    passau.unfollow("example1")
    assert held_by(passau.edge) == (set(), {})


def test_cycle_of_strong_references_that_no_rule_reaches_goes(world):
    """The trap of counting: each of the two is referenced once, for ever."""
    world.declare("urn:s")
    world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:s> <urn:2> .")
    world.publish("urn:b", "<urn:2> <urn:s> <urn:3> . <urn:3> <urn:s> <urn:2> .")
    world.follow("c", "SELECT ?x { ?x a <urn:C> }")
    world.edge.sync()
    assert subjects(world.edge) == {"<urn:1>", "<urn:2>", "<urn:3>"}
    world.publish("urn:a", "<urn:1> a <urn:C> .")
    assert world.edge.sync().moved_out == ("<urn:2>", "<urn:3>")
    assert subjects(world.edge) == {"<urn:1>"}


def test_reference_that_becomes_strong_or_weak_moves_content(world):
    world.publish("urn:doc", PIRATES)
    world.follow("example1", EXAMPLE_1, "rules")
    for schema, expected in ((["urn:v#serverInformation"], 2), ([], 1), (["urn:v#serverInformation"], 2)):
        world.declare(*schema)
        world.edge.sync()
        assert len(subjects(world.edge)) == expected


# -- section 3.5: updates and deletions


def test_resource_that_a_rule_no_longer_matches_is_removed(passau):
    passau.publish("urn:doc", PIRATES.replace("92", "32"))
    done = passau.edge.sync()
    assert done.moved_out == ("<urn:doc#host>", "<urn:doc#info>")
    assert done.deleted == ()
    passau.check()


def test_resource_that_still_matches_another_rule_stays(passau):
    passau.follow("port", "SELECT ?c { ?c <urn:v#serverPort> 5874 }")
    passau.edge.sync()
    passau.publish("urn:doc", PIRATES.replace("92", "32"))
    assert passau.edge.sync().moved_out == ()
    passau.check()


def test_no_longer_matched_is_decided_for_each_edge(passau):
    """The trap of the paper's candidates, which are those of a resource, whichever edge wants it."""
    other = World()
    other.hub, other.cable = passau.hub, Cable(passau.hub)
    other.edge = Edge(":memory:", hub=other.cable)
    other.documents, other.schema = passau.documents, passau.schema
    other.follow("port", "SELECT ?c { ?c <urn:v#serverPort> 5874 }")
    other.edge.sync()
    passau.publish("urn:doc", PIRATES.replace("92", "32"))
    passau.edge.sync()
    other.edge.sync()
    assert subjects(passau.edge) == set()
    assert subjects(other.edge) == {"<urn:doc#host>", "<urn:doc#info>"}
    other.check()


def test_newly_matched_resource_comes_when_what_it_references_changes(world):
    world.publish("urn:doc", PIRATES.replace("92", "32"))
    world.follow("example1", EXAMPLE_1, "rules")
    world.edge.sync()
    assert subjects(world.edge) == set()
    world.publish("urn:doc", PIRATES.replace("92", "128"))
    world.edge.sync()
    assert subjects(world.edge) == {"<urn:doc#host>"}


def test_changed_strong_target_that_no_rule_mentions_is_updated(world):
    """The trap of the three runs of the filter: no rule asks for what the target says."""
    world.declare("urn:s")
    world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:s> <urn:2> .")
    world.publish("urn:b", "<urn:2> <urn:p> 1 .")
    world.follow("c", "SELECT ?x { ?x a <urn:C> }")
    world.edge.sync()
    world.publish("urn:b", "<urn:2> <urn:p> 2 .")
    assert world.edge.sync().described == 1
    assert world.edge.query("ASK { <urn:2> <urn:p> 2 }")
    world.check()


def test_deleted_document_is_told_apart_from_what_moves_out(passau):
    passau.retract("urn:doc")
    done = passau.edge.sync()
    assert done.deleted == ("<urn:doc#host>", "<urn:doc#info>")
    assert done.moved_out == ()


def test_rule_built_on_a_rule_follows_when_documents_go(world):
    world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:p> 1 .")
    world.publish("urn:b", "<urn:2> a <urn:C> ; <urn:p> 2 .")
    world.follow("all", "search <urn:C> c register c where c.<urn:p> > 0", "rules")
    world.follow("large", "search all c register c where c.<urn:p> > 1", "rules", ("all",))
    world.edge.sync()
    assert [rule.resources for rule in world.edge.follows()] == [2, 1]
    with pytest.raises(SubscriptionError, match="large is built on it"):
        world.edge.unfollow("all")
    world.retract("urn:b")
    world.edge.sync()
    assert [rule.resources for rule in world.edge.follows()] == [1, 0]
    world.check()


def test_rule_that_comes_and_goes_several_times_while_the_hub_is_away_is_gone_when_it_is_back():
    world = World()
    world.publish("urn:doc", "<urn:r0> a <urn:C> .")
    for _ in range(3):
        world.follow("rule", "SELECT ?x { ?x a <urn:C> }")
        world.edge.sync()
        for _ in range(2):
            world.unfollow("rule")
            world.follow("rule", "SELECT ?x { ?x a <urn:C> }")
        world.unfollow("rule")
    world.edge.sync()
    world.check()
    assert list(world.hub.subscriptions()) == []


# -- the first load, positions, resync


def test_new_rule_brings_what_is_there_already_and_then_what_comes(world):
    world.publish("urn:a", "<urn:1> a <urn:C> .")
    world.follow("c", "SELECT ?x { ?x a <urn:C> }")
    assert world.edge.sync().described == 1
    world.publish("urn:b", "<urn:2> a <urn:C> .")
    assert world.edge.sync().described == 1
    assert subjects(world.edge) == {"<urn:1>", "<urn:2>"}


def test_only_what_differs_is_described(world):
    world.declare("urn:s")
    world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:s> <urn:2> , <urn:3> .")
    world.publish("urn:b", "<urn:2> <urn:p> 1 . <urn:3> <urn:p> 1 .")
    world.follow("c", "SELECT ?x { ?x a <urn:C> }")
    assert world.edge.sync().described == 3
    world.publish("urn:b", "<urn:2> <urn:p> 2 . <urn:3> <urn:p> 1 .")
    assert world.edge.sync().described == 1
    assert world.edge.sync().described == 0


def test_answer_that_was_lost_is_told_again(world):
    """Invariant of `wire.edges`: an answer depends on the question and the hub's state, so it may be asked again."""
    world.publish("urn:a", "<urn:1> a <urn:C> .")
    world.follow("c", "SELECT ?x { ?x a <urn:C> }")
    world.cable.cut = "back"
    with pytest.raises(ServiceUnavailable):
        world.edge.sync()
    assert world.edge.status().problem == "the cable is cut"
    world.cable.cut = ""
    world.edge.sync()
    world.check()
    assert world.edge.status().problem == ""


def test_edge_goes_on_where_its_process_ended(tmp_path):
    """Invariant of `edge.rules`: the state of an edge is written with what it says is there."""
    world = World(str(tmp_path / "edge.db"))
    world.publish("urn:a", "<urn:1> a <urn:C> .")
    world.follow("c", "SELECT ?x { ?x a <urn:C> }")
    world.edge.sync()
    position = world.edge.as_of.position
    world.reopen()
    assert world.edge.as_of.position == position
    world.publish("urn:b", "<urn:2> a <urn:C> .")
    assert world.edge.sync().described == 1
    world.check()


def test_position_is_kept_only_with_the_content(world, monkeypatch):
    world.publish("urn:a", "<urn:1> a <urn:C> .")
    world.follow("c", "SELECT ?x { ?x a <urn:C> }")
    world.edge.sync()
    before = world.edge.as_of.position
    world.publish("urn:b", "<urn:2> a <urn:C> .")
    with monkeypatch.context() as patch:
        patch.setattr("triplewire.edge.rules.EdgeState.write", _power_fails)
        with pytest.raises(OSError, match="power"):
            world.edge.sync()
    assert world.edge.as_of.position == before
    assert subjects(world.edge) == {"<urn:1>"}
    world.edge.sync()
    world.check()


def _power_fails(*_):
    raise OSError("the power failed")


class TornCable(Cable):
    """A cable whose first questions end as nobody has thought of."""

    def serve_edge(self, question):
        if len(self.questions) < 2:
            self.questions.append(question)
            raise ConnectionResetError("torn")
        return super().serve_edge(question)


def test_error_that_nobody_thought_of_does_not_end_following(world, caplog):
    world.publish("urn:a", "<urn:1> a <urn:C> .")
    with Edge(":memory:", hub=TornCable(world.hub)) as edge:
        edge.follow("SELECT ?x { ?x a <urn:C> }", language="sparql", id="c")
        edge.start()
        wait_for(lambda: edge.status().problem == "torn")
        wait_for(lambda: subjects(edge) == {"<urn:1>"})
        wait_for(lambda: edge.status().problem == "")
    assert "tries again" in caplog.text


def test_hub_that_forgot_what_is_missing_makes_the_edge_compare(world):
    world.publish("urn:a", "<urn:1> a <urn:C> .")
    world.publish("urn:b", "<urn:2> a <urn:C> .")
    world.follow("c", "SELECT ?x { ?x a <urn:C> }")
    world.edge.sync()
    world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:p> 1 .")
    world.retract("urn:b")
    world.hub.store.compact(keep_versions=1, keep_events_after=1_000)
    done = world.edge.sync()
    assert "does not keep" in done.resync
    assert done.repaired == 1
    world.check()


def test_hub_with_another_history_is_not_trusted(world):
    world.publish("urn:a", "<urn:1> a <urn:C> .")
    world.follow("c", "SELECT ?x { ?x a <urn:C> }")
    world.edge.sync()
    world.hub = world.cable.hub = Hub(":memory:")
    world.documents = {}
    world.publish("urn:b", "<urn:2> a <urn:C> .")
    world.edge.sync()
    world.check()


def test_restored_hub_is_noticed(tmp_path):
    world = World()
    world.hub.close()
    world.hub = world.cable.hub = Hub(tmp_path / "hub.db")
    world.publish("urn:a", "<urn:1> a <urn:C> .")
    world.follow("c", "SELECT ?x { ?x a <urn:C> }")
    world.edge.sync()
    world.hub.store.backup(tmp_path / "backup.db")
    kept = dict(world.documents)
    world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:p> 1 .")
    world.edge.sync()
    world.hub.close()
    world.hub = world.cable.hub = Hub(tmp_path / "backup.db")
    world.documents = kept
    world.publish("urn:z", "<urn:9> a <urn:D> .")
    assert "another history" in world.edge.sync().resync
    world.check()


def test_drift_is_found_repaired_and_reported(passau):
    with passau.edge._writing() as writer:
        writer.registrations.add("example1", ["<urn:ghost>"])
    Hub.apply(passau.edge, [])
    with passau.edge.store.writing() as writer:
        writer.triples.replace([(1, writer.triples.scan([0])[0][:1], [])])
    done = passau.edge.sync(verify=True)
    assert done.drifted == ("example1",)
    assert done.repaired
    with passau.edge._reading() as reader:
        assert reader.registrations.of_rule("example1") == {"<urn:doc#host>"}


@pytest.mark.parametrize("between", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_character_that_some_take_for_the_end_of_a_line_is_neither_drift_nor_an_end(world, between):
    world.publish("urn:a", f"<urn:1> a <urn:C> ; <urn:title> 'one{between}two' .")
    world.follow("c", "SELECT ?x { ?x a <urn:C> }")
    world.edge.sync()
    assert world.edge.sync(verify=True).drifted == ()
    world.publish("urn:b", "<urn:2> a <urn:C> .")
    world.hub.store.compact(keep_versions=1, keep_events_after=1_000)
    assert world.edge.sync().repaired == 1
    world.check()


# -- access


def test_what_the_account_may_not_read_does_not_come_through_a_strong_reference_either():
    world = World(account=ACCOUNT)
    world.declare("urn:s")
    world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:s> <urn:2> .")
    world.publish("urn:b", "<urn:2> <urn:p> 1 .", Access(["other"]))
    world.follow("c", "SELECT ?x { ?x a <urn:C> }")
    world.edge.sync()
    assert subjects(world.edge) == {"<urn:1>"}
    world.restrict("urn:b", Access([ACCOUNT]))
    world.edge.sync()
    assert subjects(world.edge) == {"<urn:1>", "<urn:2>"}
    world.restrict("urn:b", Access(["other"]))
    assert world.edge.sync().deleted == ("<urn:2>",)
    world.check()


# -- everything of a hub, and what is refused


def test_subscription_at_an_edge_hears_of_the_cache_and_of_what_is_private(passau):
    passau.edge.subscribe("SELECT ?x ?m { ?x <urn:v#memory> ?m }", id="local", scope="graph", start="ever")
    passau.publish("urn:doc", PIRATES.replace("92", "128"))
    passau.edge.sync()
    passau.keep("urn:notes", "<urn:mine> <urn:v#memory> 1 .")
    kinds = [(event.kind, event.row["m"].value) for event in passau.edge.events("local")]
    assert kinds == [("matched", "92"), ("unmatched", "92"), ("matched", "128"), ("matched", "1")]
    assert passau.edge.why("local", passau.edge.rows("local")[0])


def test_cached_document_is_not_changed_at_the_edge(passau):
    for change in (
        lambda: passau.edge.publish("<urn:x> <urn:p> 1 .", uri="urn:doc"),
        lambda: passau.edge.retract("urn:doc"),
        lambda: passau.edge.restrict("urn:doc", Access()),
        lambda: passau.edge.publish("<urn:x> <urn:p> 1 .", uri="urn:triplewire:cached:urn:doc"),
    ):
        with pytest.raises(DocumentError, match="hub"):
            change()
    passau.check()


def test_cached_document_stands_beside_a_private_one_of_the_same_uri(world):
    world.keep("urn:doc", "<urn:mine> <urn:p> 1 .")
    world.publish("urn:doc", PIRATES)
    world.follow("all", "SELECT ?x ?y { ?x <urn:v#serverInformation> ?y }")
    world.edge.sync()
    world.check()
    assert str(world.edge.document("urn:doc").triples[0].subject) == "<urn:mine>"


@pytest.mark.parametrize("change", [lambda edge: edge.set_schema(strong("urn:s")), lambda edge: edge.set_taxonomy([])])
def test_schema_and_taxonomy_of_an_edge_are_its_hubs(world, change):
    with pytest.raises(NetworkError, match="hub's"):
        change(world.edge)


def test_taxonomy_of_the_hub_counts_at_the_edge(world):
    world.publish("urn:t", "<urn:Dog> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:Animal> .")
    world.publish("urn:a", "<urn:rex> <urn:kind> <urn:Dog> .")
    world.follow("rex", "SELECT ?x { ?x <urn:kind> ?k }")
    world.edge.sync()
    assert world.edge.taxonomy.parents(NamedNode("urn:Dog")) == world.hub.taxonomy.parents(NamedNode("urn:Dog"))
    assert world.edge.taxonomy.parents(NamedNode("urn:Dog"))


def test_edge_of_an_edge_holds_what_is_cached_and_never_what_is_private(passau):
    passau.keep("urn:notes", "<urn:mine> a <urn:v#CycleProvider> ; <urn:v#serverPort> 1 .")
    below = Edge(":memory:", hub=passau.edge)
    below.follow("SELECT ?x { ?x a <urn:v#CycleProvider> }", language="sparql", id="all")
    below.sync()
    assert held_by(below) == held_by(passau.edge)
    passau.publish("urn:doc", PIRATES.replace("92", "128"))
    passau.edge.sync()
    below.sync()
    assert held_by(below) == held_by(passau.edge)
    passau.unfollow("example1")
    below.sync()
    assert held_by(below) == (set(), {})


def test_edges_with_the_same_rule_share_one_query(world):
    world.publish("urn:a", "<urn:1> a <urn:C> .")
    edges = [Edge(":memory:", hub=world.hub) for _ in range(3)]
    for edge in edges:
        edge.follow("SELECT ?x { ?x a <urn:C> }", language="sparql", id="c")
        edge.sync()
    with world.hub.store.reading() as reader:
        assert len({record.query for record in reader.subscriptions.listing()}) == 1


def test_bad_rules_are_refused_when_they_are_followed(world):
    with pytest.raises(QueryError):
        world.edge.follow("SELECT nonsense", language="sparql")
    world.edge.follow("SELECT ?x { ?x a <urn:C> }", language="sparql", id="c")
    with pytest.raises(DuplicateSubscription):
        world.edge.follow("SELECT ?x { ?x a <urn:D> }", language="sparql", id="c")
    with pytest.raises(UnknownSubscription):
        world.edge.unfollow("nobody")


def test_rules_may_be_followed_and_let_go_while_the_cable_is_cut(passau):
    passau.cable.cut = "there"
    passau.follow("port", "SELECT ?c { ?c <urn:v#serverPort> 5874 }")
    passau.unfollow("example1")
    assert set(passau.edge.status().pending) == {"port", "example1"}
    passau.cable.cut = ""
    passau.edge.sync()
    assert passau.edge.status().pending == ()
    passau.check()
    assert [one.id for one in passau.hub.subscriptions()] == [f"{passau.edge.status().name}:port"]


def test_store_of_a_hub_does_not_become_an_edges(tmp_path):
    with Hub(tmp_path / "hub.db") as hub:
        hub.publish("<urn:1> a <urn:C> .", uri="urn:a")
    with pytest.raises(NetworkError, match="documents of its own"):
        Edge(tmp_path / "hub.db", hub="http://127.0.0.1:9")
    with pytest.raises(NetworkError, match="which hub"):
        Edge(tmp_path / "edge.db")
    with Hub(tmp_path / "hub.db") as hub:
        assert [version.uri for version in hub.documents(viewer="")] == ["urn:a"]


def test_answers_say_how_old_they_are(passau):
    first = passau.edge.as_of
    assert first.position == passau.hub.batches()[-1].number
    passau.cable.cut = "there"
    with pytest.raises(ServiceUnavailable):
        passau.edge.sync()
    later = passau.edge.as_of
    assert later.position == first.position
    assert later.age >= first.age
