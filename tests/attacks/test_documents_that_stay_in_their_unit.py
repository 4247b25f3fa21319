"""Who is outside a unit tries to learn of a document that stays inside it (N4, P8)."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.attacks.test_queries_of_hubs_that_lie import HARBOUR, PATTERN, units
from tests.network.live.federations import about, hierarchy, kinds, wait_for

from triplewire import parse
from triplewire.client import Client
from triplewire.network.hierarchy import AnswersGone, QueryAsked, unit_name
from triplewire.network.link import Timing
from triplewire.network.live.places import LivePlace
from triplewire.network.routing import NETWORK, Advertise, RoutingState
from triplewire.network.routing.advertisements import Advertised
from triplewire.network.routing.messages import AnswerSent, Ask
from triplewire.network.routing.reaches import HUB

CLUSTER = 1
ONLY = "SELECT ?s { ?s <urn:only-here> ?o }"
ALL = "SELECT ?s { ?s ?p ?o }"
SECRET = '<urn:quiet> <urn:theme> <urn:water> ; <urn:note> "what nobody outside may hear" .'
HIDDEN = [b"urn:quiet", b"what nobody outside may hear", b"urn:hidden-document"]


# -- whole hubs


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """Two hubs of a cluster, one of the super-cluster around it, one elsewhere; all want everything."""
    folder = tmp_path_factory.mktemp("town")
    with hierarchy(folder, ["lindhaven/harbour", "lindhaven/harbour", "lindhaven/hill", "aster/mill"]) as hubs:
        for each in hubs:
            assert each.subscribe("all", ALL, reach="network").status_code == 201
        settle(hubs, "urn:before")
        yield hubs, folder


def settle(hubs, uri: str) -> None:
    """What was told before has arrived everywhere."""
    hubs[0].publish(uri, f"<{uri}> <urn:p> 1 .")
    for each in hubs:
        wait_for(lambda each=each: any(f["row"]["s"] == f"<{uri}>" for f in each.events("all")["events"]))


def federation_of(served):
    return served.server.config.app.state.service.federation


def stored(folder, number: int) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file() and f"/{number}.db" in str(path))


def test_nothing_of_a_document_is_in_the_store_of_a_hub_outside(town):
    """Neither it, nor its uri, nor what its hub did about it, before and after it changes and goes."""
    hubs, folder = town
    first = hubs[0].hub
    first.publish(SECRET, uri="urn:hidden-document", reach="cluster")
    settle(hubs, "urn:published")
    first.publish(SECRET.replace("water", "harbour"), uri="urn:hidden-document")
    settle(hubs, "urn:changed")
    first.retract("urn:hidden-document")
    settle(hubs, "urn:retracted")
    assert len([each for each in hubs[1].events("all")["events"] if each["row"]["s"] == "<urn:quiet>"]) == 3
    for number in (2, 3):
        assert not any(word in stored(folder, number) for word in HIDDEN), number
    assert all(word in stored(folder, 1) for word in HIDDEN)


def test_queries_and_what_hubs_say_of_themselves_do_not_tell_that_a_document_is_there(town):
    hubs, _ = town
    with Client(hubs[3].url) as outside, Client(hubs[1].url) as inside:
        counts = []
        for more in (False, False, True):
            if more:
                hubs[0].hub.publish('<urn:quiet> <urn:only-here> "x" .', uri="urn:found", reach="cluster")
                wait_for(lambda: inside.find(ONLY, language="sparql", reach="network"))
            settle(hubs, f"urn:counted-{len(counts)}")
            found = outside.network_map().hubs
            counts.append(
                [(hub.documents, sum(link.advertised for link in [*hub.links, *hub.inside])) for hub in found]
            )
        first, second, third = counts
        grown = [
            [(b[0] - a[0], b[1] - a[1]) for a, b in zip(*pair, strict=True)]
            for pair in ((first, second), (second, third))
        ]
        assert grown[0] == grown[1]
        answer = outside.find(ONLY, language="sparql", reach="network")
        assert (list(answer), answer.silent) == ([], [])


def test_hub_outside_that_asks_where_a_document_went_hears_what_it_would_of_one_that_is_not_there(town):
    hubs, _ = town
    hubs[0].hub.publish(SECRET, uri="urn:traced", reach="cluster")
    settle(hubs, "urn:after-traced")

    def told(number: int, uri: str) -> dict:
        federation = federation_of(hubs[number])
        asked = federation.ask_directly(
            hubs[0].hub.identity.name, {"kind": "passages", "origin": unit_name((0, 0, 0)), "uri": uri}
        )
        return asyncio.run_coroutine_threadsafe(asked, federation._loop).result(30)

    assert told(1, "urn:traced")["passages"]
    assert told(3, "urn:traced") == told(3, "urn:nothing") == told(2, "urn:traced")
    with Client(hubs[0].url) as client:
        assert len(client.spread("urn:traced").places) == 3  # it, its unit, the other broker of the unit
        assert "not to unit lindhaven, because it does not reach so far" in client.spread("urn:traced").lines[1]


def test_question_where_a_document_went_is_not_passed_on_by_others(town):
    """P8: the one in between would hear of it, and it is not believed that it asks for somebody else."""
    hubs, _ = town
    federation = federation_of(hubs[0])
    sent = []
    questions = federation._questions
    passed = {"about": "question", "kind": "passages", "origin": unit_name((0, 0, 0)), "uri": "urn:before", "id": 1}
    passed |= {"to": hubs[0].hub.identity.name, "hops": 1}
    before = questions._send
    questions._send = lambda to, message: sent.append((to, message))
    try:
        names = [each.hub.identity.name for each in hubs]
        federation._loop.call_soon_threadsafe(questions.hear, names[2], passed | {"from": names[1]})
        federation._loop.call_soon_threadsafe(questions.hear, names[2], passed | {"from": names[2]})
        wait_for(lambda: [message for _, message in sent if message.get("about") == "answer"])
        assert [to for to, message in sent if message.get("about") == "answer"] == [names[2]]
    finally:
        questions._send = before


def answers_of(old) -> list:
    """All that a hub answers to those that subscribers move to, from now on."""
    answer, found = old.answer, []

    def answered(*asked):
        found.append(answer(*asked))
        return found[-1]

    old.answer = answered
    return found


def test_subscriber_who_moves_out_of_the_unit_takes_no_document_of_it_along(town):
    """P7: what it was told of is gone at the new hub, as one that only this account could read is."""
    hubs, folder = town
    hubs[1].subscribe("mover", "SELECT ?d { ?d <urn:moving> ?o }", reach="network")
    settle(hubs, "urn:mover-is-there")
    text = '<urn:moved> <urn:moving> "what stays behind" .'
    hubs[0].hub.publish(text, uri="urn:stays", reach="cluster")
    wait_for(lambda: kinds(hubs[1], "mover") == ["matched <urn:moved>"])
    cursor = hubs[1].events("mover")["events"][-1]["cursor"]
    handed = answers_of(federation_of(hubs[1])._old)
    with Client(hubs[3].url) as client:
        client.move_from(hubs[1].hub.identity.name, subscriptions=["mover"], after={"mover": cursor})
    wait_for(lambda: kinds(hubs[3], "mover") == ["unmatched <urn:moved>"])
    assert "urn:moved" in json.dumps(handed)  # the row that the subscriber was told of
    assert "what stays behind" not in json.dumps(handed)
    assert b"what stays behind" not in stored(folder, 3)
    assert hubs[3].get("/v1/subscriptions/mover/rows").json()["rows"] == []


# -- a place, and a neighbour that is not honest

BROKER, UNIT, ABOVE, OUTSIDE = "unit-0.0", "unit-0", "unit-", "unit-1.0"


def place(name: str) -> LivePlace:
    made = LivePlace(RoutingState(name, "e"), units().topology(name), HARBOUR.sign, timing=Timing())
    for peer in units().beside(name):
        made.connect(peer, 0.0)
    return made


def said(made: LivePlace, peer: str, kind: type) -> list:
    return [entry.body for entry in made.state.links[peer].waiting if isinstance(entry.body, kind)]


def secret(reach: int) -> LivePlace:
    broker = place(BROKER)
    broker.put("urn:doc", parse(about(1), uri="urn:doc"), 1, 1.0, 1.0, reach)
    return broker


@pytest.mark.parametrize(
    ("path", "is_told"),
    [
        (("unit-0.1", UNIT), True),
        ((UNIT,), True),
        ((OUTSIDE, "unit-1", ABOVE, UNIT), False),
        ((ABOVE, UNIT), False),
        (("unit-0.1", UNIT, ABOVE, UNIT), False),  # one inside is named, and the answer would go by the outside
    ],
)
def test_question_from_outside_is_answered_as_if_the_document_were_gone(path, is_told):
    """Without its signature, too: that would say whether somebody has guessed the content."""
    broker = secret(CLUSTER)
    broker.hear(UNIT, Ask(BROKER, "urn:doc", 1, path), 2.0)
    (answer,) = said(broker, UNIT, AnswerSent)
    assert (answer.sent.document is not None, bool(answer.sent.signature)) == (is_told, is_told)


def test_hub_that_loses_sight_of_a_document_is_not_told_what_it_says_now():
    """Its reach is shorter than it was: that it is gone is all that those outside hear."""
    unit = place(UNIT)
    broker = secret(NETWORK)
    sent = broker.state.documents[BROKER, "urn:doc"].told
    unit.state.documents[BROKER, "urn:doc"] = _kept(sent, BROKER, {ABOVE: 1})
    broker.put("urn:doc", parse(about(2), uri="urn:doc"), 2, 2.0, 2.0, CLUSTER)
    unit.hear(BROKER, broker.state.documents[BROKER, "urn:doc"].told, 2.0)
    (told,) = [each for each in said(unit, ABOVE, type(sent)) if each.version == 2]
    assert (told.document, told.signature) == (None, "")


def _kept(sent, came, to):
    from triplewire.network.routing.state import KeptDocument

    return KeptDocument(sent, came, dict(to))


def asked(wanted=None) -> QueryAsked:
    return QueryAsked("q", OUTSIDE, PATTERN, NETWORK, wanted)


@pytest.mark.parametrize("reach", [HUB, CLUSTER, NETWORK])
def test_kept_answer_for_somebody_outside_does_not_go_when_a_document_comes_that_stays_inside(reach):
    """N5: that an answer is not true any more would say that there is one."""
    broker = place(BROKER)
    broker.hear(UNIT, asked(), 1.0)
    broker.put("urn:doc", parse(about(1), uri="urn:doc"), 1, 1.0, 1.0, reach)
    assert bool(said(broker, UNIT, AnswersGone)) is (reach == NETWORK)


@pytest.mark.parametrize("reach", [CLUSTER, NETWORK])
def test_what_is_advertised_inside_moves_no_query_and_no_answer_of_those_outside(reach):
    """N3, N5: a broker that is asked could be silent, and be named; and an answer would go that was kept for them."""
    unit = place(UNIT)
    unit.hear(ABOVE, asked(), 1.0)
    unit.hear(BROKER, Advertise(frozenset({Advertised("property", "urn:theme", "", reach)}), frozenset()), 2.0)
    assert bool(said(unit, ABOVE, AnswersGone)) is (reach == NETWORK)
    other = place(UNIT)
    other.hear(BROKER, Advertise(frozenset({Advertised("property", "urn:theme", "", reach)}), frozenset()), 1.0)
    other.hear(ABOVE, asked(), 2.0)
    assert bool(said(other, BROKER, QueryAsked)) is (reach == NETWORK)
