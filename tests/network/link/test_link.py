"""A link: everything arrives once and in order, or is told anew; and a link that stalls says so."""

from __future__ import annotations

from random import Random

import pytest
from tests.network.link.ends import Node, Wire

from triplewire.errors import LinkFull
from triplewire.network.link import Arrivals, Deliver, Hello, Link, LinkState, LogEntry, Position, Send, Timing

BEATING = Timing(retry=0.2, heartbeat=1.0)


def pair(*, seed: int = 0, loss: float = 0.0, duplication: float = 0.0, timing: Timing | None = None, **limits):
    extra = {"timing": timing} if timing else {}
    a, b = Node("a", "b", **extra, **limits), Node("b", "a", **extra, **limits)
    wire = Wire(a, b, Random(seed), loss=loss, duplication=duplication)
    return a, b, wire


def test_bodies_arrive_in_order_both_ways():
    a, b, wire = pair()
    wire.join()
    for number in range(200):
        wire.say(a, number)
        wire.say(b, -number)
    wire.run()
    assert b.disk.heard == [*range(200)]
    assert a.disk.heard == [-number for number in range(200)]


@pytest.mark.parametrize("seed", range(5))
def test_loss_duplication_and_reordering_change_nothing(seed):
    a, b, wire = pair(seed=seed, loss=0.3, duplication=0.3)
    wire.join()
    for number in range(150):
        wire.say(a, number)
    wire.run()
    assert b.disk.heard == [*range(150)]
    assert not a.disk.link.waiting


def test_without_faults_each_body_is_carried_once_and_acknowledged_once():
    a, _, wire = pair()
    wire.join()
    wire.run()
    before = wire.carried
    for number in range(100):
        wire.say(a, number)
    wire.run()
    assert wire.carried - before == 200


def test_what_is_said_while_the_link_is_cut_arrives_after_it_is_joined_again():
    a, b, wire = pair()
    wire.join()
    wire.say(a, 1)
    wire.run()
    wire.cut()
    wire.say(a, 2)
    wire.run()
    assert b.disk.heard == [1]
    wire.join()
    wire.run()
    assert b.disk.heard == [1, 2]
    assert b.disk.replaced == 0, "it goes on where it was"


@pytest.mark.parametrize("who", ["a", "b"])
def test_crash_of_either_side_loses_and_doubles_nothing(who):
    """Invariant of `network.link.state`: a body's effect and the place that says so are durable in one step."""
    a, b, wire = pair()
    wire.join()
    for number in range(50):
        wire.say(a, number)
        wire.run(until=wire.now + 0.01)
        if number % 7 == 0:
            wire.restart(wire.nodes[who])
    wire.run()
    assert b.disk.heard == [*range(50)]
    assert b.disk.replaced == 0


def test_receiver_that_lost_its_disk_is_told_everything_anew():
    a, b, wire = pair()
    wire.join()
    for number in range(10):
        wire.say(a, number)
    wire.run()
    wire.restart(b, lose=True)
    wire.say(a, 10)
    wire.run()
    assert b.disk.heard == [*range(11)]
    assert b.disk.replaced == 1


def test_sender_that_lost_its_disk_replaces_what_it_said_before():
    """A position of another epoch is never trusted: what the new incarnation has not said is gone at the other side."""
    a, b, wire = pair()
    wire.join()
    for number in range(10):
        wire.say(a, number)
    wire.run()
    wire.restart(a, lose=True)
    wire.run()
    assert b.disk.heard == []
    wire.say(a, "new")
    wire.run()
    assert b.disk.heard == ["new"]


def test_what_is_kept_no_longer_leads_to_a_resync_and_never_to_a_gap():
    a, b, wire = pair()
    wire.join()
    wire.say(a, 1)
    wire.run()
    wire.cut()
    for number in range(2, 10):
        wire.say(a, number)
    a.disk.link.waiting.clear()
    a.disk.link.done = 9
    a.disk.link.peer = None
    wire.join()
    wire.run()
    assert b.disk.heard == [*range(1, 10)]
    assert b.disk.replaced == 1


def test_late_acknowledgement_of_a_lost_incarnation_counts_for_nothing():
    a, b, wire = pair()
    wire.join()
    wire.run()
    wire.say(a, 1)
    acknowledgements = b.done(b.link.receive(a.disk.link.waiting[0], wire.now), wire.now)
    wire.cut()
    wire.restart(b, lose=True)
    wire.join()
    wire.carry(b, acknowledgements)
    wire.run()
    assert b.disk.heard == [1]


def test_log_that_is_full_refuses_and_keeps_what_it_has():
    a, b, wire = pair(limit=3)
    for number in range(3):
        wire.say(a, number)
    with pytest.raises(LinkFull, match="b has not taken the last 3 messages"):
        a.link.send(3, wire.now)
    wire.join()
    wire.run()
    assert b.disk.heard == [0, 1, 2]
    wire.say(a, 3)
    wire.run()
    assert b.disk.heard == [0, 1, 2, 3]


def test_no_more_than_a_window_is_under_way():
    a, b, wire = pair(window=4)
    wire.join()
    wire.run()
    before = wire.carried
    for number in range(20):
        wire.say(a, number)
    assert wire.carried - before == 4
    wire.run()
    assert b.disk.heard == [*range(20)]


def test_other_version_is_refused_in_words_that_say_what_to_do():
    a, *_ = pair()
    a.link.connected(0.0)
    a.done(a.link.receive(Hello("b", "b1", None, "1", version=2), 0.0), 0.0)
    assert a.refused == ["b speaks version 2 of the protocol, and this end version 1: update the older one"]
    assert not a.link.is_open
    assert a.link.due() is None


def test_other_node_than_the_expected_one_is_refused():
    a, *_ = pair()
    a.link.connected(0.0)
    a.done(a.link.receive(Hello("mallory", "m1", None, "1"), 0.0), 0.0)
    assert a.refused == ["b was expected at the other end, and mallory answered"]


def test_lag_is_unknown_before_the_link_is_open_and_after_three_silent_heartbeats():
    _, b, wire = pair(timing=BEATING)
    assert not b.link.lag(0.0).is_known
    wire.join()
    wire.run(until=5.0)
    assert b.link.lag(wire.now).is_known
    wire.is_whole = False  # frames vanish, and nobody is told
    wire.run(until=9.0)
    assert not b.link.lag(wire.now).is_known


def test_lag_does_not_read_nothing_while_bodies_are_missing():
    a, b, wire = pair(timing=BEATING)
    wire.join()
    wire.run(until=1.5)
    for number in range(5):
        a.say(number, wire.now)  # put on the log; the frames are lost
    beat = a.link.tick(wire.now + 0.6)
    for frame in a.done(beat, wire.now):
        if type(frame).__name__ == "Heartbeat":
            b.done(b.link.receive(frame, wire.now), wire.now)
    assert b.link.lag(wire.now).entries == 5
    wire.run(until=20.0)
    assert b.link.lag(wire.now).entries == 0
    assert b.disk.heard == [*range(5)]


def opened(name: str, peer: str, state: LinkState) -> Link:
    """An end that has met the other one."""
    link = Link(name, peer, state)
    (greeting,) = link.connected(0.0)
    link.receive(Hello(peer, f"{peer}-1", None, "theirs", answers=greeting.frame.session), 0.0)
    return link


def test_entry_that_overtakes_one_that_replaces_is_kept():
    """The other side was told that it has arrived, and does not send it again."""
    b = opened("b", "a", LinkState("b-1"))
    assert b.receive(LogEntry("a-1", 2, "second"), 0.0) == [Send(Arrivals("b-1", Position("a-1", 0), (2,)))]
    outputs = b.receive(LogEntry("a-1", 1, "first", replaces=True), 0.0)
    assert outputs == [
        Deliver("first", True),
        Deliver("second", False),
        Send(Arrivals("b-1", Position("a-1", 2))),
    ]


def test_arrivals_that_were_overtaken_are_passed_over():
    """They name an entry that is not there any more, perhaps: it has to be sent again."""
    a = opened("a", "b", LinkState("a-1"))
    for body in ("first", "second"):
        a.send(body, 0.0)
    a.receive(Arrivals("b-1", Position("a-1", 1)), 0.1)
    a.receive(Arrivals("b-1", Position("a-1", 0), (2,)), 0.2)
    assert [output.frame.number for output in a.tick(10.0) if isinstance(output.frame, LogEntry)] == [2]
