"""What is asked through a controller is answered, also if another hub takes its place meanwhile (N2, P4)."""

from __future__ import annotations

import pytest

from triplewire import parse
from triplewire.network.hierarchy import TreeTopology, unit_name
from triplewire.network.hierarchy.units import Path
from triplewire.network.routing import RoutingHub, RoutingState

ABOVE: Path = (0,)
PUBLISHER: Path = (0, 0)
READER: Path = (0, 1)


class Cluster:
    """A unit and two brokers in it, joined by a list of frames."""

    def __init__(self) -> None:
        self.now = 0.0
        self.hubs: dict[str, RoutingHub] = {}
        self.open: set[frozenset[str]] = set()

    def put(self, path: Path, epoch: str, *neighbours: Path) -> RoutingHub:
        """A hub at a place, which knows nothing; whoever stood there is gone. It has a link to each neighbour, cut."""
        made = RoutingHub(RoutingState(unit_name(path), epoch), TreeTopology(path, 2))
        self.open = {link for link in self.open if made.name not in link}
        for peer in map(unit_name, neighbours):
            made.connect(peer, self.now)
            made.disconnect(peer)
            if peer in self.hubs:
                self.hubs[peer].disconnect(made.name)
        self.hubs[made.name] = made
        return made

    def join(self, *paths: Path) -> None:
        """Frames go between two places from now on."""
        self.now += 1.0
        one, other = map(unit_name, paths)
        self.open.add(frozenset((one, other)))
        frames = [(a, self.hubs[a].connect(b, self.now)) for a, b in ((one, other), (other, one))]
        for came, some in frames:
            self.carry(came, some)

    def carry(self, came: str, frames) -> None:
        """Until there are no more frames, and none is to be sent again."""
        waiting = [(came, *each) for each in frames]
        for _ in range(20):
            while waiting:
                came, to, frame = waiting.pop(0)
                if frozenset((came, to)) in self.open:
                    waiting += [(to, *each) for each in self.hubs[to].receive(came, frame, self.now)]
            self.now += 1.0
            ticks = [(hub, peer) for hub in self.hubs.values() for peer in hub.neighbours]
            waiting = [(hub.name, *each) for hub, peer in ticks for each in hub.tick(peer, self.now)]


@pytest.mark.parametrize("order", [(READER, PUBLISHER), (PUBLISHER, READER)])
def test_question_that_passes_through_a_new_controller_is_answered_whoever_comes_to_it_first(order):
    """A document that was taken back while the controller changed is gone for those who had it (N2).

    The controller has not met the origin when it is asked, or not the one that asks when it is told.
    """
    cluster = Cluster()
    publisher, reader = cluster.put(PUBLISHER, "a", ABOVE), cluster.put(READER, "b", ABOVE)
    cluster.put(ABOVE, "first", PUBLISHER, READER)
    cluster.join(PUBLISHER, ABOVE)
    cluster.join(READER, ABOVE)
    cluster.carry(reader.name, reader.subscribe("s", "c", "SELECT ?d { ?d <urn:p> ?o }", "sparql", 0.0))
    cluster.carry(publisher.name, publisher.publish(parse("<urn:d> <urn:p> 1 .", uri="urn:doc"), cluster.now))
    assert [each.kind for each in reader.subscription("s").log] == ["matched"]

    cluster.put(ABOVE, "second", PUBLISHER, READER)
    cluster.carry(publisher.name, publisher.retract("urn:doc", cluster.now))
    for path in order:
        assert [each.kind for each in reader.subscription("s").log] == ["matched"]
        cluster.join(path, ABOVE)
    assert [each.kind for each in reader.subscription("s").log] == ["matched", "unmatched"]


def test_question_that_was_with_a_controller_which_is_gone_is_asked_of_the_next_one():
    """Also when the one who asked is not there to ask again: who passes a question on asks on (P4)."""
    cluster = Cluster()
    publisher, reader = cluster.put(PUBLISHER, "a", ABOVE), cluster.put(READER, "b", ABOVE)
    cluster.put(ABOVE, "first", PUBLISHER, READER)
    cluster.join(PUBLISHER, ABOVE)
    cluster.join(READER, ABOVE)
    cluster.carry(reader.name, reader.subscribe("s", "c", "SELECT ?d { ?d <urn:p> ?o }", "sparql", 0.0))
    cluster.carry(publisher.name, publisher.publish(parse("<urn:d> <urn:p> 1 .", uri="urn:doc"), cluster.now))
    unit = cluster.put(ABOVE, "second", PUBLISHER, READER)
    cluster.carry(publisher.name, publisher.retract("urn:doc", cluster.now))

    # it has said nothing to the controller, so that who comes after it has nothing to replace either
    substitute = cluster.put(PUBLISHER, "substitute", ABOVE)
    substitute.state.stands_in = True
    cluster.join(PUBLISHER, ABOVE)
    cluster.join(READER, ABOVE)
    assert substitute.state.asked  # and is gone with them
    back = cluster.put(PUBLISHER, "back", ABOVE)
    back.adopt(publisher.state, cluster.now)
    cluster.join(PUBLISHER, ABOVE)
    assert [each.kind for each in reader.subscription("s").log] == ["matched", "unmatched"]
    assert not unit.state.unanswered
    assert not reader.state.unanswered
