"""Hubs that hold the same metadata (M10): homes, changes passed on, partitions, late joiners, and homes that die."""

from __future__ import annotations

import threading
import time

import pytest

from backbone.hubs import TITLES, World, held
from backbone.served import wait_for
from triplewire import Access, BackboneHub, Schema
from triplewire.documents import parse
from triplewire.errors import AccessDenied, HomeAway, NetworkError, SchemaViolation
from triplewire.model import Publish, Retract
from triplewire.wire.backbones import MemberQuestion

TOWN, HARBOUR, HILL = "town", "harbour", "hill"


@pytest.fixture
def world(tmp_path):
    made = World([TOWN, HARBOUR, HILL], lambda name: f"sqlite:///{tmp_path}/{name}.db")
    yield made
    made.close()


def said(text: str) -> str:
    return f'<urn:d> <urn:title> "{text}" .'


def test_what_is_registered_at_one_hub_is_at_all_of_them_with_its_versions(world):
    world.hubs[TOWN].publish(said("one"), uri="urn:doc")
    world.hubs[TOWN].publish(said("two"), uri="urn:doc")
    world.rest()
    for hub in world.hubs.values():
        assert [str(t.object) for t in hub.document("urn:doc").triples] == ['"two"']
        assert [version.version for version in hub.history("urn:doc")] == [1, 2]
        assert hub.home("urn:doc") == world.hubs[TOWN].name


def test_a_batch_is_one_batch_everywhere_and_each_subscriber_is_told_once(world):
    for hub in world.hubs.values():
        hub.subscribe(TITLES, id="titles", start="ever")
    documents = [parse(f'<urn:{n}> <urn:title> "{n}" .', uri=f"urn:doc:{n}") for n in range(3)]
    world.hubs[TOWN].apply([Publish(document) for document in documents])
    world.hubs[TOWN].apply([Retract("urn:doc:1")])
    world.rest()
    for hub in world.hubs.values():
        events = list(hub.events("titles"))
        assert [event.kind for event in events] == ["matched"] * 3 + ["unmatched"]
        assert len({event.batch for event in events}) == 2


def test_a_change_sent_elsewhere_is_passed_on_to_the_home_and_is_there_at_once(world):
    world.hubs[TOWN].publish(said("one"), uri="urn:doc")
    world.hubs[HILL].subscribe(TITLES, id="titles", start="ever")
    world.rest()
    told = world.hubs[HILL].publish(said("two"), uri="urn:doc")
    assert [event.kind for event in told] == ["unmatched", "matched"]
    assert [deed[0] for deed in world.deeds] == [world.hubs[TOWN].name] * 2
    assert held(world.hubs[HILL]) == held(world.hubs[TOWN])


def test_with_the_home_away_a_change_is_refused_with_the_reason(world):
    world.hubs[TOWN].publish(said("one"), uri="urn:doc")
    world.rest()
    world.partition([TOWN], [HARBOUR, HILL])
    with pytest.raises(HomeAway, match=r"urn:doc: its home is town-\w+, which cannot be reached .*the cable is cut"):
        world.hubs[HILL].publish(said("two"), uri="urn:doc")
    world.hubs[HILL].publish(said("own"), uri="urn:other")
    world.heal()
    world.rest()
    assert held(world.hubs[TOWN]).keys() == {"urn:doc", "urn:other"}
    assert held(world.hubs[HILL])["urn:doc"][0] == ['<urn:d> <urn:title> "one"']


def test_with_the_home_away_a_change_waits_where_that_is_wanted(tmp_path):
    world = World([TOWN, HILL], lambda name: f"sqlite:///{tmp_path}/{name}.db", when_away="queue")
    world.hubs[TOWN].publish(said("one"), uri="urn:doc")
    world.rest()
    world.partition([TOWN], [HILL])
    for text in ("two", "three"):
        (warning,) = world.hubs[HILL].publish(said(text), uri="urn:doc").warnings
        assert isinstance(warning, HomeAway)
    assert world.hubs[HILL].backbone().waiting == 2
    world.hubs[HILL].close()
    world.open(HILL)
    world.heal()
    assert world.hubs[HILL].sync().passed == 2
    world.rest()
    assert held(world.hubs[TOWN]) == held(world.hubs[HILL])
    assert len(world.hubs[TOWN].history("urn:doc")) == 3
    assert world.hubs[HILL].backbone().waiting == 0
    world.close()


def test_what_the_home_refuses_is_refused(world):
    shape = parse(
        "<urn:title> <http://www.w3.org/2000/01/rdf-schema#range> <http://www.w3.org/2001/XMLSchema#integer> .",
        uri="urn:x",
    )
    world.hubs[TOWN].publish("<urn:d> <urn:title> 1 .", uri="urn:doc")
    world.rest()
    world.hubs[TOWN].set_schema(Schema.from_triples(shape.triples))
    with pytest.raises(SchemaViolation):
        world.hubs[HILL].publish(said("word"), uri="urn:doc")


def test_documents_of_several_homes_are_no_batch(world):
    world.hubs[TOWN].publish(said("one"), uri="urn:doc")
    world.rest()
    documents = [parse(said("x"), uri=uri) for uri in ("urn:doc", "urn:mine")]
    with pytest.raises(NetworkError, match="send them apart"):
        world.hubs[HILL].apply([Publish(document) for document in documents])


def test_schema_and_taxonomy_are_the_same_everywhere_and_the_last_one_counts(world):
    below = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
    world.hubs[HARBOUR].publish("<urn:d> a <urn:Ferry> .", uri="urn:doc")
    query = "SELECT ?d { ?d a/<http://www.w3.org/2000/01/rdf-schema#subClassOf>* <urn:Ship> }"
    world.hubs[HILL].subscribe(query, id="ships", start="ever")
    world.rest()
    world.hubs[TOWN].set_taxonomy(parse(f"<urn:Ferry> {below} <urn:Ship> .", uri="urn:t"))
    world.hubs[TOWN].set_schema(Schema(), on_violation="warn")
    world.rest()
    assert [event.kind for event in world.hubs[HILL].events("ships")] == ["matched"]
    world.hubs[HILL].set_taxonomy([])
    world.rest()
    assert [event.kind for event in world.hubs[HILL].events("ships")] == ["matched", "unmatched"]
    for hub in world.hubs.values():
        assert hub._book.policy == "warn"


def test_access_lists_travel_and_so_do_changes_of_them_alone(world):
    world.hubs[TOWN].publish(said("one"), uri="urn:doc", access=Access(["maja"], ["otto"]))
    world.rest()
    for hub in world.hubs.values():
        assert hub.access("urn:doc") == Access(["maja"], ["otto"])
        assert hub.documents(viewer="eve") == []
    world.hubs[HILL].restrict("urn:doc", None)
    world.rest()
    for hub in world.hubs.values():
        assert hub.access("urn:doc") is None
        assert len(hub.history("urn:doc")) == 1


def test_a_late_joiner_gets_everything_from_any_hub(world, tmp_path):
    for name in (TOWN, HARBOUR):
        world.hubs[name].publish(said(name), uri=f"urn:{name}")
    world.hubs[TOWN].publish(said("gone"), uri="urn:gone")
    world.hubs[TOWN].retract("urn:gone")
    world.rest()
    world.partition([TOWN], ["island"])
    late = world.join("island", f"sqlite:///{tmp_path}/island.db")
    world.partition([TOWN], ["island"])
    late.sync()
    assert held(late) == held(world.hubs[HILL])
    assert late.home("urn:town") == world.hubs[TOWN].name


def test_a_hub_that_had_documents_before_is_their_home(tmp_path):
    from triplewire import Hub

    with Hub(tmp_path / "old.db") as hub:
        hub.publish(said("old"), uri="urn:old")
    world = World([TOWN, HILL], lambda name: str(tmp_path / "old.db") if name == TOWN else ":memory:")
    world.rest()
    assert held(world.hubs[HILL]) == held(world.hubs[TOWN])
    assert len(held(world.hubs[HILL])) == 1
    world.close()


def test_a_document_that_two_hubs_registered_apart_has_one_home_in_the_end_and_that_is_said(world):
    world.partition([TOWN], [HARBOUR], [HILL])
    for name in (HILL, TOWN, HARBOUR):
        world.hubs[name].publish(said(name), uri="urn:doc")
    world.heal()
    world.rest()
    first = min(hub.name for hub in world.hubs.values())
    for hub in world.hubs.values():
        assert held(hub)["urn:doc"][0] == ['<urn:d> <urn:title> "harbour"']
        assert hub.home("urn:doc") == first == world.hubs[HARBOUR].name
        conflicts = hub.backbone().conflicts
        assert conflicts
        assert all(conflict.uri == "urn:doc" for conflict in conflicts)


def test_documents_of_a_home_that_is_gone_for_ever_are_adopted(world):
    world.hubs[TOWN].publish(said("one"), uri="urn:doc")
    world.rest()
    old = world.hubs[TOWN].name
    world.partition([TOWN], [HARBOUR, HILL])
    assert world.hubs[HILL].adopt(old) == 1
    world.hubs[HILL].publish(said("two"), uri="urn:doc")
    world.rest()
    assert world.hubs[HARBOUR].home("urn:doc") == world.hubs[HILL].name
    world.hubs[TOWN].publish(said("ghost"), uri="urn:doc")
    world.heal()
    world.rest()
    for hub in world.hubs.values():
        assert held(hub)["urn:doc"][0] == ['<urn:d> <urn:title> "two"']
        assert hub.home("urn:doc") == world.hubs[HILL].name


def test_digests_over_ranges_find_what_differs_and_it_is_repaired(world):
    for number in range(20):
        world.hubs[TOWN].publish(said(str(number)), uri=f"urn:doc:{number}")
    world.rest()
    spoilt = world.hubs[HILL]
    BackboneHub.__mro__[1].apply(spoilt, [Retract("urn:doc:3"), Publish(parse(said("x"), uri="urn:doc:4"))])
    assert held(spoilt) != held(world.hubs[TOWN])
    assert sorted(spoilt.sync(verify=True).repaired) == ["urn:doc:3", "urn:doc:4"]
    assert held(spoilt) == held(world.hubs[TOWN])
    assert spoilt.sync(verify=True).repaired == ()


def test_old_versions_that_were_compacted_away_do_not_matter(world):
    for number in range(5):
        world.hubs[TOWN].publish(said(str(number)), uri="urn:doc")
    world.hubs[TOWN].store.compact(keep_versions=1)
    world.rest()
    assert held(world.hubs[HILL]) == held(world.hubs[TOWN])


def test_names_of_the_backbone_are_refused_for_batches(world):
    with pytest.raises(ValueError, match="backbone-"):
        world.hubs[TOWN].publish(said("x"), uri="urn:x", batch="backbone-x-1")


def test_a_document_that_was_gone_and_listed_before_a_hub_heard_of_it_does_not_stop_that_hub(world, tmp_path):
    world.hubs[TOWN].publish(said("one"), uri="urn:doc")
    world.hubs[TOWN].retract("urn:doc")
    world.hubs[TOWN].restrict("urn:doc", Access(["maja"]))
    world.hubs[TOWN].publish(said("other"), uri="urn:other")
    late = world.join("island", f"sqlite:///{tmp_path}/island.db")
    late.sync()
    assert held(late).keys() == {"urn:other"}
    world.hubs[TOWN].publish(said("back"), uri="urn:doc")
    late.sync()
    assert late.access("urn:doc") == Access(["maja"])


def test_a_document_that_was_retracted_before_a_hub_came_is_still_that_of_its_home(world, tmp_path):
    """Else the late one would register it as its own, and its home would not take that over: two truths."""
    first = world.hubs[TOWN]
    first.publish(said("one"), uri="urn:doc")
    first.retract("urn:doc")
    world.rest()
    late = world.join("island", f"sqlite:///{tmp_path}/island.db")
    late.sync()
    assert late.home("urn:doc") == first.name
    assert held(late) == {}
    late.publish(said("two"), uri="urn:doc")
    world.rest()
    assert {each.home("urn:doc") for each in world.hubs.values()} == {first.name}
    assert all(held(each) == held(first) for each in world.hubs.values())
    assert held(first).keys() == {"urn:doc"}


def test_a_change_that_waits_finds_its_home_when_that_was_decided_otherwise(tmp_path):
    world = World([TOWN, HARBOUR, HILL], lambda name: f"sqlite:///{tmp_path}/{name}.db", when_away="queue")
    world.partition([HARBOUR], [TOWN, HILL])
    world.hubs[TOWN].publish(said("town"), uri="urn:doc")
    world.hubs[HARBOUR].publish(said("harbour"), uri="urn:doc")
    world.hubs[HILL].sync()
    world.partition([HARBOUR, TOWN], [HILL])
    world.hubs[HILL].publish(said("hill"), uri="urn:doc")
    assert [waiting.home for waiting in world.hubs[HILL].waiting_changes()] == [world.hubs[TOWN].name]
    world.heal()
    world.rest()
    assert world.hubs[HILL].backbone().waiting == 0
    for hub in world.hubs.values():
        assert held(hub)["urn:doc"][0] == ['<urn:d> <urn:title> "hill"']
        assert hub.home("urn:doc") == world.hubs[HARBOUR].name
    world.close()


def test_a_question_may_be_asked_again_and_has_the_same_answer(world):
    """Invariant of `wire.backbones`: an answer depends on the question and on the hub's state alone."""
    hub = world.hubs[TOWN]
    hub.publish(said("one"), uri="urn:doc")
    for question in (
        MemberQuestion("hill"),
        MemberQuestion("hill", {hub.name: 1}),
        MemberQuestion("hill", documents=["urn:doc", "urn:none"]),
        MemberQuestion("hill", ranges={"00": "x"}),
    ):
        assert hub.serve_member(question) == hub.serve_member(question)


def test_an_account_that_may_not_change_a_document_may_not_elsewhere(world):
    world.hubs[TOWN].publish(said("one"), uri="urn:doc", access=Access(["eve"], ["otto"]))
    world.rest()
    with pytest.raises(AccessDenied):
        world.hubs[HILL].apply([Publish(parse(said("two"), uri="urn:doc"), by="eve")])
    world.hubs[HILL].apply([Publish(parse(said("two"), uri="urn:doc"), by="otto")])
    assert held(world.hubs[TOWN])["urn:doc"][0] == ['<urn:d> <urn:title> "two"']


def test_run_keeps_hubs_up_to_date_until_it_is_stopped(world):
    running = [threading.Thread(target=hub.run, kwargs={"patience": 0.2}) for hub in world.hubs.values()]
    for thread in running:
        thread.start()
    world.hubs[TOWN].publish(said("one"), uri="urn:doc")
    until = time.monotonic() + 60
    while not all(hub.document("urn:doc") for hub in world.hubs.values()) and time.monotonic() < until:
        time.sleep(0.05)
    for hub in world.hubs.values():
        hub.stop()
    for thread in running:
        thread.join()
    assert all(held(hub) == held(world.hubs[TOWN]) != {} for hub in world.hubs.values())


def test_error_that_nobody_thought_of_does_not_end_following(caplog):
    with BackboneHub(":memory:", name="hill") as hill:
        hill.publish(said("one"), uri="urn:doc")
        with BackboneHub(":memory:", name="town", others=[Torn(hill)]) as town:
            town.start()
            wait_for(lambda: town.document("urn:doc") is not None)
            wait_for(lambda: not town.backbone().away)
    assert "is asked again" in caplog.text


class Torn:
    """A hub whose first answers end as nobody has thought of."""

    def __init__(self, hub: BackboneHub) -> None:
        self._hub, self._left = hub, 2

    def serve_member(self, question):
        if self._left:
            self._left -= 1
            raise ConnectionResetError("torn")
        return self._hub.serve_member(question)


def test_a_change_that_waited_and_that_its_home_refuses_is_set_aside_with_the_reason(tmp_path):
    world = World([TOWN, HILL], lambda name: f"sqlite:///{tmp_path}/{name}.db", when_away="queue")
    world.hubs[TOWN].publish("<urn:d> <urn:title> 1 .", uri="urn:doc")
    world.rest()
    world.partition([TOWN], [HILL])
    world.hubs[HILL].publish(said("word"), uri="urn:doc")
    range_of_titles = "<http://www.w3.org/2000/01/rdf-schema#range> <http://www.w3.org/2001/XMLSchema#integer>"
    shape = parse(f"<urn:title> {range_of_titles} .", uri="urn:x")
    world.hubs[TOWN].set_schema(Schema.from_triples(shape.triples))
    world.heal()
    assert world.hubs[HILL].sync().passed == 0
    with world.hubs[HILL].store.reading() as reader:
        (rejection,) = reader.intake.rejected()
    assert rejection.uri == "urn:doc"
    assert "town-" in rejection.reason
    assert "breaks the schema" in rejection.reason
    assert world.hubs[HILL].backbone().waiting == 0
    world.close()
