"""Edges and hubs of a backbone in virtual time: any history ends with the right cache (M1, M7, M8, M10, X13)."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest
from pyoxigraph import Literal

from edge.worlds import ACCOUNT, held_by, replayed, strong, to_hold
from effort import MANY
from triplewire import Access
from triplewire.errors import DocumentError, NetworkError, UnknownDocument
from triplewire.network import Simulation
from triplewire.store import EVERYBODY

RULES = [
    ("SELECT ?x { ?x a <urn:C> }", "sparql"),
    ("SELECT ?x { ?x <urn:p> ?v FILTER(?v > 0) }", "sparql"),
    ("SELECT ?x { ?x <urn:s> ?y . ?y <urn:p> 1 }", "sparql"),
    ("SELECT ?x ?y { ?x <urn:t> ?y }", "sparql"),
    ("search <urn:C> c register c where c.<urn:p> > 0", "rules"),
    ("//menu[@day='monday']", "xpath"),
]
SCHEMAS = [(), ("urn:s",), ("urn:s", "urn:t")]
LISTS = [None, Access(), Access([ACCOUNT]), Access(["other"])]
LOCAL = "SELECT ?s ?v { ?s <urn:p> ?v }"
MENUS = ["<menu day='monday'><dish>fish</dish></menu>", "<menu day='friday'/>"]
URIS = ["urn:doc/0", "urn:doc/1", "urn:doc/2", "urn:r0"]


class EdgeHistory:
    """What happens to hubs and edges, drawn from one seed."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = Random(seed)
        self.sim = Simulation(seed, delay=(1, 50), loss=0.1, duplication=0.05, patience=1.0)
        self.account = chance.choice([None, ACCOUNT])
        self.net = self.sim.edges(chance.choice([1, 2]), hubs=chance.choice([1, 1, 2, 3]), account=self.account)
        self.rules = {edge: {} for edge in self.net.edges}
        self.private = {edge: {} for edge in self.net.edges}
        for edge in self.net.edges:
            self._begin(edge)
        self.declare()

    def _begin(self, edge: int) -> None:
        self.rules[edge], self.private[edge] = {}, {}
        with self.net.at(edge) as here:
            here.subscribe(LOCAL, id="local", start="ever")
        self._follow(edge, 0)

    def _hub(self) -> int:
        return self.chance.choice(self.net.hubs)

    def _edge(self) -> int:
        return self.chance.choice(self.net.edges)

    def _text(self) -> str:
        def node() -> str:
            return f"<urn:r{self.chance.randrange(4)}>"

        said = [
            lambda: f"<urn:s> {node()}",
            lambda: f"<urn:t> {node()}",
            lambda: f"<urn:p> {self.chance.randrange(3)}",
            lambda: "a <urn:C>",
            lambda: f"<urn:s> [ <urn:p> 1 ; <urn:s> {node()} ]",
        ]
        return "\n".join(f"{node()} {self.chance.choice(said)()} ." for _ in range(self.chance.randrange(5)))

    # -- what happens

    def publish(self) -> None:
        is_xml = self.chance.random() < 0.15
        text = self.chance.choice(MENUS) if is_xml else self._text()
        access = self.chance.choice(LISTS) if self.chance.random() < 0.2 else None
        with self.net.at(self._hub()) as hub:
            media_type = "application/xml" if is_xml else None
            hub.publish(text, uri=self.chance.choice(URIS), media_type=media_type, access=access)

    def retract(self) -> None:
        with self.net.at(self._hub()) as hub:
            hub.retract(self.chance.choice(URIS))

    def restrict(self) -> None:
        with self.net.at(self._hub()) as hub:
            hub.restrict(self.chance.choice(URIS), self.chance.choice(LISTS))

    def declare(self) -> None:
        with self.net.at(self._hub()) as hub:
            hub.set_schema(strong(*self.chance.choice(SCHEMAS)))

    def follow(self) -> None:
        self._follow(self._edge(), self.chance.randrange(len(RULES)))

    def _follow(self, edge: int, number: int) -> None:
        with self.net.at(edge) as here:
            id = f"rule{number}"
            if id in self.rules[edge]:
                here.unfollow(id)
                del self.rules[edge][id]
            else:
                text, language = RULES[number]
                here.follow(text, language=language, id=id)
                self.rules[edge][id] = text, language, ()

    def keep(self) -> None:
        edge, uri, text = self._edge(), self.chance.choice(URIS), self._text()
        with self.net.at(edge) as here:
            here.publish(text, uri=uri)
            self.private[edge][uri] = here.document(uri)

    def crash(self) -> None:
        self.net.crash(self.chance.choice(self.net.nodes))

    def restart(self) -> None:
        for node in self.net.nodes:
            with suppress(NetworkError):
                self.net.restart(node)

    def part(self) -> None:
        nodes = [*self.net.nodes]
        self.chance.shuffle(nodes)
        cut = self.chance.randrange(1, len(nodes))
        self.net.partition(nodes[:cut], nodes[cut:], one_way=self.chance.random() < 0.3)

    def heal(self) -> None:
        self.net.heal()

    def move(self) -> None:
        self.net.move(self._edge(), to=self._hub())

    def come(self) -> None:
        if len(self.net.nodes) < 6:
            self._begin(self.net.join_edge(at=self._hub()))

    def go(self) -> None:
        if len(self.net.edges) > 1:
            edge = self._edge()
            self.net.leave(edge)
            del self.rules[edge], self.private[edge]

    def join(self) -> None:
        if len(self.net.hubs) < 4:
            self.net.join()

    def leave(self) -> None:
        if len(self.net.hubs) > 1:
            self.net.leave(self._hub())

    def compact(self) -> None:
        with self.net.at(self._hub()) as hub:
            with hub.store.reading() as reader:
                last = reader.log.last_cursor()
            hub.store.compact(keep_versions=1, keep_events_after=last)

    def live(self, steps: int) -> None:
        weights = {"publish": 9, "retract": 2, "restrict": 2, "declare": 1, "follow": 3, "keep": 2, "crash": 1}
        weights |= {"restart": 1, "part": 1, "heal": 1, "move": 1, "come": 1, "go": 1, "join": 1, "leave": 1}
        weights |= {"compact": 1}
        deeds = [getattr(self, name) for name, weight in weights.items() for _ in range(weight)]
        for _ in range(steps):
            # what is away, not there, or the hub's own, is refused, and then nothing has happened
            with suppress(NetworkError, DocumentError, UnknownDocument, ValueError):
                self.chance.choice(deeds)()
            self.sim.run(seconds=self.chance.choice([0.0, 0.02, 0.1, 2.0]))

    # -- what must be

    def end(self) -> None:
        self.heal()
        self.restart()
        self.sim.run()
        documents, schema = self._backbone()
        for edge in self.net.edges:
            with self.net.at(edge) as here:
                assert held_by(here) == to_hold(documents, self.rules[edge], schema, self.account), edge
                own = {v.uri for v in here.documents()} - {v.uri for v in here.documents(viewer=EVERYBODY)}
                assert {uri: here.document(uri) for uri in own} == self.private[edge]
                assert replayed(here, "local") == set(here.rows("local"))
                assert here.as_of.position > 0 or not documents

    def _backbone(self):
        """Every hub has the same documents, with the same lists, and one schema."""
        found = []
        for node in self.net.hubs:
            with self.net.at(node) as hub:
                documents = {v.uri: (hub.document(v.uri), hub.access(v.uri)) for v in hub.documents(limit=1_000)}
                found.append((documents, hub._book.schema))
                if len(self.net.hubs) > 1:
                    assert hub.backbone().waiting == 0
        assert all(each[0] == found[0][0] for each in found)
        assert all(each[1].strong == found[0][1].strong for each in found)
        return found[0]


def lived(seed: int, steps: int) -> EdgeHistory:
    history = EdgeHistory(seed)
    history.live(steps)
    history.end()
    return history


@pytest.mark.parametrize("seed", range(40))
def test_edge_holds_the_strong_closure_of_its_rules_after_any_history(seed):
    lived(seed, 10)


@pytest.mark.parametrize("seed", [10_102, 10_153, 10_231, 10_303])
def test_edge_that_came_while_its_hub_was_down_and_crashed_is_known_when_both_are_up(seed):
    """Else the edge greets for ever a hub that does not know it, and nothing comes to rest."""
    lived(seed, 40)


@pytest.mark.parametrize("seed", [10_430, 11_834, 11_958])
def test_document_that_was_retracted_before_a_hub_came_has_one_home_when_it_comes_back(seed):
    lived(seed, 40)


def test_xml_goes_from_an_edge_whose_account_may_not_read_what_took_its_place():
    lived(11_242, 40)


def test_change_for_a_hub_that_has_never_said_its_name_is_passed_on_when_that_is_up():
    lived(10_584, 40)


def test_change_that_waits_goes_to_the_heir_of_a_home_that_left_while_its_hub_was_down():
    """The home leaves after it was sent the change, and before it has it; the hub that sent it knows only later."""
    lived(11_180, 40)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10_000, 10_020))
def test_edge_holds_the_strong_closure_of_its_rules_after_long_histories(first):
    for seed in range(first, 10_000 + 4 * MANY, 20):
        lived(seed, 40)


# -- how soon

DELAY = 0.010
"""Seconds of a way between two stations, without faults."""


def quiet(edges: int = 1, **options):
    """A network without faults, with a rule at each edge, at rest."""
    sim = Simulation(delay=(1_000 * DELAY, 1_000 * DELAY))
    net = sim.edges(edges, **options)
    for edge in net.edges:
        with net.at(edge) as here:
            here.follow("SELECT ?x { ?x a <urn:C> }", language="sparql", id="rule")
    with net.at(0) as hub:
        hub.set_schema(strong("urn:s"))
        hub.publish("<urn:a> a <urn:C> ; <urn:s> <urn:b> ; <urn:t> <urn:c> . <urn:c> <urn:p> 9 .", uri="urn:doc")
    sim.run()
    return sim, net


def seconds_until(sim, is_there) -> float:
    """How long it takes, in virtual time."""
    began = sim.now
    while not is_there():
        assert sim.now < began + 10, "it never comes"
        sim.run(seconds=DELAY / 10)
    return sim.now - began


def says(net, edge: int, text: str) -> bool:
    with net.at(edge) as here:
        return bool(here.query(text))


def _publish(net) -> None:
    with net.at(0) as hub:
        hub.publish("<urn:b> <urn:p> 1 .", uri="urn:other")


def _declare(net) -> None:
    with net.at(0) as hub:
        hub.set_schema(strong("urn:s", "urn:t"))


def _retract(net) -> None:
    with net.at(0) as hub:
        hub.retract("urn:doc")


def _follow(net) -> None:
    with net.at(1) as edge:
        edge.follow("SELECT ?x { ?x <urn:p> 9 }", language="sparql", id="other")


@pytest.mark.parametrize(
    ("change", "then"),
    [
        (_publish, "ASK { <urn:b> <urn:p> 1 }"),
        (_declare, "ASK { <urn:c> <urn:p> 9 }"),
        (_retract, "ASK { FILTER NOT EXISTS { <urn:a> a <urn:C> } }"),
        (_follow, "ASK { <urn:c> <urn:p> 9 }"),
    ],
    ids=["a document", "the schema", "a retraction", "a rule"],
)
def test_change_is_in_the_edge_within_two_round_trips_of_its_commit(change, then):
    """In virtual time; a change of a document needs one way, as the question waits at the hub."""
    sim, net = quiet()
    change(net)
    took = seconds_until(sim, lambda: says(net, 1, then))
    assert took <= 4 * DELAY
    if change in (_publish, _retract):
        assert took <= 1.2 * DELAY


def test_changes_that_come_while_the_edge_is_asking_are_there_within_two_round_trips():
    sim, net = quiet()
    for number in range(10):
        with net.at(0) as hub:
            hub.publish(f"<urn:b> <urn:p> {number} .", uri="urn:other")
        sim.run(seconds=DELAY * 0.7)
    assert seconds_until(sim, lambda: says(net, 1, "ASK { <urn:b> <urn:p> 9 }")) <= 4 * DELAY


def test_edge_that_is_told_nothing_for_long_does_not_know_how_far_it_is_behind():
    """NETWORK's trap: a lag that reads 0 while nothing arrives."""
    sim = Simulation(delay=(10, 10))
    net = sim.edges(1, heartbeat=5.0)
    sim.run(seconds=60)
    assert net.lag(1).is_known
    net.partition([0], [1])
    sim.run(seconds=60)
    assert net.lag(1).entries == 0
    assert not net.lag(1).is_known
    assert net.lag(1).silence >= 55
    net.heal()
    sim.run(seconds=60)
    assert net.lag(1).is_known


# -- what a run is


def test_one_seed_is_one_run_message_for_message():
    runs = [lived(3, 15) for _ in range(2)]
    assert runs[0].sim.messages == runs[1].sim.messages
    assert runs[0].sim.now == runs[1].sim.now


def test_edge_that_moves_to_another_hub_of_the_backbone_loses_nothing_and_is_told_nothing_twice():
    sim, net = quiet(edges=1, hubs=2)
    (edge,) = net.edges
    with net.at(edge) as here:
        here.subscribe("SELECT ?x { ?x a <urn:C> }", id="local", start="ever")
    for hub in (1, 0, 1):
        net.move(edge, to=hub)
        with net.at(0) as home:
            home.publish(f"<urn:new{sim.now}> a <urn:C> .", uri=f"urn:new{sim.now}")
        sim.run()
    with net.at(edge) as here:
        assert len(replayed(here, "local")) == 4
        assert [event.kind for event in here.events("local")] == ["matched"] * 4


def test_change_that_waits_for_a_hub_which_leaves_while_its_sender_is_down_goes_to_the_heir():
    """What is passed on to a hub that is there no more is passed on again."""
    sim = Simulation(3)
    net = sim.edges(1, hubs=3)
    sender, _, home = net.hubs
    with net.at(home) as hub:
        hub.publish("<urn:1> <urn:p> 1 .", uri="urn:a")
    sim.run()
    net.partition([sender], [each for each in net.nodes if each != sender])
    with net.at(sender) as hub:
        hub.publish("<urn:1> <urn:p> 2 .", uri="urn:a")
    net.crash(sender)
    net.heal()
    net.leave(home)
    net.restart(sender)
    sim.run()
    for node in net.hubs:
        with net.at(node) as hub:
            assert hub.backbone().waiting == 0
            assert [str(triple.object) for triple in hub.document("urn:a").triples] == [str(Literal(2))]


def test_reference_that_becomes_weak_while_an_edge_moves_to_a_hub_that_does_not_know_it():
    """Its rules are told anew there, with another schema: what was held by the old one goes."""
    sim, net = quiet(edges=1, hubs=2)
    (edge,) = net.edges
    with net.at(0) as hub:
        hub.publish("<urn:b> <urn:p> 7 .", uri="urn:held")
    sim.run()
    assert says(net, edge, "ASK { <urn:b> <urn:p> 7 }")
    net.partition([edge], [0, 1])
    net.move(edge, to=1)
    with net.at(1) as hub:
        hub.set_schema(strong())
    sim.run()
    net.heal()
    sim.run()
    assert not says(net, edge, "ASK { <urn:b> <urn:p> 7 }")


def test_client_of_an_edge_hears_of_what_is_cached_and_of_what_is_private():
    sim, net = quiet()
    reader, writer = net.client(at=1), net.client(at=0)
    sid = reader.subscribe("SELECT ?x { ?x a <urn:C> }")
    writer.publish("<urn:new> a <urn:C> .", uri="urn:new")
    reader.publish("<urn:own> a <urn:C> .", uri="urn:own")
    sim.run()
    assert sorted(str(event.row["x"]) for event in reader.events(sid)) == ["<urn:new>", "<urn:own>"]
    reader.unsubscribe(sid)
    with net.at(0) as hub:
        assert not hub.query("ASK { <urn:own> ?p ?o }")


def test_no_frame_of_an_edge_has_a_byte_of_what_is_private():
    """A captured wire: every frame of a whole history, searched for what only private documents say."""
    sim, net = quiet()
    sent = []
    sim._world.witnesses.append(lambda sender, receiver, frame, arrives: sent.append(repr(frame)))
    with net.at(1) as edge:
        edge.publish("<urn:a> <urn:secret-note> <urn:hidden-place> .", uri="urn:private-notes")
        edge.subscribe("SELECT ?n { ?x <urn:secret-note> ?n }", id="secret-query")
        edge.follow("SELECT ?x { ?x <urn:t> ?y }", language="sparql", id="more")
    _publish(net)
    _declare(net)
    net.crash(1)
    net.restart(1)
    sim.run()
    assert any("urn:other" in frame for frame in sent)
    assert not [frame for frame in sent if any(word in frame for word in ("secret", "hidden", "private-notes"))]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda net: net.join(), "no backbone"),
        (lambda net: net.leave(0), "last hub"),
        (lambda net: net.move(1, to=1), "is an edge"),
        (lambda net: net.move(9, to=0), "no node 9"),
    ],
)
def test_what_cannot_be_done_says_why(wrong, reason):
    _, net = quiet()
    with pytest.raises(NetworkError, match=reason):
        wrong(net)
