"""Hubs of a hierarchy between processes: what subscribers are told, who takes over, who is refused (N2)."""

from __future__ import annotations

import pytest
from tests.network.live.federations import WATER, about, hierarchy, kinds, processes, wait_for
from tests.network.live.test_federation import SCENARIO
from tests.network.live.test_killed_processes import away, reconcile

from backbone.served import free_ports
from hub.serving import serving
from triplewire import Hub, parse
from triplewire.client import Client
from triplewire.model.foreign import foreign_uri
from triplewire.network import Simulation
from triplewire.network.hierarchy import unit_name

PATHS = [(0, 0), (0, 1), (1, 0)]


def content(served, at: int, uri: str) -> bytes | None:
    """What a hub has of a document of another one."""
    with served.hub.store.reading() as reader:
        (record,) = reader.documents.current([foreign_uri(unit_name(PATHS[at]), uri)])
        return reader.documents.contents([(record.id, record.version)])[0] if record and record.present else None


def test_one_scenario_tells_clients_the_same_in_simulation_and_between_hubs(tmp_path):
    """What each client was told is equal, and what one hub would tell."""
    sim = Simulation(seed=3)
    net = sim.hierarchy(clusters=(2, 2))
    clients = [net.client(at=number) for number in range(3)]
    one = Hub(":memory:")
    with hierarchy(tmp_path, ["harbour", "harbour", "hill"]) as hubs:
        names = [client.subscribe(WATER) for client in clients]
        for each in hubs:
            assert each.subscribe("water", WATER, reach="network").status_code == 201
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
                if number != at:
                    wait_for(lambda each=each, at=at, uri=uri, wanted=wanted: content(each, at, uri) == wanted)
        told = [[f"{each.kind} {each.row['d']}" for each in c.events(n)] for c, n in zip(clients, names, strict=True)]
        alone = [f"{each.kind} {each.row['d']}" for each in one.events("water")]
        assert told == [kinds(each) for each in hubs] == [alone] * 3
        with Client(hubs[0].url) as client:
            status = client.network()
            assert [each.place for each in status.members] == ["broker harbour/0", "broker harbour/1", "broker hill/0"]
            assert {place for each in status.members for place in each.stands_at_places} >= {"unit /", "unit hill"}
            assert client.trace("water").lines[-1].startswith("water was told")


REACHES = ["hub", "cluster", "super-cluster", "network"]
TOLD = {
    "hub": ["<urn:d0>"],
    "cluster": ["<urn:d0>", "<urn:d1>"],
    "super-cluster": ["<urn:d0>", "<urn:d1>", "<urn:d2>"],
    "network": ["<urn:d0>", "<urn:d1>", "<urn:d2>", "<urn:d3>"],
}


def test_subscription_is_told_what_is_published_as_far_as_it_reaches_and_nothing_else(tmp_path):
    """Also across documents, and when a document goes (N4)."""
    clusters = ["lindhaven/harbour", "lindhaven/harbour", "lindhaven/hill", "aster/mill"]
    joined = "SELECT ?a ?b { ?a <urn:theme> ?t . ?b <urn:theme> ?t }"
    with hierarchy(tmp_path, clusters) as hubs:
        first = hubs[0]
        for reach in REACHES:
            assert first.subscribe(reach, WATER, reach=reach).status_code == 201
            assert first.subscribe(f"joined {reach}", joined, reach=reach, scope="graph").status_code == 201
            assert first.get(f"/v1/subscriptions/{reach}").json()["reach"] == reach
        for number, each in enumerate(hubs):
            each.publish(f"urn:doc{number}", about(number))
        wait_for(lambda: len(kinds(first, "joined network")) == 16)
        for reach in REACHES:
            assert sorted(kinds(first, reach)) == [f"matched {row}" for row in TOLD[reach]]
            assert len(kinds(first, f"joined {reach}")) == len(TOLD[reach]) ** 2
        for number, each in enumerate(hubs[1:], 1):
            each.retract(f"urn:doc{number}")
        wait_for(lambda: len(kinds(first, "network")) == 7)
        for reach in REACHES:
            gone = [f"unmatched {row}" for row in TOLD[reach][1:]]
            assert sorted(kinds(first, reach)[len(TOLD[reach]) :]) == gone


def test_reach_of_a_unit_is_refused_where_there_are_none(tmp_path):
    with serving(f"sqlite:///{tmp_path}/cube.db", network="hypercube", deliver=False) as cube:
        refused = cube.subscribe("water", WATER, reach="cluster")
        assert refused.status_code == 400
        assert "has no units: it is one of hub, network" in refused.json()["detail"]
    with serving(f"sqlite:///{tmp_path}/alone.db", deliver=False) as alone:
        refused = alone.subscribe("water", WATER, reach="super-cluster")
        assert "--network hierarchy --cluster NAME" in refused.json()["detail"]


def test_hub_of_another_topology_or_depth_is_refused_with_what_to_do(tmp_path):
    with hierarchy(tmp_path, ["harbour"]) as hubs:
        for name, about_it, said in (
            ("cube", {"network": "hypercube"}, "--network hierarchy"),
            ("deep", {"network": "hierarchy", "cluster": "lindhaven/harbour"}, "--cluster harbour"),
        ):
            store = f"sqlite:///{tmp_path}/{name}.db"
            with serving(store, join=hubs[0].url, deliver=False, **about_it) as refused:
                wait_for(lambda refused=refused, said=said: said in refused.get("/v1/network").json()["problem"])
                assert not refused.get("/v1/network").json()["place"]
        assert len(hubs[0].get("/v1/network").json()["members"]) == 1


@pytest.mark.slow
def test_controller_that_is_killed_is_followed_by_another_broker_of_its_unit(tmp_path):
    clusters = ["harbour", "harbour", "hill", "hill", "hill"]
    with processes(tmp_path, 5, free_ports(5), clusters, TRIPLEWIRE_NETWORK_PATIENCE="3") as hubs:
        for each in hubs:
            assert each.subscribe("water", WATER, reach="network").status_code == 201
        for number, each in enumerate(hubs):
            each.publish(f"urn:doc{number}", about(number))
        every = {f"<urn:d{number}>" for number in range(5)}
        reconcile(hubs, every)
        stands = {each["place"]: each["stands_at_places"] for each in hubs[0].get("/v1/network").json()["members"]}
        victim = next(n for n in range(2, 5) if "unit hill" in stands[f"broker hill/{n - 2}"])
        hubs[victim].kill()
        others = [each for each in hubs if each is not hubs[victim]]
        wait_for(lambda: away(others[0]) == 1, 60)
        others[0].publish("urn:new", about(77))
        others[-1].retract(f"urn:doc{others[-1].number}")
        wanted = every - {f"<urn:d{others[-1].number}>"} | {"<urn:d77>"}
        reconcile(others, wanted)
        hubs[victim].start()
        reconcile(hubs, wanted)


@pytest.mark.slow
def test_twelve_processes_in_three_levels_tell_what_one_hub_would(tmp_path):
    clusters = [f"{town}/{quarter}" for town in ("lindhaven", "aster") for quarter in ("harbour", "hill")] * 3
    with processes(tmp_path, 12, free_ports(12), clusters) as hubs:
        for each in hubs:
            assert each.subscribe("water", WATER, reach="network").status_code == 201
        for number, each in enumerate(hubs):
            assert each.publish(f"urn:doc{number}", about(number)).status_code < 300
        reconcile(hubs, {f"<urn:d{number}>" for number in range(12)})
        for each in hubs:
            assert len(kinds(each)) == 12
