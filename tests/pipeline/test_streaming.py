"""Streaming: what comes in while it runs is applied once, and the answers are those of the library's hub (X8)."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import closing

import pytest
from tests.contracts.reference import Reference
from tests.oracle.test_crowded_histories import Crowd, follow_with
from tests.pipeline.streams import MicroBatches, Running, eventually, frame_of

from triplewire import Access, Hub, PipelineError, Publish, Restrict, Retract, Schema, Unread, parse
from triplewire.engine.workers import Worker
from triplewire.intake.entries import entry_of
from triplewire.intake.logs import log_of
from triplewire.model import Row
from triplewire.pipeline.streaming.parsing import EntryParser
from triplewire.pipeline.streaming.progress import status
from triplewire.pipeline.streaming.running import Plan, Stream
from triplewire.pipeline.streaming.source import shares
from triplewire.store import schema

JOINED = "SELECT ?x ?z { ?x <urn:p> ?y . ?y <urn:q> ?z }"
OWN = "SELECT ?x { ?x <urn:p> ?y }"
DOCUMENTS = {
    "urn:document:open": "<urn:a> <urn:p> <urn:b> .",
    "urn:document:hidden": "<urn:b> <urn:q> <urn:c> . <urn:z> <urn:p> <urn:b> .",
}


def sent(number: int, text: str) -> Unread:
    return Unread(f"urn:document:{number}", text.encode(), "text/turtle")


def kinds(hub, id: str) -> Counter[str]:
    return Counter(event.kind for event in hub.events(id))


@pytest.fixture
def url(new_url):
    return new_url("sqlite")


@pytest.fixture
def running(spark, url, tmp_path):
    """A stream on an intake log."""
    Hub(url).close()
    world = Running(spark, url, tmp_path)
    yield world
    world.close()


def test_a_stream_applies_what_is_submitted_while_it_runs(running):
    hub = running.hub
    hub.subscribe(JOINED, id="joined", scope="graph")
    running.wait_for(hub.submit([sent(1, "<urn:a> <urn:p> <urn:b> .")]))
    running.wait_for(hub.submit([sent(2, "<urn:b> <urn:q> <urn:c> .")]))
    assert kinds(hub, "joined") == {"matched": 1}
    hub.subscribe(OWN, id="late", start="ever")
    running.wait_for(hub.submit([sent(3, "<urn:x> <urn:p> <urn:b> ."), Retract("urn:document:1")]))
    assert kinds(hub, "joined") == {"matched": 2, "unmatched": 1}
    assert kinds(hub, "late") == {"matched": 2, "unmatched": 1}, "a new subscription is served by the next batch"
    hub.set_taxonomy(parse("<urn:C> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:D> .", uri="urn:t"))
    hub.subscribe("SELECT ?x { ?x a/<http://www.w3.org/2000/01/rdf-schema#subClassOf>* <urn:D> }", id="kinds")
    running.wait_for(hub.submit([sent(4, "<urn:k> a <urn:C> .")]))
    assert len(hub.rows("kinds")) == 1, "and so is a new taxonomy"
    assert list(hub.check()) == []


def test_what_is_bad_is_set_aside_and_told_and_the_rest_goes_through(running):
    hub = running.hub
    hub.subscribe(OWN, id="own")
    hub.set_schema(Schema.from_triples(parse(SCHEMA, uri="urn:schema").triples))
    below = "<urn:{}> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:{}> ."
    changes = [
        sent(1, "<urn:a> <urn:p> 1 ."),
        sent(2, "this is no Turtle"),
        sent(3, "<urn:b> a <urn:Thing> ; <urn:size> 'large' ; <urn:p> 1 ."),
        sent(4, below.format("A", "B")),
        sent(5, below.format("B", "A")),
        sent(6, "<urn:c> <urn:p> 1 ."),
    ]
    running.wait_for(hub.submit(changes))
    assert {str(row["x"]) for row in hub.rows("own")} == {"<urn:a>", "<urn:c>"}
    refused = {rejection.uri: rejection.reason for rejection in hub.rejected()}
    assert refused.keys() == {f"urn:document:{number}" for number in (2, 3, 5)}
    assert "not Turtle" in refused["urn:document:2"]
    assert "schema" in refused["urn:document:3"]
    assert "cycle" in refused["urn:document:5"]
    eventually(lambda: len(running.said) == 3, "all three are told")
    assert all(line.startswith("set aside: ") for line in running.said)
    assert list(hub.check()) == []


SCHEMA = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<urn:size> rdfs:range <http://www.w3.org/2001/XMLSchema#integer> ; rdfs:domain <urn:Thing> .
"""


def test_what_is_there_is_applied_once_and_a_second_run_goes_on_from_the_checkpoint(spark, url, tmp_path):
    with Hub(url) as hub:
        hub.subscribe(OWN, id="own")
        for number in range(7):
            hub.submit([sent(number, f"<urn:{number}> <urn:p> 1 .")])
        stream = Stream(spark, Plan(url, "intake", tmp_path / "checkpoint", most=3))
        stream.once()
        assert kinds(hub, "own") == {"matched": 7}
        assert [record.documents for record in hub.batches()] == [3, 3, 1], "a batch has as many as it may"
        hub.submit([Retract("urn:document:0")])
        stream.once()
        assert kinds(hub, "own") == {"matched": 7, "unmatched": 1}
        with hub.store.reading() as reader:
            told = status(reader)
        assert (told["waiting"], told["rejected"], told["stream"]["entries"]) == (0, 0, 8)
        assert told["stream"]["state"] == "stopped"
        stream.close()
        other = Stream(spark, Plan(url, "intake", tmp_path / "another checkpoint"))
        other.once()
        other.close()
        assert kinds(hub, "own") == {"matched": 7, "unmatched": 1}, "without its checkpoint it begins with what waits"


def test_what_waits_behind_the_checkpoint_is_applied_as_well(spark, url, tmp_path):
    """A store that loses its last commits with its machine has entries again that the checkpoint has passed."""
    with Hub(url) as hub:
        hub.subscribe(OWN, id="own")
        hub.submit([sent(1, "<urn:1> <urn:p> 1 .")])
        stream = Stream(spark, Plan(url, "intake", tmp_path / "checkpoint"))
        stream.once()
        hub.retract("urn:document:1")
        with hub.store.writing() as writer:
            lost = entry_of(sent(1, "<urn:1> <urn:p> 1 ."))
            row = (1, 0, lost.kind, lost.uri, lost.media_type, lost.content, "")
            writer.intake._sql.insert(schema.intake, [row])
        stream.once()
        stream.close()
        assert kinds(hub, "own") == {"matched": 2, "unmatched": 1}


def test_the_journal_beside_a_store_is_applied_after_its_log_and_each_entry_once(spark, url, tmp_path):
    with Hub(url) as hub, closing(log_of(hub.store)) as log:
        hub.subscribe(OWN, id="own")
        log.append([entry_of(sent(number, f"<urn:{number}> <urn:p> 1 .")) for number in range(5)])
        hub.submit([sent(5, "<urn:5> <urn:p> 1 ."), sent(0, "<urn:0> <urn:p> 0 .")])
        stream = Stream(spark, Plan(url, "intake", tmp_path / "checkpoint", most=3))
        stream.once()
        assert [record.documents for record in hub.batches()] == [2, 3, 2], "first the log of the store"
        assert kinds(hub, "own") == {"matched": 6, "changed": 1}
        assert log.applied() == 5
        stream.once()
        assert len(hub.batches()) == 3, "nothing waits"
        log.append([entry_of(sent(6, "no Turtle")), entry_of(Retract("urn:document:1"))])
        stream.once()
        stream.close()
        assert [one.uri for one in hub.rejected()] == ["urn:document:6"]
        assert kinds(hub, "own") == {"matched": 6, "changed": 1, "unmatched": 1}
        assert log.applied() == 7


def test_a_batch_of_the_journal_that_comes_again_finds_nothing_left(spark, url, tmp_path):
    """The driver was killed when a batch was committed, and before Spark noted that it was."""
    with Hub(url) as hub, closing(log_of(hub.store)) as log:
        hub.subscribe(OWN, id="own")
        stream = Stream(spark, Plan(url, "intake", tmp_path / "checkpoint"))
        log.append([entry_of(sent(1, "<urn:1> <urn:p> 1 ."))])
        stream.once()
        log.append([entry_of(sent(1, "<urn:1> <urn:p> 2 ."))])
        stream.once()
        for name in ("1", ".1.crc"):
            (tmp_path / "checkpoint/commits" / name).unlink()
        log.append([entry_of(sent(2, "<urn:2> <urn:p> 1 ."))])
        stream.once()
        stream.close()
        assert kinds(hub, "own") == {"matched": 2, "changed": 1}
        assert log.applied() == 3


def test_a_crowded_history_by_micro_batches_is_that_of_the_definition(spark, url):
    """Parsed and found by Spark's workers, each step."""
    world = MicroBatches(spark, url)
    shared = []
    each = world.finder.workers.each

    def noted(work, shares):
        shared.extend(len(share.seeds) for share in shares if work is not Worker.find)
        return each(work, shares)

    world.finder.workers.each = noted
    lived = _live(world, Crowd(314))
    assert min(lived[kind] for kind in ("matched", "changed", "unmatched")) > 5, "there was something to compare"
    assert sum(shared) > 20, "the workers were asked"
    world.hub.close()


def _live(world, crowd: Crowd, batches: int = 6) -> Counter[str]:
    reference = Reference()
    asked = []
    told: Counter[str] = Counter()
    for number, (text, scope) in enumerate(QUERIES):
        for engine in (world.hub, reference):
            engine.subscribe(text, language="sparql", id=f"s{number}", scope=scope, start="now")
        asked.append(f"s{number}")
    for _ in range(batches):
        batch = [change for change in crowd.batch() if not _orders(change)]
        found, expected = world.apply(batch), reference.apply(batch)
        assert Counter(map(_said, found)) == Counter(map(_said, expected))
        told.update(event.kind for event in found)
        for id in asked:
            assert Counter(world.hub.rows(id)) == Counter(map(Row, reference.rows(id)))
    assert list(world.hub.check()) == []
    return told


def _orders(change) -> bool:
    return isinstance(change, Publish) and b"subClassOf" in change.document.ntriples


def _said(event) -> tuple[str, str, str]:
    return event.kind, event.subscription, str(sorted(event.row.items(), key=str))


EXAMPLE = "PREFIX : <http://example.org/> "
QUERIES = [
    (EXAMPLE + "SELECT ?x ?y { ?x :p ?y . ?y :q ?z }", "graph"),
    (EXAMPLE + "SELECT ?x ?e { ?x :p ?y OPTIONAL { ?x :q ?e } }", "graph"),
    (EXAMPLE + "SELECT ?x { ?x a :A }", "graph"),
    (EXAMPLE + "SELECT ?x ?v { ?x :p ?v FILTER(?v > 1) }", "document"),
    (EXAMPLE + "SELECT ?x { ?x :p ?y . ?y a :B }", "document"),
    (EXAMPLE + "ASK { ?x :r ?y . ?y :p ?z }", "graph"),
]


def test_large_and_small_batches_give_the_same(spark, url, new_url):
    """The driver's engine and Spark's workers find the same rows; which of them it is depends on the size alone."""
    lines = [f"<urn:{n}> <urn:p> <urn:{n % 7}> . <urn:{n}> <urn:q> <urn:{n % 5}> ." for n in range(60)]
    changes = [sent(number, text) for number, text in enumerate(lines)]
    told = []
    for place, small in ((url, 0), (new_url("sqlite"), 1_000_000)):
        world = MicroBatches(spark, place)
        world.finder.small = small
        world.hub.subscribe(JOINED, id="joined", scope="graph")
        world.hub.subscribe(OWN, id="own")
        for part in (changes[:40], changes[20:], [Retract("urn:document:3"), sent(5, "<urn:5> <urn:q> 1 .")]):
            world.batches.apply(frame_of(spark, part), f"batch of {len(part)}")
        told.append({id: sorted(map(_said, world.hub.events(id))) for id in ("joined", "own")})
        assert bool(world.done[0].spent.shares) == (small == 0)
        assert list(world.hub.check()) == []
        world.hub.close()
    assert told[0] == told[1]
    assert len(told[0]["joined"]) > 40


def test_a_batch_that_comes_again_changes_nothing(spark, url):
    world = MicroBatches(spark, url)
    world.hub.subscribe(OWN, id="own")
    frame = frame_of(spark, [sent(1, "<urn:a> <urn:p> 1 ."), sent(2, "no Turtle")])
    for _ in range(2):
        world.batches.apply(frame, "the batch")
    assert kinds(world.hub, "own") == {"matched": 1}
    assert len(world.hub.rejected()) == 1
    assert [record.id for record in world.hub.batches()] == ["the batch"]
    world.hub.close()


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_a_document_that_ends_its_worker_is_set_aside_and_the_rest_goes_through(spark, url, how):
    class Deadly(EntryParser):
        """Parsing that some documents end, as one does that is too large for memory."""

        def parsed(self, one):
            if b"deadly" in (one.entry.content or b""):
                if how == "exit":
                    os._exit(3)
                os.kill(os.getpid(), 9)
            return super().parsed(one)

    world = MicroBatches(spark, url)
    world.hub.subscribe(OWN, id="own")
    world.batches._parse = Deadly()
    changes = [sent(n, f"<urn:{n}> <urn:p> 1 .{' # deadly' if n in (3, 8) else ''}") for n in range(12)]
    world.batches.apply(frame_of(spark, changes), "batch")
    assert len(world.hub.rows("own")) == 10
    refused = {rejection.uri: rejection for rejection in world.hub.rejected()}
    assert refused.keys() == {"urn:document:3", "urn:document:8"}
    reason = {"exit": "ended (exit code 3)", "kill": "was killed by SIGKILL"}[how]
    assert all(reason in rejection.reason for rejection in refused.values())
    assert refused["urn:document:3"].content == changes[3].content, "what was sent is kept"
    world.hub.close()


def test_a_stream_is_refused_where_it_cannot_run(spark, url, tmp_path):
    with pytest.raises(PipelineError, match="seen by one process"):
        Plan(":memory:", "intake", tmp_path)
    with pytest.raises(PipelineError, match="no such folder"):
        Plan(url, str(tmp_path / "nowhere"), tmp_path / "checkpoint")
    with pytest.raises(PipelineError, match="write kafka://host:port/topic"):
        Plan(url, "kafka://localhost:9092", tmp_path / "checkpoint")
    stream = Stream(spark, Plan(url, "kafka://localhost:9092/topic", tmp_path / "checkpoint"))
    with pytest.raises(PipelineError, match=r"--packages org.apache.spark:spark-sql-kafka-0-10_2.13:4"):
        stream.once()
    stream.close()


def test_the_checkpoint_of_another_store_is_refused(spark, url, new_url, tmp_path):
    with Hub(url) as hub:
        hub.submit([sent(1, "<urn:a> <urn:p> 1 .")])
        first = Stream(spark, Plan(url, "intake", tmp_path / "checkpoint"))
        first.once()
        first.close()
    other = Stream(spark, Plan(new_url("sqlite"), "intake", tmp_path / "checkpoint"))
    with pytest.raises(PipelineError, match="it is another store's, or this one was set back"):
        other.once()
    other.close()


def test_entries_are_shared_between_tasks_evenly_and_not_below_a_size():
    assert shares([], 5, 9, 4) == []
    assert shares([(n, 1) for n in range(1, 101)], 0, 100, 4) == [(0, 100)]
    even = shares([(n, 1) for n in range(1, 1001)], 0, 1000, 4)
    assert even == [(0, 250), (250, 500), (500, 750), (750, 1000)]
    assert shares([(2, 5_000), (3, 1)], 1, 4, 2) == [(1, 2), (2, 4)]


@pytest.mark.slow
def test_crowded_histories_with_a_taxonomy_by_micro_batches(spark, new_url):
    for seed in (400, 401):
        url = new_url("sqlite")
        Hub(url).close()
        world = MicroBatches(spark, url)
        follow_with(Hub(url, finder=world.finder), seed)
        world.hub.close()


def test_a_stream_gives_documents_their_lists_and_sets_aside_what_is_not_permitted(running):
    """P8: there is no moment in which a document that came with a list is for everybody."""
    hub = running.hub
    for viewer in ("ada", "bob"):
        hub.subscribe(JOINED, id=viewer, scope="graph", viewer=viewer)
        hub.subscribe(OWN, id=f"{viewer}'s own", viewer=viewer)
    open_one, hidden = (parse(text, uri=uri) for uri, text in DOCUMENTS.items())
    running.wait_for(hub.submit([Publish(open_one), Publish(hidden, access=Access(["ada"], ["eve"]))]))
    assert [len(hub.rows(id)) for id in ("ada", "ada's own", "bob", "bob's own")] == [2, 2, 0, 1]
    taken = Publish(parse("<urn:n> <urn:p> 1 .", uri=hidden.uri), by="bob")
    running.wait_for(hub.submit([taken, Retract(open_one.uri, "bob"), Restrict(hidden.uri, Access(["bob"]), "eve")]))
    assert [(one.uri, "writers" in one.reason) for one in hub.rejected()] == [(hidden.uri, True)]
    assert [len(hub.rows(id)) for id in ("ada", "ada's own", "bob", "bob's own")] == [0, 0, 1, 1]
    assert hub.access(hidden.uri) == Access(["bob"])
    assert kinds(hub, "ada") == {"matched": 2, "unmatched": 2}
    assert list(hub.check()) == []
