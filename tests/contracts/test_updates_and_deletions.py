"""MDV section 3.5: every situation, with exactly the events that it gives (M4, M6, M7).

The same sentences for every engine: `Reference`, which recomputes everything, shows that they are true of the
definitions; the hub must say the same.
"""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode
from tests.contracts.listening import HOST, HOSTS, INFO, INFOS, MEMORY, NS, PASSAU, PROVIDERS, STRONG, document, publish

from triplewire import Publish, Schema


def test_a_registered_document_matches_with_all_its_resources(hub, ear):
    ear.add("all", PROVIDERS)
    publish(hub, ":a a :CycleProvider . :b a :CycleProvider . :c a :Car .")
    assert ear.heard() == {"all": ["matched a", "matched b"]}


def test_a_new_resource_in_a_registered_document_matches_and_the_others_stay_quiet(hub, ear):
    ear.add("all", PROVIDERS)
    publish(hub, ":a a :CycleProvider .")
    ear.heard()
    publish(hub, ":a a :CycleProvider . :b a :CycleProvider .")
    assert ear.heard() == {"all": ["matched b"]}


def test_registering_the_same_content_again_says_nothing_whatever_its_order(hub, ear):
    ear.add("all", PROVIDERS)
    publish(hub, ":a a :CycleProvider ; :x [ :y 1 ] . :b a :CycleProvider .")
    ear.heard()
    publish(hub, ":b a :CycleProvider . :a :x _:other ; a :CycleProvider . _:other :y 1 .")
    assert ear.heard() == {}


def test_a_resource_that_is_deleted_from_its_document_is_unmatched(hub, ear):
    ear.add("all", PROVIDERS)
    publish(hub, ":a a :CycleProvider . :b a :CycleProvider .")
    ear.heard()
    publish(hub, ":a a :CycleProvider .")
    assert ear.heard() == {"all": ["unmatched b"]}


def test_a_document_that_is_deleted_unmatches_all_its_resources(hub, ear):
    ear.add("all", PROVIDERS)
    publish(hub, ":a a :CycleProvider . :b a :CycleProvider .")
    ear.heard()
    hub.retract(HOSTS)
    assert ear.heard() == {"all": ["unmatched a", "unmatched b"]}
    assert list(hub.rows("all")) == []


def test_a_document_that_comes_back_matches_again(hub, ear):
    ear.add("all", PROVIDERS)
    publish(hub, ":a a :CycleProvider .")
    hub.retract(HOSTS)
    ear.heard()
    publish(hub, ":a a :CycleProvider .")
    assert ear.heard() == {"all": ["matched a"]}


# The three situations of an updated resource.


def test_an_update_that_enters_the_pattern_reports_matched(hub, ear):
    ear.add("passau", PASSAU)
    publish(hub, ":a a :CycleProvider ; :serverHost 'tum.de' .")
    assert ear.heard() == {}
    publish(hub, ":a a :CycleProvider ; :serverHost 'db.uni-passau.de' .")
    assert ear.heard() == {"passau": ["matched a"]}


def test_an_update_that_leaves_the_pattern_reports_unmatched(hub, ear):
    ear.add("passau", PASSAU)
    publish(hub, ":a a :CycleProvider ; :serverHost 'db.uni-passau.de' .")
    ear.heard()
    publish(hub, ":a a :CycleProvider ; :serverHost 'tum.de' .")
    assert ear.heard() == {"passau": ["unmatched a"]}


@pytest.mark.parametrize(
    "update",
    [
        ":a a :CycleProvider ; :serverHost 'new.uni-passau.de' ; :serverPort 1 .",
        ":a a :CycleProvider ; :serverHost 'db.uni-passau.de' ; :serverPort 2 .",
        ":a a :CycleProvider ; :serverHost 'db.uni-passau.de' ; :serverPort 1 ; :colour 'red' .",
        ":a a :CycleProvider ; :serverHost 'db.uni-passau.de' .",
    ],
    ids=["the value that matches", "another property", "a property added", "a property removed"],
)
def test_an_update_that_stays_in_the_pattern_reports_changed(hub, ear, update):
    ear.add("passau", PASSAU)
    publish(hub, ":a a :CycleProvider ; :serverHost 'db.uni-passau.de' ; :serverPort 1 .")
    ear.heard()
    publish(hub, update)
    assert ear.heard() == {"passau": ["changed a"]}


def test_a_resource_that_loses_its_class_is_unmatched(hub, ear):
    ear.add("passau", PASSAU)
    publish(hub, ":a a :CycleProvider ; :serverHost 'db.uni-passau.de' .")
    ear.heard()
    publish(hub, ":a a :Museum ; :serverHost 'db.uni-passau.de' .")
    assert ear.heard() == {"passau": ["unmatched a"]}


def test_a_resource_that_another_rule_still_wants_stays_with_that_rule(hub, ear):
    """M6: it is gone for one rule, changed for the other."""
    ear.add("passau", PASSAU).add("all", PROVIDERS)
    publish(hub, ":a a :CycleProvider ; :serverHost 'db.uni-passau.de' .")
    ear.heard()
    publish(hub, ":a a :CycleProvider ; :serverHost 'tum.de' .")
    assert ear.heard() == {"passau": ["unmatched a"], "all": ["changed a"]}
    assert list(hub.rows("all")) == [{"c": NamedNode(NS + "a")}]


def test_an_update_may_leave_one_rule_and_enter_another(hub, ear):
    ear.add("passau", PASSAU).add("munich", PASSAU.replace("uni-passau.de", "tum.de"))
    publish(hub, ":a a :CycleProvider ; :serverHost 'db.uni-passau.de' .")
    ear.heard()
    publish(hub, ":a a :CycleProvider ; :serverHost 'db.in.tum.de' .")
    assert ear.heard() == {"passau": ["unmatched a"], "munich": ["matched a"]}


def test_a_resource_with_another_value_that_matches_is_a_wrong_candidate_and_stays(hub, ear):
    ear.add("passau", PASSAU)
    publish(hub, ":a a :CycleProvider ; :serverHost 'db.uni-passau.de', 'pirates.uni-passau.de' .")
    ear.heard()
    publish(hub, ":a a :CycleProvider ; :serverHost 'pirates.uni-passau.de' .")
    assert ear.heard() == {"passau": ["changed a"]}


# Only a referenced resource changes: it may be in the same document, or in another.


@pytest.fixture(params=["one document", "two documents"])
def infos(request):
    """Registers what the host references, in its document or in another."""
    apart = request.param == "two documents"

    def register(hub, info):
        if apart:
            return hub.apply([Publish(document(HOST)), Publish(document(info, INFOS))])
        return publish(hub, HOST + info)

    return register


def test_memory_set_to_128_matches_the_provider_that_references_it(hub, ear, infos):
    ear.add("memory", MEMORY)
    infos(hub, INFO.replace("92", "16"))
    assert ear.heard() == {}
    infos(hub, INFO.replace("92", "128"))
    assert ear.heard() == {"memory": ["matched host"]}


def test_memory_set_to_32_unmatches_the_provider_that_references_it(hub, ear, infos):
    ear.add("memory", MEMORY)
    infos(hub, INFO)
    ear.heard()
    infos(hub, INFO.replace("92", "32"))
    assert ear.heard() == {"memory": ["unmatched host"]}


def test_deleting_a_referenced_resource_unmatches_the_provider_that_references_it(hub, ear, infos):
    ear.add("memory", MEMORY).add("all", PROVIDERS)
    infos(hub, INFO)
    ear.heard()
    infos(hub, "")
    assert ear.heard() == {"memory": ["unmatched host"]}


def test_retracting_the_document_of_a_referenced_resource_unmatches_the_provider(hub, ear):
    ear.add("memory", MEMORY)
    publish(hub, HOST)
    publish(hub, INFO, INFOS)
    assert ear.heard() == {"memory": ["matched host"]}
    hub.retract(INFOS)
    assert ear.heard() == {"memory": ["unmatched host"]}


def test_a_provider_that_another_rule_still_wants_stays_when_its_information_fails_one(hub, ear, infos):
    ear.add("memory", MEMORY).add("little", MEMORY.replace("64", "16")).add("passau", PASSAU)
    infos(hub, INFO)
    ear.heard()
    infos(hub, INFO.replace("92", "32"))
    assert ear.heard() == {"memory": ["unmatched host"]}
    assert list(hub.rows("little")) == list(hub.rows("passau")) == [{"c": NamedNode(NS + "host")}]


def test_a_weakly_referenced_resource_that_changes_does_not_change_the_row(hub, ear, infos):
    """M7: without a schema every reference is weak."""
    ear.add("memory", MEMORY)
    infos(hub, INFO)
    ear.heard()
    infos(hub, INFO.replace("92", "128"))
    assert ear.heard() == {}


def test_a_strongly_referenced_resource_that_changes_changes_the_row(hub, ear, infos):
    """M7."""
    hub.set_schema(Schema.from_triples(document(STRONG).triples))
    ear.add("memory", MEMORY).add("passau", PASSAU).add("infos", "search ServerInformation s register s")
    infos(hub, INFO)
    ear.heard()
    infos(hub, INFO.replace("600", "700"))
    assert ear.heard() == {"memory": ["changed host"], "passau": ["changed host"], "infos": ["changed info"]}


def test_what_is_referenced_strongly_through_several_steps_and_around_a_cycle_changes_the_row(hub, ear, infos):
    hub.set_schema(Schema.from_triples(document(STRONG).triples))
    ear.add("passau", PASSAU)
    deep = INFO + ":info :part :board . :board :part :chip . :chip :part :board ; :speed "
    infos(hub, deep + "1 .")
    ear.heard()
    infos(hub, deep + "2 .")
    assert ear.heard() == {"passau": ["changed host"]}


def test_a_blank_node_belongs_to_the_resource_that_references_it(hub, ear):
    ear.add("passau", PASSAU)
    publish(hub, HOST + ":host :address [ :town [ :name 'Passau' ] ] .")
    ear.heard()
    publish(hub, HOST + ":host :address [ :town [ :name 'Berlin' ] ] .")
    assert ear.heard() == {"passau": ["changed host"]}


def test_a_reference_that_moves_to_a_resource_that_fails_unmatches(hub, ear):
    ear.add("memory", MEMORY)
    publish(hub, INFO + ":poor a :ServerInformation ; :memory 8 .", INFOS)
    publish(hub, HOST)
    assert ear.heard() == {"memory": ["matched host"]}
    publish(hub, HOST.replace(":info", ":poor"))
    assert ear.heard() == {"memory": ["unmatched host"]}
    publish(hub, HOST)
    assert ear.heard() == {"memory": ["matched host"]}


def test_a_reference_that_moves_to_another_resource_that_matches_changes_the_row(hub, ear):
    """The rule's row binds the provider alone; a query that binds both has another row."""
    both = f"SELECT ?c ?i {{ ?c <{NS}serverInformation> ?i . ?i <{NS}memory> ?m FILTER(?m > 64) }}"
    ear.add("memory", MEMORY).add("both", both, language="sparql")
    publish(hub, INFO + ":rich a :ServerInformation ; :memory 512 .", INFOS)
    publish(hub, HOST)
    ear.heard()
    publish(hub, HOST.replace(":info", ":rich"))
    assert ear.heard() == {"memory": ["changed host"], "both": ["matched host rich", "unmatched host info"]}


def test_a_provider_with_two_informations_stays_while_one_of_them_matches(hub, ear):
    """A wrong candidate of section 3.5: the second execution finds it again."""
    ear.add("memory", MEMORY)
    publish(hub, HOST.replace(":info", ":info, :more"))
    publish(hub, INFO + ":more a :ServerInformation ; :memory 256 .", INFOS)
    ear.heard()
    publish(hub, ":more a :ServerInformation ; :memory 256 .", INFOS)
    assert ear.heard() == {}
    publish(hub, ":more a :ServerInformation ; :memory 16 .", INFOS)
    assert ear.heard() == {"memory": ["unmatched host"]}


def test_a_change_of_one_information_reaches_all_providers_that_reference_it(hub, ear):
    ear.add("memory", MEMORY)
    publish(hub, "".join(HOST.replace(":host ", f":host{i} ") for i in range(3)))
    publish(hub, INFO, INFOS)
    assert ear.heard() == {"memory": ["matched host0", "matched host1", "matched host2"]}
    hub.retract(INFOS)
    assert ear.heard() == {"memory": ["unmatched host0", "unmatched host1", "unmatched host2"]}
