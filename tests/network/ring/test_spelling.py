"""What peers of a ring tell each other, as JSON and back; and what of strangers is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from tests.network.channels.garbage import garbage
from tests.network.histories import ends_as_in_one_hub
from tests.network.ring.test_histories import ACTIONS, HOW, QUERIES, STATEMENTS, RingAndHub

from effort import examples
from triplewire.errors import ChannelRefused
from triplewire.network import Simulation
from triplewire.network.ring import RingPeer, RingSettings
from triplewire.network.ring.messages import (
    AskRing,
    ChangeSettled,
    ContentTold,
    CountTriples,
    EndQuery,
    FindSuccessor,
    FingersFound,
    IndexTriple,
    Rectify,
    Replicate,
    RingTold,
    SplitKey,
    SplitTold,
    TriplesCounted,
    WatchContent,
)
from triplewire.network.ring.post import Parcel, Parcels, Receipts
from triplewire.network.ring.spelling import read_ring_frame, spelled_ring_frame
from triplewire.network.ring.statements import KeyStatement

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
WHOLE = st.integers(0, 1 << 50)
TIMES = st.floats(allow_nan=False, allow_infinity=False)
IRIS = st.sampled_from([NamedNode("urn:a"), NamedNode("urn:é/<b".replace("<", "%3C"))])
BLANKS = st.just(BlankNode("d1xc14n0"))
LITERALS = st.builds(Literal, NAMES) | st.builds(lambda text: Literal(text, language="fr"), NAMES) | st.just(Literal(7))
TERMS = IRIS | BLANKS | LITERALS
TRIPLES = st.builds(Triple, IRIS | BLANKS, IRIS, TERMS)
STATED = st.builds(KeyStatement, WHOLE, TIMES, st.frozensets(TRIPLES, max_size=3))
ORIGINS = st.tuples(NAMES, NAMES)
KEYS = st.sampled_from(["p 7:<urn:p>", 'spo 7:<urn:s>7:<urn:p>3:"1"', '#3.1 po 7:<urn:p>3:"\n"', "s 4:_:b1"])
FINGERS = st.lists(st.integers(0, 63), max_size=3).map(tuple)
VERSIONS = st.tuples(st.none() | WHOLE, st.none() | WHOLE)

KEPT = st.one_of(
    st.builds(IndexTriple, ORIGINS, STATED, st.frozensets(TRIPLES, max_size=3)),
    st.builds(EndQuery, NAMES),
    st.builds(WatchContent, NAMES, TERMS, st.booleans(), WHOLE),
)
BODIES = st.one_of(
    KEPT,
    st.builds(Replicate, KEYS, KEPT | st.builds(SplitKey, st.booleans())),
    st.builds(ContentTold, NAMES, TERMS, st.lists(st.tuples(ORIGINS, STATED), max_size=2).map(tuple)),
    st.builds(ChangeSettled, NAMES, ORIGINS, VERSIONS, st.lists(NAMES, max_size=2).map(tuple)),
    st.builds(CountTriples, NAMES, NAMES, NAMES, WHOLE),
    st.builds(TriplesCounted, NAMES, NAMES, NAMES, WHOLE, WHOLE),
    st.builds(SplitTold, KEYS),
    st.builds(FindSuccessor, NAMES, FINGERS),
    st.builds(FingersFound, FINGERS),
    st.builds(RingTold, st.none() | NAMES, st.lists(NAMES, max_size=8).map(tuple)),
    st.sampled_from([AskRing(), Rectify()]),
)
PARCELS = st.builds(
    Parcel,
    NAMES,
    WHOLE,
    st.integers(0, (1 << 64) - 1),
    KEYS,
    BODIES,
    st.none() | NAMES,
    st.booleans(),
    st.integers(0, 512),
    seal=st.none(),  # it goes beside the parcel
)
FRAMES = st.one_of(
    st.builds(lambda parcel, load: Parcels(parcel.body.kind, (parcel,), load), PARCELS, TIMES),
    st.builds(Receipts, st.lists(st.tuples(WHOLE, st.frozensets(ORIGINS, max_size=3)), max_size=3).map(tuple), TIMES),
)


def crossed(frame):
    """A frame as another process gets it."""
    return read_ring_frame(json.loads(json.dumps(spelled_ring_frame(frame))))


@settings(max_examples=examples(200), deadline=None)
@given(FRAMES)
def test_frame_that_is_read_is_the_one_that_was_spelled(frame):
    """Invariant of `network.ring.spelling`: the frame that is read is the one that was spelled."""
    assert crossed(frame) == frame


class SpelledRingAndHub(RingAndHub):
    """A ring whose peers get each frame as another process would: written, and read again."""

    def __init__(self, *about, **faults) -> None:
        super().__init__(*about, **faults)
        for node in self.net.nodes:
            self._cross(self.net.peer(node))
        restart, join = self.net.restart, self.net.join
        self.net.restart = lambda node: (restart(node), self._cross(self.net.peer(node)))[0]
        self.net.join = lambda: self._joined(join())

    def _joined(self, node: int) -> int:
        self._cross(self.net.peer(node))
        return node

    def _cross(self, peer: RingPeer) -> None:
        receive = peer.receive
        peer.receive = lambda sender, frame, now: receive(sender, crossed(frame), now)


HERE_TO_STAY = ACTIONS.filter(lambda action: action[0] != "leave")
"""What happens to peers of which none leaves: homes of clients are not spelled."""


@settings(max_examples=examples(25), deadline=None)
@given(HOW, st.integers(0, 2**32), st.sampled_from([3, 6]), st.lists(HERE_TO_STAY, max_size=25))
def test_ring_whose_frames_are_spelled_ends_as_one_hub(how, seed, size, actions):
    """Queries, partial results, answers and whole keys lose nothing by being spelled."""
    ends_as_in_one_hub(SpelledRingAndHub(how, seed, size, loss=0.1, duplication=0.1), actions)


def frames_of_a_ring(algorithm: str) -> list:
    """All that peers tell each other while a ring is used, a key is split, and a peer joins."""
    sim = Simulation(seed=3)
    net = sim.ring(5, settings=RingSettings(algorithm, hot=0.01))
    found = []
    sim._world.witnesses.append(lambda sender, receiver, frame, arrives: found.append(frame))
    client = net.client(at=1)
    for query in QUERIES:
        client.subscribe(query)
    for number, statement in enumerate(STATEMENTS):
        net.client(at=number % 5).publish(f"<urn:s/{number % 3}> {statement} .", uri=f"urn:doc/{number}")
    sim.run()
    net.join()
    sim.run()
    return found


@pytest.mark.parametrize("algorithm", ["sqc", "mqc"])
def test_all_that_peers_of_a_ring_say_is_spelled_alike_after_it_was_read(algorithm):
    frames = frames_of_a_ring(algorithm)
    kinds = {type(each.body).__name__ for frame in frames if isinstance(frame, Parcels) for each in frame.parcels}
    assert {"IndexQuery", "IndexTriple", "ExtendMatching", "Notification", "HandOver", "Replicate"} <= kinds
    for frame in frames:
        assert spelled_ring_frame(crossed(frame)) == spelled_ring_frame(frame)


@settings(max_examples=examples(200), deadline=None)
@given(garbage() | st.builds(lambda inner: {"parcels": [[inner], 0.0]}, garbage()))
def test_garbage_is_refused_and_nothing_else_happens(told):
    with pytest.raises(ChannelRefused):
        read_ring_frame({"parcels": told})
    with pytest.raises(ChannelRefused):
        read_ring_frame(told if told != {"receipts": [[], 0]} else None)


SPELLED = [spelled_ring_frame(frame) for frame in frames_of_a_ring("mqc")]


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(SPELLED), st.data())
def test_frame_with_garbage_somewhere_in_it_is_read_or_refused(frame, data):
    """Whatever is exchanged: either it is a frame, which is spelled as it was, or it is refused."""
    told = json.loads(json.dumps(frame))
    at = told
    while isinstance(at, dict | list) and at:
        place = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not isinstance(at[place], dict | list) or not at[place] or data.draw(st.integers(0, 5)) == 0:
            at[place] = data.draw(garbage())
            break
        at = at[place]
    try:
        found = read_ring_frame(told)
    except ChannelRefused:
        return
    assert read_ring_frame(spelled_ring_frame(found)) is not None


@pytest.mark.parametrize("wrong", [["p"], ["q 7:<urn:p>"], ["#9 p 7:<urn:p>"], ["#1.1.1.1.1 p 7:<urn:p>"], [""]])
def test_key_that_no_peer_has_is_refused(wrong):
    parcel = ["a", 1, 2, wrong[0], {"end query": "q"}, None, False, 1]
    with pytest.raises(ChannelRefused):
        read_ring_frame({"parcels": [[parcel], 0.0]})
