"""Applying what waits on the logs: each change once, in order, whoever applies; what is bad is set aside alone."""

from __future__ import annotations

import shutil
import threading

import pytest

from triplewire import Hub, parse
from triplewire.documents import Limits
from triplewire.errors import StoreError
from triplewire.hub.changes.applier import Applier, Turn
from triplewire.intake.entries import APPLIER, entry_of
from triplewire.intake.journal import JournalReader
from triplewire.intake.logs import JournalLog, log_of
from triplewire.intake.pairs import folder_of, move
from triplewire.model import Access, Publish, Retract, Unread

KINDS = ["sqlite", "postgresql"]


def published(n, text="<urn:s> <urn:p> {0} ."):
    return entry_of(Publish(parse(text.format(n), uri=f"urn:doc:{n}")))


def drained(applier):
    while applier.step():
        pass


def uris(hub):
    return sorted(version.uri for version in hub.documents(limit=10_000))


@pytest.mark.parametrize("kind", KINDS)
def test_log_is_applied_in_order_and_each_change_once(new_url, kind):
    with Hub(new_url(kind)) as hub:
        hub.subscribe("SELECT ?s ?o { ?s <urn:p> ?o }", id="all")
        log = log_of(hub.store)
        assert isinstance(log, JournalLog) == (kind == "sqlite")
        assert log.append([published(n) for n in range(5)]) == 5
        hub.submit([Unread("urn:queued", b"<urn:s> <urn:p> 'queued' .", "text/turtle")])
        log.append([entry_of(Retract("urn:doc:0")), published(1, "<urn:s> <urn:p> 'again' .")])
        applier = Applier(hub, Limits())
        drained(applier)
        assert uris(hub) == ["urn:doc:1", "urn:doc:2", "urn:doc:3", "urn:doc:4", "urn:queued"]
        assert hub.document("urn:doc:1").ntriples == b'<urn:s> <urn:p> "again" .\n'
        assert log.applied() == log.last
        before = len(hub.batches())
        assert Applier(hub, Limits()).step() == 0
        assert len(hub.batches()) == before
        log.close()


def test_a_query_over_its_limit_is_answered_again_though_nothing_is_published(new_url):
    text = "SELECT ?a ?b { ?a <urn:p> ?o . ?b <urn:p> ?o . ?b <urn:q> ?c }"
    many = "".join(f"<urn:s{n}> <urn:p> 1 ; <urn:q> 2 . " for n in range(50))
    with Hub(new_url("sqlite"), most_triples=30) as hub:
        hub.subscribe(text, id="pairs", scope="graph")
        assert hub.publish(many, uri="urn:many").errors
        with hub.store.writing() as writer:
            (query,) = writer.settings.get("engine.failed_queries")
            writer.settings.set("engine.failed_queries", {query: [1_000, 4]})
        applied = threading.Event()
        turn = Turn(Applier(hub, Limits()), hub.store.lease(APPLIER), applied=applied.set)
        turn.start()
        assert applied.wait(30)
        turn.stop()
        with hub.store.reading() as reader:
            (wait,) = reader.settings.get("engine.failed_queries").values()
            assert len(wait) > 2, "it was tried, in vain"


def test_what_cannot_be_applied_is_set_aside_and_the_others_are_applied(new_url):
    with Hub(new_url("sqlite")) as hub:
        hub.submit([Unread("urn:bad", b"nonsense", "text/turtle")])
        below = "<urn:{0}> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:{1}> ."
        cycle = [entry_of(Publish(parse(below.format(a, b), uri=f"urn:{a}"))) for a, b in [(1, 2), (2, 1)]]
        log = log_of(hub.store)
        log.append([published(1), *cycle, published(2)])
        drained(Applier(hub, Limits()))
        assert uris(hub) == ["urn:1", "urn:doc:1", "urn:doc:2"]
        assert [one.uri for one in hub.rejected()] == ["urn:bad", "urn:2"]
        log.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_journal_brings_lists_and_what_is_not_permitted_is_set_aside_alone(new_url, kind):
    """P8: a change that was acknowledged a moment before its document got a list from elsewhere."""
    with Hub(new_url(kind)) as hub:
        log = log_of(hub.store)
        document, other = (parse(f"<urn:s> <urn:p> {n} .", uri="urn:doc") for n in (1, 2))
        log.append(
            [
                entry_of(Publish(document, access=Access(["bob"], ["ada"]), by="ada")),
                entry_of(Publish(other, by="bob")),
                entry_of(Retract("urn:doc", "zoe")),
                published(3),
            ]
        )
        drained(Applier(hub, Limits()))
        assert hub.document("urn:doc", viewer="bob") == document
        assert hub.document("urn:doc", viewer="zoe") is None
        assert uris(hub) == ["urn:doc", "urn:doc:3"]
        assert [one.uri for one in hub.rejected()] == ["urn:doc", "urn:doc"]
        log.close()


@pytest.mark.parametrize("kind", KINDS)
def test_two_who_apply_at_the_same_time_do_not_apply_anything_twice(new_url, kind):
    url = new_url(kind)
    with Hub(url) as hub, Hub(url) as other:
        hub.subscribe("SELECT ?s ?o { ?s <urn:p> ?o }", id="all")
        log = log_of(hub.store)
        log.append([published(n) for n in range(30)])
        appliers = [Applier(each, Limits()) for each in (hub, other)]
        some = appliers[0].backlog.some(most=10, most_bytes=1 << 20)
        drained(appliers[1])
        with pytest.raises(StoreError, match="has taken these changes"):
            appliers[0]._apply(some)
        assert len(uris(hub)) == 30
        assert len(hub.events("all")) == 30
        log.close()


@pytest.mark.parametrize("kind", KINDS)
def test_who_has_the_lease_applies_and_the_next_goes_on_when_it_ends(new_url, kind):
    url = new_url(kind)
    with Hub(url) as hub, Hub(url) as other:
        log = log_of(hub.store)
        done = {0: threading.Event(), 1: threading.Event()}
        turns = [
            Turn(Applier(each, Limits()), each.store.lease(APPLIER), applied=done[n].set)
            for n, each in enumerate((hub, other))
        ]
        turns[0].start()
        log.append([published(1)])
        assert done[0].wait(30)
        turns[1].start()
        log.append([published(2)])
        turns[0].stop()
        done[0].clear()
        log.append([published(3)])
        assert done[1].wait(30)
        turns[1].stop()
        assert not done[0].is_set()
        assert uris(hub) == ["urn:doc:1", "urn:doc:2", "urn:doc:3"]
        log.close()


def test_a_journal_that_is_not_known_to_be_the_stores_is_not_applied(new_url):
    with Hub(new_url("sqlite")) as hub, Hub(new_url("sqlite")) as other:
        log = log_of(hub.store)
        log.append([published(1)])
        log.close()
        shutil.copytree(folder_of(hub.store.url), folder_of(other.store.url))
        drained(Applier(other, Limits()))
        assert uris(other) == []
        drained(Applier(hub, Limits()))
        assert uris(hub) == ["urn:doc:1"]


def test_what_was_moved_to_the_log_of_the_store_counts_as_applied_when_it_is(new_url):
    with Hub(new_url("sqlite")) as hub:
        log = log_of(hub.store)
        applier = Applier(hub, Limits())
        log.append([published(n) for n in range(3)])
        drained(applier)
        log.append([published(n) for n in range(3, 8)])
        assert applier.backlog.is_longer_than(4)
        assert not applier.backlog.is_longer_than(5)
        with hub.store.writing() as writer:
            move(writer, JournalReader(folder_of(hub.store.url)).after(3, most=9, most_bytes=1 << 20))
        assert log.applied() == 3
        drained(applier)
        assert log.applied() == 8
        assert len(uris(hub)) == 8
        log.close()
