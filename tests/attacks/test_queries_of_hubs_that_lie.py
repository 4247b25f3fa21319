"""Hubs of a hierarchy that lie in queries and answers: what they pass on is looked at (N3, P8)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from triplewire import compile, parse
from triplewire.errors import ChannelRefused
from triplewire.network.channels.identities import HubIdentity
from triplewire.network.hierarchy import QueryAnswered, QueryAsked, UnitMembership
from triplewire.network.hierarchy.answers import UnitTold
from triplewire.network.link import LogEntry, Timing
from triplewire.network.live import places
from triplewire.network.live.acceptance import refuse_forged
from triplewire.network.live.places import LivePlace, signed_text
from triplewire.network.routing import NETWORK, DocumentSent, RoutingState

HARBOUR, MAST, HILL = (HubIdentity.new(name) for name in ("harbour", "mast", "hill"))
PATTERN = compile("SELECT ?d { ?d <urn:theme> <urn:water> }", language="sparql")


def units() -> UnitMembership:
    """Three brokers in two clusters; the first two are in one."""
    table = UnitMembership.founded(HARBOUR.name, "http://127.0.0.1:1", HARBOUR.public_key, "harbour")
    table = table.joined(MAST.name, "http://127.0.0.1:1", MAST.public_key, "harbour")
    return table.joined(HILL.name, "http://127.0.0.1:1", HILL.public_key, "hill")


def sent(origin: str, by: HubIdentity) -> DocumentSent:
    text = "<urn:d> <urn:theme> <urn:water> ."
    made = DocumentSent(origin, "urn:d", 1, 1.0, parse(text, uri="urn:d"))
    return replace(made, signature=by.sign(signed_text(made)))


def taken(body, came: str = "unit-0", to: str = "unit-0.0"):
    return refuse_forged(LogEntry("epoch", 1, body), came, to, units()).body


def asked(asker: str) -> QueryAsked:
    return QueryAsked("q", asker, PATTERN, NETWORK, None)


def test_query_comes_from_where_its_asker_is():
    assert taken(asked("unit-1.0")) == asked("unit-1.0")
    for asker in ("unit-0.0", "nowhere", "unit-0.0.0"):
        with pytest.raises(ChannelRefused):
            taken(asked(asker))
    with pytest.raises(ChannelRefused, match="is not on the way of a query"):
        taken(asked("unit-0.1"), came="unit-0.0", to="unit-0")
    with pytest.raises(ChannelRefused, match="is not on the way of a query"):
        taken(UnitTold(frozenset(), (), (), (asked("unit-0.1"),)), came="unit-0.0", to="unit-0")


def test_answer_has_only_what_the_hubs_that_it_names_have_signed():
    assert taken(QueryAnswered("q", (sent("unit-1.0", HILL),), ())).found == (sent("unit-1.0", HILL),)
    with pytest.raises(ChannelRefused, match="has not signed it"):
        taken(QueryAnswered("q", (sent("unit-1.0", MAST),), ()))


def place(name: str) -> LivePlace:
    made = LivePlace(RoutingState(name, "e"), units().topology(name), HARBOUR.sign, timing=Timing())
    for peer in units().beside(name):
        made.connect(peer, 0.0)
    return made


def test_neighbour_that_asks_without_end_is_told_that_nobody_answers(monkeypatch):
    monkeypatch.setattr(places, "_MOST_QUERIES", 3)
    unit = place("unit-0")
    for number in range(5):
        unit.hear("unit-0.0", replace(asked("unit-0.0"), id=f"q{number}"), 0.0)
    assert len(unit.book.queries) == 3
    refused = [entry.body for entry in unit.state.links["unit-0.0"].waiting if isinstance(entry.body, QueryAnswered)]
    assert [each.silent for each in refused] == [("unit-0",)] * 2


def test_query_under_the_id_of_another_ones_is_passed_over():
    unit = place("unit-0")
    unit.hear("unit-0.0", asked("unit-0.0"), 0.0)
    unit.hear("unit-0.1", asked("unit-0.1"), 0.0)
    assert {id: task.came for id, task in unit.book.queries.items()} == {"q": "unit-0.0"}


def test_answer_that_is_too_long_for_a_message_is_cut_and_says_so(monkeypatch):
    monkeypatch.setattr(places, "_LONGEST_ANSWER", 100)
    broker = place("unit-0.1")
    for number in range(5):
        text = f"<urn:d{number}> <urn:theme> <urn:water> ."
        broker.put(f"urn:d{number}", parse(text, uri=f"urn:d{number}"), number + 1, float(number), 1.0)
    broker.hear("unit-0", asked("unit-1.0"), 2.0)
    (answer,) = [e.body for e in broker.state.links["unit-0"].waiting if isinstance(e.body, QueryAnswered)]
    assert 0 < len(answer.found) < 5
    assert answer.silent == ("unit-0.1",)
    assert answer.kept == ""
