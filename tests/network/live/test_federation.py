"""Hubs of one network, each with its own service: what subscribers are told (P3 to P6, X8)."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from tests.network.live.federations import WATER, about, federation, kinds, members, wait_for

from hub.serving import problem, serving
from triplewire import Access, Hub, parse
from triplewire.client import Client
from triplewire.model.foreign import foreign_uri
from triplewire.network import Simulation
from triplewire.network.hypercube import corner


@pytest.fixture(scope="module")
def cube(tmp_path_factory):
    """Four hubs."""
    with federation(tmp_path_factory.mktemp("cube"), 4) as hubs:
        yield hubs


def test_subscriber_is_told_once_of_what_another_hub_publishes_changes_and_retracts(cube):
    for number, each in enumerate(cube):
        assert each.subscribe("water", WATER, reach="network").status_code == 201
        assert each.subscribe("own", WATER).status_code == 201
        assert number < 4
    for number, each in enumerate(cube):
        assert each.publish(f"urn:doc{number}", about(number)).status_code < 300
    for each in cube:
        wait_for(lambda each=each: len(kinds(each)) == 4)
    for number, each in enumerate(cube):
        each.publish(f"urn:doc{number}", about(number, " ; <urn:depth> 3"))
    for each in cube:
        wait_for(lambda each=each: len(kinds(each)) == 8)
    for number, each in enumerate(cube):
        each.retract(f"urn:doc{number}")
    for number, each in enumerate(cube):
        wait_for(lambda each=each: len(kinds(each)) == 12)
        for other in range(4):
            row = f"<urn:d{other}>"
            own = [kind for kind in kinds(each) if kind.endswith(row)]
            assert own == [f"matched {row}", f"changed {row}", f"unmatched {row}"]
        assert kinds(each, "own") == [f"{kind} <urn:d{number}>" for kind in ("matched", "changed", "unmatched")]


def test_event_names_the_document_as_its_publisher_does_and_the_hub_has_it_not(cube):
    """A document of another hub is there for subscriptions that reach it, and for nothing else."""
    reader, writer = cube[0], cube[3]
    reader.subscribe("named", "SELECT ?x { ?x <urn:named> ?y }", reach="network")
    writer.publish("urn:named", "<urn:n> <urn:named> 1 .")
    wait_for(lambda: reader.events("named")["events"])
    (event,) = reader.events("named")["events"]
    assert event["documents"] == [{"uri": "urn:named", "before": None, "after": 1}]
    assert event["triples"] == ['<urn:n> <urn:named> "1"^^<http://www.w3.org/2001/XMLSchema#integer>']
    assert reader.get("/v1/documents").json()["documents"] == []
    problem(reader.get("/v1/document", params={"uri": "urn:named"}), 404)
    asked = reader.get("/v1/sparql", params={"query": "ASK { ?s <urn:named> ?o }"})
    assert asked.json()["boolean"] is False
    assert reader.publish("urn:named", "<urn:own> <urn:other> 1 .").status_code == 201  # its own, of the same uri
    refused = reader.publish("urn:triplewire:foreign:corner-3:urn:named", "<urn:forged> <urn:named> 1 .")
    assert "came from another hub" in problem(refused, 400)["detail"]


def test_subscription_that_starts_ever_is_told_what_was_there_before(cube):
    cube[1].publish("urn:early", "<urn:e> <urn:early> 1 .")
    cube[2].subscribe("early", "SELECT ?x { ?x <urn:early> ?y }", start="ever", reach="network")
    cube[2].subscribe("late", "SELECT ?x { ?x <urn:early> ?y }", reach="network")
    wait_for(lambda: cube[2].events("early")["events"])
    assert cube[2].get("/v1/subscriptions/early").json()["reach"] == "network"


def test_answers_that_join_documents_of_several_hubs_are_joined_at_home(cube):
    """With scope graph, other hubs are asked for each atom."""
    query = "SELECT ?ship ?depth { ?ship <urn:at> ?berth . ?berth <urn:deep> ?depth FILTER(?depth > 5) }"
    cube[0].subscribe("joined", query, scope="graph", reach="network")
    cube[1].publish("urn:ships", "<urn:ship> <urn:at> <urn:berth> .")
    cube[2].publish("urn:berths", "<urn:berth> <urn:deep> 9 .")
    wait_for(lambda: cube[0].events("joined")["events"])
    assert [each["kind"] for each in cube[0].events("joined")["events"]] == ["matched"]
    cube[2].retract("urn:berths")
    wait_for(lambda: len(cube[0].events("joined")["events"]) == 2)
    assert cube[0].events("joined")["events"][-1]["kind"] == "unmatched"


def test_xpath_reaches_into_the_network_too(cube):
    cube[3].subscribe("books", "/library/book/title", language="xpath", reach="network")
    told = cube[0].put(
        "/v1/document",
        params={"uri": "urn:library"},
        content="<library><book><title>Tides</title></book></library>",
        headers={"Content-Type": "application/xml", "Prefer": "wait"},
    )
    assert told.status_code < 300, told.text
    wait_for(lambda: cube[3].events("books")["events"])
    (event,) = cube[3].events("books")["events"]
    assert event["row"]["document"] == "<urn:library>"


def test_subscription_that_ends_lets_go_of_what_came_for_it(cube):
    reader, writer = cube[2], cube[1]
    reader.subscribe("brief", "SELECT ?x { ?x <urn:brief> ?y }", reach="network")
    writer.publish("urn:brief", "<urn:b> <urn:brief> 1 .")
    wait_for(lambda: reader.events("brief")["events"])
    assert reader.delete("/v1/subscriptions/brief").status_code == 204
    with reader.hub.store.reading() as opened:
        assert opened.network.reaches().get("brief") is None

    def is_gone() -> bool:
        with reader.hub.store.reading() as opened:
            found = opened.documents.beginning_with("urn:triplewire:foreign:")
            return not any(uri.endswith("urn:brief") for uri in found)

    wait_for(is_gone)


def test_document_with_an_access_list_stays_at_its_hub(cube):
    """P8: what is not for everybody here is not for other hubs; what is listed later goes."""
    reader, writer = cube[0], cube[1]
    reader.subscribe("secret", "SELECT ?x { ?x <urn:secret> ?y }", reach="network")
    writer.hub.publish("<urn:s> <urn:secret> 1 .", uri="urn:secret")
    wait_for(lambda: reader.events("secret")["events"])
    writer.hub.restrict("urn:secret", Access(["maja"]))
    wait_for(lambda: len(reader.events("secret")["events"]) == 2)
    assert reader.events("secret")["events"][-1]["kind"] == "unmatched"


def test_any_member_tells_of_all_and_of_the_way_of_an_event(cube):
    cube[0].subscribe("traced", "SELECT ?x { ?x <urn:traced> ?y }", reach="network")
    cube[3].publish("urn:traced", "<urn:t> <urn:traced> 1 .")
    wait_for(lambda: cube[0].events("traced")["events"])
    with Client(cube[0].url) as client:
        told = client.network()
        assert [each.corner for each in told.members] == [0, 1, 2, 3]
        assert {link.to for link in told.links} == {1, 2}
        assert all(link.is_open and link.lag == 0 for link in told.links)
        every = client.network_map()
        assert not every.silent
        assert {each.corner for each in every.hubs} == {0, 1, 2, 3}
        lines = client.trace("traced").lines
    assert [line.split(",")[0] for line in lines[:3]] == [
        "urn:traced was published at corner 3",
        "urn:traced came to corner 2",
        "urn:traced came to corner 0",
    ]
    assert "went on to corner 2" in lines[0]
    assert "traced was told" in lines[-1]


def test_hub_of_no_network_says_so(tmp_path):
    with serving(f"sqlite:///{tmp_path}/alone.db") as served:
        refused = served.subscribe("far", WATER, reach="network")
        assert refused.status_code >= 400
        assert "--network hypercube" in refused.json()["detail"]
        assert "--network hypercube" in problem(served.get("/v1/network"), 400)["detail"]


def test_one_scenario_tells_clients_the_same_in_simulation_and_between_processes(tmp_path):
    """The nodes that run in simulation run live: what each client was told is equal, and what one hub would tell."""
    sim = Simulation(seed=3)
    net = sim.hypercube(3)
    clients = [net.client(at=number) for number in range(3)]
    one = Hub(":memory:")
    with federation(tmp_path, 3) as hubs:
        names = [client.subscribe(WATER) for client in clients]
        for each in hubs:
            each.subscribe("water", WATER, reach="network")
        one.subscribe(WATER, id="water")
        sim.run()
        for at, uri, text in SCENARIO:
            if text is None:
                clients[at].retract(uri)
                hubs[at].retract(uri)
                one.retract(uri)
            else:
                clients[at].publish(text, uri=uri)
                hubs[at].publish(uri, text)
                one.publish(text, uri=uri)
            sim.run()
            wanted = parse(text, uri=uri).ntriples if text is not None and "water" in text else None
            for number, each in enumerate(hubs):
                if number != at:  # what several hubs publish at a time has no order that all of them see
                    wait_for(lambda each=each, at=at, uri=uri, wanted=wanted: content(each, at, uri) == wanted)
        told = [[f"{each.kind} {each.row['d']}" for each in c.events(n)] for c, n in zip(clients, names, strict=True)]
        alone = [f"{each.kind} {each.row['d']}" for each in one.events("water")]
        assert told == [kinds(each) for each in hubs] == [alone] * 3


def content(served, at: int, uri: str) -> bytes | None:
    """What a hub has of a document of another one."""
    with served.hub.store.reading() as reader:
        (record,) = reader.documents.current([foreign_uri(corner(at), uri)])
        return reader.documents.contents([(record.id, record.version)])[0] if record and record.present else None


SCENARIO = [
    (0, "urn:a", about(1)),
    (1, "urn:b", about(2)),
    (2, "urn:c", about(1)),  # a row that two documents give
    (0, "urn:a", about(1, " ; <urn:depth> 4")),
    (1, "urn:b", "<urn:d2> <urn:theme> <urn:land> ."),
    (2, "urn:c", None),
    (0, "urn:a", None),
    (1, "urn:b", about(2)),
]


def test_hub_that_leaves_takes_back_what_it_told(tmp_path):
    with federation(tmp_path, 3) as hubs:
        hubs[0].subscribe("water", WATER, reach="network")
        hubs[2].publish("urn:doc", about(1))
        wait_for(lambda: kinds(hubs[0]) == ["matched <urn:d1>"])
        assert hubs[2].post("/v1/network/leave").status_code == 202
        wait_for(lambda: kinds(hubs[0]) == ["matched <urn:d1>", "unmatched <urn:d1>"])
        wait_for(lambda: members(hubs[0]) == 2)
        left = hubs[2].server.config.app.state.service.federation
        wait_for(lambda: left.node.has_left)
        assert left.node.council.joins_by is None, "it does not join again, as it did when it was started"
        assert members(hubs[0]) == 2


def test_hub_that_decides_leaves_and_the_others_go_on(tmp_path):
    with federation(tmp_path, 3) as hubs:
        hubs[1].subscribe("water", WATER, reach="network")
        hubs[0].publish("urn:doc", about(1))
        wait_for(lambda: kinds(hubs[1]) == ["matched <urn:d1>"])
        assert hubs[0].post("/v1/network/leave").status_code == 202
        wait_for(lambda: members(hubs[1]) == members(hubs[2]) == 2)
        wait_for(lambda: kinds(hubs[1]) == ["matched <urn:d1>", "unmatched <urn:d1>"])
        hubs[2].publish("urn:other", about(2))
        wait_for(lambda: kinds(hubs[1])[-1] == "matched <urn:d2>")
        assert hubs[1].post("/v1/network/leave").status_code == 202
        wait_for(lambda: members(hubs[2]) == 1)
        refused = hubs[2].post("/v1/network/leave")
        assert "the last one cannot leave" in refused.json()["detail"]


def test_hub_that_will_not_come_back_is_expelled_and_what_it_told_is_gone(tmp_path):
    with federation(tmp_path, 2) as hubs:
        with serving(f"sqlite:///{tmp_path}/gone.db", network="hypercube", join=hubs[0].url) as gone:
            wait_for(lambda: members(gone) == 3)
            hubs[1].subscribe("water", WATER, reach="network")
            gone.publish("urn:doc", about(1))
            wait_for(lambda: kinds(hubs[1]) == ["matched <urn:d1>"])
            name = gone.hub.identity.name
        refused = hubs[1].delete(f"/v1/network/members/{name}")
        assert "another hub decides" in refused.json()["detail"]
        with Client(hubs[0].url) as client:
            client.expel(name)
        wait_for(lambda: kinds(hubs[1]) == ["matched <urn:d1>", "unmatched <urn:d1>"])
        assert members(hubs[0]) == 2


def test_hub_that_was_stopped_goes_on_where_it_was(tmp_path):
    with ExitStack() as stack:
        hubs = stack.enter_context(federation(tmp_path, 2))
        store = f"sqlite:///{tmp_path}/late.db"
        with serving(store, network="hypercube", join=hubs[0].url) as third:
            wait_for(lambda: members(third) == 3)
            third.subscribe("water", WATER, reach="network")
            hubs[1].publish("urn:doc", about(1))
            wait_for(lambda: kinds(third) == ["matched <urn:d1>"])
        hubs[1].publish("urn:other", about(2))
        hubs[1].retract("urn:doc")
        with serving(store, network="hypercube", join=hubs[0].url) as third:
            wait_for(lambda: sorted(kinds(third)) == ["matched <urn:d1>", "matched <urn:d2>", "unmatched <urn:d1>"])
