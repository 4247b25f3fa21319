"""What a subscriber of a ring is told of rows follows from what is known when it is told (M6)."""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode, Triple

from triplewire.network.ring import HomeState, RingSettings
from triplewire.network.ring.messages import Answer
from triplewire.network.ring.statements import KeyStatement, Said

S, A, B = (NamedNode(f"urn:{name}") for name in "sab")
ONE, TWO, BESIDE = Triple(S, A, Literal(1)), Triple(S, A, Literal(2)), Triple(S, B, Literal(3))
D, E, F = (("peer", f"urn:{name}") for name in "def")


def test_row_that_has_ended_and_begun_again_is_changed_if_its_content_is_another_by_then():
    """What is stated beside it was told while the row was none, so that nothing but its return speaks of it."""
    home = HomeState("home")
    subscription = home.subscribe("q", "client", "SELECT ?s ?x { ?s <urn:a> ?x }", "sparql", RingSettings(), 0.0)
    (query,) = subscription.queries
    pattern = query.triples[0]

    def answer(triple: Triple, origin: tuple[str, str], version: int, *, is_stated: bool = True) -> None:
        values = (pattern.subject.value, triple.subject), (pattern.object.value, triple.object)
        said = {triple: {origin: Said(version, float(version), is_stated)}}
        home.take([Answer(tuple(sorted(values)), said, (query,))], 1.0, watches=True)

    def state(origin: tuple[str, str], version: int, *triples: Triple) -> None:
        home.restate(S, [(origin, KeyStatement(version, float(version), frozenset(triples)))], 1.0)

    answer(ONE, D, 1)
    answer(TWO, E, 1)
    state(D, 1, ONE)
    state(E, 1, TWO)
    home.settle(["q"], None, 1.0)
    assert [event.kind for event in subscription.log] == ["matched", "matched"]
    answer(ONE, D, 2, is_stated=False)
    state(D, 2, BESIDE)
    state(F, 1, ONE)
    answer(ONE, F, 1)
    home.settle(["q"], None, 2.0)
    changed = {event.row["x"]: {*event.after} for event in subscription.log[2:] if event.kind == "changed"}
    assert changed == {Literal(1): {ONE, TWO, BESIDE}, Literal(2): {ONE, TWO, BESIDE}}
