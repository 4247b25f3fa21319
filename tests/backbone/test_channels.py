"""Hubs of a backbone over channels between processes (M10): one for each pair, both ask over it, it says how it is."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from tests.network.channels.wires import relaying

from backbone.hubs import held
from backbone.served import free_ports, served_pair, wait_for
from hub.serving import serving
from triplewire import Access, BackboneHub, Schema
from triplewire.client import Client
from triplewire.documents import parse
from triplewire.errors import HomeAway, NetworkError, SchemaViolation
from triplewire.hub.identity.accounts import Accounts
from triplewire.network import Simulation
from triplewire.network.channels import channels
from triplewire.network.channels.identities import kept_identity
from triplewire.store import Store


@pytest.fixture
def pair(tmp_path):
    """Two served hubs of one backbone, harbour and town, each of which knows the other."""
    with served_pair(tmp_path) as found:
        yield found


def title(text: object) -> str:
    return f'<urn:d> <urn:title> "{text}" .'


def open_channels(served) -> int:
    return len(served.server.config.app.state.service._channels)


def link_of(served):
    (member,) = served.hub.backbone().members
    return member.link


# -- the same in a simulation and between processes


def story(first, second, settle) -> None:
    """What happens to two hubs of a backbone, wherever they are."""
    with first() as here:
        here.publish(title("one"), uri="urn:a")
        here.publish(title("hidden"), uri="urn:b", access=Access(["maja"]))
    with second() as there:
        there.publish(title("other"), uri="urn:c")
        there.set_schema(Schema(), on_violation="warn")
    settle()
    with second() as there:
        there.publish(title("two"), uri="urn:a")
        there.retract("urn:c")
    settle()
    with first() as here:
        here.restrict("urn:b", None)
        here.publish(title("three"), uri="urn:a")
    settle()


def test_backbone_holds_in_processes_what_it_holds_in_a_simulation(pair):
    """NETWORK: one scenario in both, and what is held is compared."""
    sim = Simulation(seed=4, delay=(1, 50), loss=0.1, duplication=0.05)
    net = sim.edges(0, hubs=2)
    story(lambda: net.at(0), lambda: net.at(1), sim.run)
    with net.at(0) as here, net.at(1) as there:
        simulated = held(here)
        assert held(there) == simulated
    hubs = [pair[name].hub for name in ("harbour", "town")]

    @contextmanager
    def at(number: int):
        yield hubs[number]

    def settle() -> None:
        wait_for(lambda: held(hubs[0]) == held(hubs[1]) and hubs[0]._book.policy == hubs[1]._book.policy)

    story(lambda: at(0), lambda: at(1), settle)
    assert held(hubs[0]) == held(hubs[1]) == simulated


# -- one channel


def test_one_channel_is_for_both_and_says_how_it_is(pair):
    harbour, town = pair["harbour"], pair["town"]
    harbour.publish("urn:d", title("one"))
    wait_for(lambda: held(town.hub) == held(harbour.hub))
    wait_for(lambda: open_channels(harbour) + open_channels(town) == 1)
    for served, other in ((harbour, town), (town, harbour)):
        wait_for(lambda served=served: link_of(served).lag == 0)
        link = link_of(served)
        assert (link.state, link.peer) == ("connected", kept_identity(other.hub.store, "hub").name)
    told = town.get("/v1/backbone").json()
    assert told["homes"] == {town.hub.name: 0, harbour.hub.name: 1}
    assert [(member["name"], member["problem"]) for member in told["members"]] == [(harbour.hub.name, "")]


def test_change_that_its_home_refuses_is_refused_in_the_words_of_the_home(pair):
    harbour, town = pair["harbour"].hub, pair["town"].hub
    harbour.publish("<urn:d> <urn:title> 1 .", uri="urn:d")
    wait_for(lambda: held(town) == held(harbour))
    shape = "<urn:title> <http://www.w3.org/2000/01/rdf-schema#range> <http://www.w3.org/2001/XMLSchema#integer> ."
    harbour.set_schema(Schema.from_triples(parse(shape, uri="urn:x").triples))
    with pytest.raises(SchemaViolation):
        town.publish(title("word"), uri="urn:d")


def test_late_joiner_is_told_everything_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(channels, "PART", 2_000)
    with serving(f"sqlite:///{tmp_path}/harbour.db", backbone="", backbone_name="harbour") as harbour:
        for number in range(40):
            harbour.hub.publish(title("long " * 50), uri=f"urn:{number}")
        with relaying(harbour.url) as (relay, url), BackboneHub(":memory:", name="late", others=[url]) as late:
            assert late.sync().documents == 40
            assert held(late) == held(harbour.hub)
            assert sum('"part"' in text for text in relay.told) > 5
            assert late.sync(verify=True).repaired == ()


def test_hub_that_was_away_is_dialled_again_and_meanwhile_changes_are_refused(tmp_path):
    (port,) = free_ports(1)
    about = {"port": port, "backbone": "", "backbone_name": "harbour"}
    with BackboneHub(tmp_path / "town.db", name="town", others=[f"http://127.0.0.1:{port}"]) as town:
        town.start()
        with serving(f"sqlite:///{tmp_path}/harbour.db", **about) as harbour:
            harbour.publish("urn:d", title("one"))
            wait_for(lambda: held(town) == held(harbour.hub) != {})
        wait_for(lambda: town.backbone().members[0].link.state == "away")
        assert town.backbone().members[0].link.lag is None
        with pytest.raises(HomeAway):
            town.publish(title("two"), uri="urn:d")
        with serving(f"sqlite:///{tmp_path}/harbour.db", **about) as harbour:
            wait_for(lambda: not town.backbone().away)
            town.publish(title("three"), uri="urn:d")
            assert held(town) == held(harbour.hub)


def test_account_that_is_revoked_loses_its_channel_and_a_client_asks_over_http(tmp_path):
    url = f"sqlite:///{tmp_path}/harbour.db"
    with Store.open(url) as store:
        account, token = Accounts(store).create_token("town", role="admin")
    with serving(url, identity=True, backbone="", backbone_name="harbour") as served:
        served.hub.publish(title("one"), uri="urn:d")
        with (
            Client(served.url, token=token) as client,
            BackboneHub(":memory:", name="hill", others=[client]) as hill,
            BackboneHub(":memory:", name="town", others=[served.url], token=token) as town,
        ):
            assert hill.sync().documents == town.sync().documents == 1
            hill.publish(title("two"), uri="urn:d")
            assert held(hill) == held(served.hub)
            assert hill.backbone().members[0].link is None
            Accounts(served.hub.store).revoke(account.id)
            wait_for(lambda: "not valid" in str(town.sync().away))


def test_key_after_an_address_must_be_one():
    with pytest.raises(NetworkError, match="64 hexadecimal digits"):
        BackboneHub(":memory:", others=["http://127.0.0.1:9#abab"])
