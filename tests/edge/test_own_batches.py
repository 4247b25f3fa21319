"""What a hub keeps in mind of its own batches, and that it tells edges the same as what is read of them (M6, M7)."""

from __future__ import annotations

import random

import pytest

from edge.worlds import strong
from triplewire import Access, Hub, Publish, Retract, parse
from triplewire.engine.edges import steps
from triplewire.engine.edges.states import digest_of_triples
from triplewire.wire.edges import EdgeQuestion, EdgeRule, as_json, digest_of_rules

RULES = {
    "c": "SELECT ?x { ?x a <urn:C> }",
    "both": "SELECT ?x ?y { ?x <urn:s> ?y }",
    "deep": "SELECT ?x { ?x <urn:p> 1 }",
}


class Asking:
    """An edge that keeps up: it asks for the changes since the last answer, of one hub or of several alike."""

    def __init__(self, hub):
        follow = [EdgeRule(id, text, "sparql") for id, text in RULES.items()]
        first = hub.serve_edge(EdgeQuestion("edge-x", rules=digest_of_rules({}), follow=follow, load=list(RULES)))
        self.position, self.rules = first.position, digest_of_rules(first.whole)
        self.digests = {"schema": digest_of_triples(first.schema, first.policy), "taxonomy": digest_of_triples([])}

    def question(self):
        return EdgeQuestion("edge-x", self.position, self.rules, **self.digests)

    def ask(self, hub):
        answer = hub.serve_edge(self.question())
        assert answer.rules is None
        assert not answer.resync
        self.position = answer.position
        return answer


def hub_at(path):
    hub = Hub(path)
    hub.set_schema(strong("urn:s"))
    return hub


def anything(drawn):
    """A document of a few triples, with references, blank nodes, and sometimes XML."""
    uri = f"urn:d{drawn.randrange(4)}"
    if drawn.random() < 0.2:
        return Retract(uri)
    if drawn.random() < 0.15:
        return Publish(parse(f"<a><b>{drawn.randrange(9)}</b></a>", uri=uri, media_type="application/xml"))
    subjects = [f"<urn:{drawn.randrange(4)}>", f"<{uri}>"]
    values = ["a <urn:C>", "<urn:p> 1", "<urn:p> 2", "<urn:s> <urn:1>", "<urn:s> <urn:2>", "<urn:s> [ <urn:p> 1 ]"]
    lines = [f"{drawn.choice(subjects)} {drawn.choice(values)} ." for _ in range(drawn.randrange(1, 6))]
    return Publish(parse("\n".join(lines), uri=uri))


@pytest.mark.parametrize("seed", range(3))
def test_what_is_in_mind_of_a_batch_is_what_is_read_of_it(tmp_path, seed):
    """Invariant of `engine.edges.changes`: what is in mind of a batch is what is read of it (M6, M7).

    A hub that applied the batches, and another one on the same store that did not, answer the same.
    """
    drawn = random.Random(seed)
    with hub_at(tmp_path / "hub.db") as hub, Hub(tmp_path / "hub.db") as other:
        edge, told = Asking(hub), 0
        for _ in range(25):
            hub.apply([anything(drawn) for _ in range(drawn.randrange(1, 4))])
            read = other.serve_edge(edge.question())
            known = edge.ask(hub)
            assert as_json(known) == as_json(read)
            told += len(known.descriptions) + len(known.deleted) + len(known.released)
        assert told > 25


def test_nothing_is_read_again_of_a_batch_that_the_hub_has_just_applied(tmp_path, monkeypatch):
    """M6."""
    with hub_at(tmp_path / "hub.db") as hub:
        edge = Asking(hub)
        hub.publish("<urn:1> a <urn:C> .", uri="urn:d")
        monkeypatch.setattr(steps, "ReadChanges", None)
        assert [each.node for each in edge.ask(hub).descriptions] == ["<urn:1>"]


def test_batch_that_another_process_applied_is_read(tmp_path):
    """M6: also between two batches of the hub's own."""
    with hub_at(tmp_path / "hub.db") as hub, Hub(tmp_path / "hub.db") as other:
        edge = Asking(hub)
        for number, publisher in enumerate((hub, other, hub, other)):
            publisher.publish(f"<urn:{number}> a <urn:C> .", uri=f"urn:d{number}")
            assert [each.node for each in edge.ask(hub).descriptions] == [f"<urn:{number}>"]


def test_batch_that_was_not_committed_is_not_in_mind(tmp_path):
    """Invariant of `engine.edges.own`: a batch is in mind only if it is committed, and is known by what no other has.

    The next one has its number, and may have its name (M6).
    """
    with hub_at(tmp_path / "hub.db") as hub, Hub(tmp_path / "hub.db") as other:
        edge = Asking(hub)

        def full(*_):
            raise OSError("the disk is full")

        hub._outcome, kept = full, hub._outcome
        with pytest.raises(OSError, match="full"):
            hub.publish("<urn:1> a <urn:C> .", uri="urn:d", batch="mine")
        hub._outcome = kept
        other.publish("<urn:2> a <urn:C> .", uri="urn:d", batch="mine")
        assert [each.node for each in edge.ask(hub).descriptions] == ["<urn:2>"]


def test_batch_of_a_hub_with_access_lists_is_read_for_each_sight(tmp_path):
    """M7, P7: what the hub has in mind is told to nobody who may not read it."""
    with hub_at(tmp_path / "hub.db") as hub:
        edge = Asking(hub)
        hub.publish("<urn:1> a <urn:C> .", uri="urn:open")
        hub.publish("<urn:1> <urn:p> 7 .", uri="urn:closed", access=Access(["port"]))
        edge.ask(hub)
        hub.publish("<urn:1> <urn:p> 8 .", uri="urn:closed")
        assert "<urn:p>" in str(edge.ask(hub).descriptions)
        follow, none = [EdgeRule("c", RULES["c"], "sparql")], digest_of_rules({})
        first = hub.serve_edge(EdgeQuestion("edge-y", rules=none, follow=follow, load=["c"]), viewer="bay")
        hub.publish("<urn:1> <urn:p> 9 .", uri="urn:closed")
        asked = EdgeQuestion("edge-y", first.position, digest_of_rules(first.whole), **edge.digests)
        second = hub.serve_edge(asked, viewer="bay")
        assert second.rules is None
        assert [each.node for each in first.descriptions] == ["<urn:1>"]
        assert "<urn:p>" not in str([first.descriptions, second.descriptions])
