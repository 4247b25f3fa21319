"""What the hub promises of any document, told of triples and rules, and of XML and XPath (N1): the same sentences."""

from __future__ import annotations

import pytest
from tests.contracts.listening import HOSTS, INFOS
from tests.contracts.worlds import WORLDS, Thing

from triplewire import Publish, Retract
from triplewire.errors import UnknownSubscription
from triplewire.model import Behind

A, B = Thing("a"), Thing("b")
PASSAU, MUNICH = A.having(serverHost="db.uni-passau.de"), A.having(serverHost="db.in.tum.de")


@pytest.fixture(params=WORLDS)
def world(request):
    return WORLDS[request.param]


@pytest.fixture
def listen(ear, world):
    """Subscribes to all providers, or to those at a host."""

    def run(id, host=None, *, start="ever"):
        text = world.providers if host is None else world.at.format(host)
        return ear.add(id, text, language=world.language, scope=world.scope, start=start)

    return run


@pytest.fixture
def publish(hub, world):
    def run(*things, uri=HOSTS, batch=None):
        return hub.apply([Publish(world.document(*things, uri=uri))], batch=batch)

    return run


def test_a_document_matches_with_all_that_is_in_it(ear, listen, publish):
    listen("all")
    publish(A, B, Thing("c", "Car"))
    assert ear.heard() == {"all": ["matched a", "matched b"]}


def test_what_is_new_in_a_document_matches_and_the_others_stay_quiet(ear, listen, publish):
    listen("all")
    publish(A)
    ear.heard()
    publish(A, B)
    assert ear.heard() == {"all": ["matched b"]}


def test_the_same_content_again_says_nothing(ear, listen, publish):
    listen("all")
    publish(A, B)
    ear.heard()
    publish(A, B)
    assert ear.heard() == {}


def test_what_is_deleted_from_its_document_is_unmatched(ear, listen, publish):
    listen("all")
    publish(A, B)
    ear.heard()
    publish(A)
    assert ear.heard() == {"all": ["unmatched b"]}


def test_a_document_that_goes_unmatches_and_one_that_comes_back_matches_again(hub, ear, listen, publish):
    listen("all")
    publish(A, B)
    ear.heard()
    hub.retract(HOSTS)
    assert ear.heard() == {"all": ["unmatched a", "unmatched b"]}
    assert list(hub.rows("all")) == []
    publish(A)
    assert ear.heard() == {"all": ["matched a"]}


def test_an_update_enters_the_pattern_stays_in_it_and_leaves_it(ear, listen, publish):
    listen("passau", "uni-passau.de")
    publish(MUNICH)
    assert ear.heard() == {}
    publish(PASSAU)
    assert ear.heard() == {"passau": ["matched a"]}
    for update in (
        A.having(serverHost="new.uni-passau.de"),
        A.having(serverHost="new.uni-passau.de", colour="red"),
        A.having(serverHost="new.uni-passau.de", colour="blue"),
        PASSAU,
    ):
        publish(update)
        assert ear.heard() == {"passau": ["changed a"]}
    publish(Thing("a", "Museum").having(serverHost="db.uni-passau.de"))
    assert ear.heard() == {"passau": ["unmatched a"]}


def test_an_update_may_leave_one_query_enter_another_and_change_a_third(hub, ear, listen, publish):
    listen("all")
    listen("passau", "uni-passau.de")
    listen("munich", "tum.de")
    publish(PASSAU)
    ear.heard()
    publish(MUNICH)
    assert ear.heard() == {"all": ["changed a"], "passau": ["unmatched a"], "munich": ["matched a"]}
    assert len(hub.rows("all")) == 1


def test_a_change_is_told_of_what_has_changed_alone(ear, listen, publish):
    listen("all")
    publish(A, B)
    ear.heard()
    publish(A, B.having(colour="red"))
    assert ear.heard() == {"all": ["changed b"]}


def test_what_one_batch_publishes_and_retracts_gives_no_event(hub, ear, listen, world):
    listen("all")
    hub.apply([Publish(world.document(A)), Retract(HOSTS)])
    assert ear.heard() == {}
    assert list(hub.rows("all")) == []
    hub.apply([Retract(HOSTS), Publish(world.document(A))])
    hub.apply([Retract(HOSTS), Publish(world.document(A))])
    assert ear.heard() == {"all": ["matched a"]}


def test_the_last_change_of_a_document_in_a_batch_counts(hub, ear, listen, world):
    listen("passau", "uni-passau.de")
    first, last = world.document(PASSAU), world.document(MUNICH)
    hub.apply([Publish(first), Publish(last)])
    assert ear.heard() == {}
    hub.apply([Publish(last), Publish(first)])
    assert ear.heard() == {"passau": ["matched a"]}


def test_a_log_is_read_from_any_cursor_in_pieces(hub, listen, publish):
    listen("passau", "uni-passau.de")
    publish(PASSAU)
    publish(A.having(serverHost="uni-passau.de"))
    hub.retract(HOSTS)
    log = list(hub.events("passau"))
    assert [event.kind for event in log] == ["matched", "changed", "unmatched"]
    assert list(hub.events("passau", after=log[0].cursor)) == log[1:]
    assert list(hub.events("passau", after=log[0].cursor, limit=1)) == log[1:2]


def test_what_starts_ever_is_sent_what_answers_first_and_what_starts_now_is_not(hub, ear, listen, publish):
    publish(A, B)
    listen("ever")
    listen("now", start="now")
    assert ear.heard() == {"ever": ["matched a", "matched b"]}
    publish(Thing("d"), uri=INFOS)
    assert ear.heard() == {"ever": ["matched d"], "now": ["matched d"]}
    hub.retract(HOSTS)
    assert ear.heard() == {"ever": ["unmatched a", "unmatched b"]}
    publish(A)
    assert ear.heard() == {"ever": ["matched a"], "now": ["matched a"]}


def test_subscriptions_with_the_same_query_are_told_each_by_itself(hub, ear, listen, publish):
    listen("one")
    publish(A)
    listen("two")
    publish(A.having(colour="red"))
    assert ear.heard() == {"one": ["changed a", "matched a"], "two": ["changed a", "matched a"]}
    hub.unsubscribe("one")
    hub.retract(HOSTS)
    with pytest.raises(UnknownSubscription):
        list(hub.events("one"))
    del ear.cursors["one"]
    assert ear.heard() == {"two": ["unmatched a"]}


def test_an_event_has_its_document_and_what_it_was_and_is(hub, listen, publish, world):
    listen("all")
    publish(A.having(serverHost="x"))
    publish(A.having(serverHost="x", colour="red"))
    hub.retract(HOSTS)
    publish(A.having(serverHost="y"))
    log = list(hub.events("all"))
    assert [event.kind for event in log] == ["matched", "changed", "unmatched", "matched"]
    assert [event.documents for event in log] == [
        (Behind(HOSTS, None, 1),),
        (Behind(HOSTS, 1, 2),),
        (Behind(HOSTS, 2, None),),
        (Behind(HOSTS, None, 4),),
    ]
    assert [world.said_of("a", event.before) for event in log] == [set(), {"x"}, {"x", "red"}, set()]
    assert [world.said_of("a", event.after) for event in log] == [{"x"}, {"x", "red"}, set(), {"y"}]
    assert [event.before is None for event in log] == [True, False, False, True]


def test_a_match_has_what_was_there_before_though_it_did_not_match(hub, listen, publish, world):
    listen("passau", "uni-passau.de")
    publish(MUNICH)
    publish(PASSAU)
    (event,) = hub.events("passau")
    assert world.said_of("a", event.before) == {"db.in.tum.de"}
    assert world.said_of("a", event.after) == {"db.uni-passau.de"}
