"""Edges between processes: one channel to the hub, which wakes them; the same as in a simulation (M1, M8, P8, X8)."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from tests.network.channels.wires import relaying
from tests.network.live.federations import wait_for

from backbone.served import free_ports
from certificates import make_certificate, needs_openssl
from edge.worlds import held_by, strong, to_hold
from hub.serving import serving
from triplewire import Access, Edge, Schema
from triplewire.client import Client
from triplewire.errors import ChannelRefused, NetworkError, ServiceUnavailable, StoreError
from triplewire.hub.identity.accounts import Accounts
from triplewire.network import Simulation
from triplewire.network.channels import channels, desks, ends
from triplewire.network.channels.identities import kept_identity
from triplewire.store import Store
from triplewire.wire.backoff import BackOff
from triplewire.wire.keys import new_private_key, public_key_of

WATER = "SELECT ?d { ?d <urn:theme> <urn:water> }"
RULES = {"water": WATER, "deep": "SELECT ?d { ?d <urn:depth> ?m FILTER(?m > 5) }"}


def subjects(edge) -> set[str]:
    return {str(triple.subject) for triple in held_by(edge)[0]}


def about(number: int, theme: str = "water") -> str:
    return f"<urn:{number}> <urn:theme> <urn:{theme}> ."


@pytest.fixture
def served(tmp_path):
    with serving(f"sqlite:///{tmp_path}/hub.db") as client:
        yield client


@contextmanager
def following(url: str, **about):
    """An edge that follows a hub by itself, with the rule for water."""
    with Edge(":memory:", hub=url, **about) as edge:
        edge.follow(WATER, language="sparql", id="water")
        edge.start()
        yield edge


# -- the same in a simulation and between processes


def story(hub, edge, settle, cut, mend) -> None:
    """What happens to a hub and its edge, wherever they are."""
    with hub() as here:
        here.set_schema(strong("urn:by"))
        here.publish("<urn:1> <urn:theme> <urn:water> ; <urn:by> <urn:mill> .", uri="urn:a")
        here.publish("<urn:mill> <urn:name> 'mill' ; <urn:by> [ <urn:name> 'river' ] .", uri="urn:b")
    with edge() as there:
        there.publish("<urn:9> <urn:theme> <urn:water> .", uri="urn:own")
        there.follow(RULES["water"], language="sparql", id="water")
        there.follow(RULES["deep"], language="sparql", id="deep")
    settle()
    with hub() as here:
        here.publish("<urn:2> <urn:depth> 9 .", uri="urn:c")
        here.publish(about(3), uri="urn:d", access=Access(["others"]))
        here.publish("<urn:1> <urn:theme> <urn:fire> .", uri="urn:a")
    settle()
    cut()
    with hub() as here:
        here.publish(about(4), uri="urn:e")
        here.retract("urn:c")
        here.set_schema(Schema())
    mend()
    settle()
    with edge() as there:
        there.unfollow("deep")
    settle()


def test_edge_keeps_in_processes_what_it_keeps_in_a_simulation(tmp_path):
    """NETWORK: one scenario in both, and what was kept is compared; both are what the definition says."""
    sim = Simulation(seed=3, delay=(1, 50), loss=0.1, duplication=0.05)
    net = sim.edges(1)
    cuts = (lambda: net.partition([0], [1])), net.heal
    story(lambda: net.at(0), lambda: net.at(1), sim.run, *cuts)
    with net.at(1) as edge:
        simulated = held_by(edge)
    with serving(f"sqlite:///{tmp_path}/hub.db") as served, Edge(":memory:", hub=served.url) as edge:
        edge.start()
        live = _lived(edge, served)
    assert live == simulated
    assert {str(triple.subject) for triple in live[0]} == {"<urn:3>", "<urn:4>"}


def _lived(edge, served):
    """The same story, with a hub that is served; the cable is cut by ending the edge's channel."""

    @contextmanager
    def here():
        yield served.hub

    @contextmanager
    def there():
        yield edge
        edge.nudge()

    def settle() -> None:
        wait_for(lambda: edge.as_of.position == served.hub.batches()[-1].number and _is_well(edge))

    story(here, there, settle, edge._uplink.release, edge.nudge)
    documents = {v.uri: (served.hub.document(v.uri), served.hub.access(v.uri)) for v in served.hub.documents()}
    assert held_by(edge) == to_hold(documents, {"water": (WATER, "sparql", ())}, Schema(), None)
    return held_by(edge)


def _is_well(edge) -> bool:
    known = edge.status()
    return not known.pending and not known.problem


# -- the hub wakes its edges


def test_hub_wakes_an_edge_and_is_not_asked_meanwhile(served, monkeypatch):
    """A question waits at the hub: nothing is asked while nothing happens, and a change is told at once."""
    with relaying(served.url) as (relay, url), following(url) as edge:
        wait_for(lambda: edge.status().link.lag == 0 and relay.questions() and relay.questions()[-1].get("wait"))
        asked = len(relay.questions())
        before = len(relay.told)
        wait_for(lambda: len(relay.told) >= before + 4)  # heartbeats go on
        assert len(relay.questions()) == asked
        served.publish("urn:a", about(1))
        wait_for(lambda: subjects(edge) == {"<urn:1>"}, 15)


def test_rule_that_is_followed_while_an_edge_waits_is_told_to_the_hub_at_once(served):
    served.publish("urn:a", "<urn:1> <urn:depth> 9 .")
    with following(served.url) as edge:
        wait_for(lambda: edge.status().link.lag == 0)
        edge.follow(RULES["deep"], language="sparql", id="deep")
        edge.nudge()
        wait_for(lambda: subjects(edge) == {"<urn:1>"}, 15)


def test_what_is_no_batch_wakes_an_edge_too(served):
    """A schema that is declared, and a rule that a person offers: no document changes."""
    served.publish("urn:a", "<urn:1> <urn:theme> <urn:water> ; <urn:by> <urn:mill> .")
    served.publish("urn:b", "<urn:mill> <urn:depth> 9 .")
    with following(served.url) as edge:
        wait_for(lambda: subjects(edge) == {"<urn:1>"})
        served.hub.set_schema(strong("urn:by"))
        wait_for(lambda: subjects(edge) == {"<urn:1>", "<urn:mill>"}, 15)
        served.hub.set_schema(Schema())
        wait_for(lambda: subjects(edge) == {"<urn:1>"}, 15)
        served.hub.offer(edge.status().name, RULES["deep"], language="sparql", id="deep")
        wait_for(lambda: subjects(edge) == {"<urn:1>", "<urn:mill>"}, 15)


def test_long_answer_goes_in_parts(served, monkeypatch):
    monkeypatch.setattr(channels, "PART", 1_000)
    served.publish("urn:a", "\n".join(about(number) for number in range(300)))
    with relaying(served.url) as (relay, url), Edge(":memory:", hub=url) as edge:
        edge.follow(WATER, language="sparql", id="water")
        assert edge.sync().described == 300
        assert sum('"part"' in text for text in relay.told) > 5
        assert max(map(len, relay.told)) < 4_000


def test_hubs_store_that_cannot_be_looked_at_makes_the_lag_unknown(served, monkeypatch):
    """A lag never reads 0 while nothing can arrive, although the connection stands and its heart beats."""
    monkeypatch.setattr(ends, "HEARTBEAT", 0.05)
    with following(served.url) as edge:
        wait_for(lambda: edge.status().link.lag == 0)
        aged = edge.as_of.confirmed
        wait_for(lambda: edge.as_of.confirmed > aged)  # a heartbeat confirms what is here
        monkeypatch.setattr(desks.StoreWatch, "_look", _fails)
        wait_for(lambda: edge.status().link.lag is None)
        assert edge.status().link.state == "connected"


def _fails(*about, **more):
    raise StoreError("the disk is gone")


def test_lag_counts_the_batches_that_are_missing(served, monkeypatch):
    """An edge that cannot take what it is told says how far it is behind."""
    with following(served.url) as edge:
        wait_for(lambda: edge.status().link.lag == 0)
        monkeypatch.setattr(Edge, "_take", _fails)
        served.publish("urn:a", about(1))
        served.publish("urn:b", about(2))
        wait_for(lambda: edge.status().link.lag == 2)
        assert edge.status().problem == "the disk is gone"


# -- a hub that goes and comes


def test_edge_dials_a_hub_that_was_away_again(tmp_path):
    (port,) = free_ports(1)
    with (
        serving(f"sqlite:///{tmp_path}/hub.db", port=port) as served,
        Store.open(f"sqlite:///{tmp_path}/e.db") as store,
    ):
        url = served.url
        served.publish("urn:a", about(1))
        with Edge(store, hub=url) as edge:
            edge.follow(WATER, language="sparql", id="water")
            edge.sync()
            assert edge.status().link.state == "connected"
            assert edge.status().link.peer == kept_identity(served.hub.store, "hub").name
    edge = Edge(tmp_path / "e.db")
    assert edge.status().link.state == "idle"
    with pytest.raises(ServiceUnavailable, match="cannot be reached"):
        edge.sync()
    edge.start()
    wait_for(lambda: edge.status().problem)
    assert subjects(edge) == {"<urn:1>"}
    with serving(f"sqlite:///{tmp_path}/hub.db", port=port) as served:
        served.publish("urn:b", about(2))
        wait_for(lambda: subjects(edge) == {"<urn:1>", "<urn:2>"})
        wait_for(lambda: not edge.status().problem)
    wait_for(lambda: edge.status().link.state == "away" and edge.status().problem)
    assert edge.status().link.lag is None
    edge.close()


def test_pause_doubles_up_to_its_longest_and_begins_anew_after_a_success():
    """The decision alone: no clock, and the chance is handed in."""
    pause, pauses = BackOff(0.5, 30.0), []
    for _ in range(9):
        pause = pause.failed()
        pauses.append(pause.pause(0.5))
    assert pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert (pause.pause(0.0), pause.pause(1.0)) == (15, 45)
    assert pause.succeeded().failed().pause(0.5) == 0.5
    assert BackOff(0.5, 30.0, failures=10_000).pause(0.5) == 30


# -- who is who


@pytest.fixture
def guarded(tmp_path):
    """A hub that wants to know who asks, and an account with a key."""
    url = f"sqlite:///{tmp_path}/hub.db"
    key = tmp_path / "harbour.pem"
    key.write_bytes(new_private_key())
    with Store.open(url) as store:
        harbour = Accounts(store).add_key("harbour", public_key_of(key.read_bytes()), role="reader")
        _, token = Accounts(store).create_token("town", role="publisher")
    with serving(url, identity=True) as served, Client(served.url, token=token) as town:
        yield served, harbour, key, town, token


def test_edge_proves_its_account_with_its_key_and_has_what_that_may_read(guarded):
    """M8: what the account may not read does not come, and what it may no longer, goes."""
    served, harbour, key, town, _ = guarded
    town.publish(about(1), uri="urn:a")
    town.publish(about(2), uri="urn:b", access=Access())
    with following(served.url, key=key) as edge:
        wait_for(lambda: subjects(edge) == {"<urn:1>"})
        town.restrict("urn:b", Access([harbour.id]))
        wait_for(lambda: subjects(edge) == {"<urn:1>", "<urn:2>"}, 15)
        town.restrict("urn:b", Access())
        wait_for(lambda: subjects(edge) == {"<urn:1>"}, 15)


def test_token_of_an_account_without_a_key_goes_over_the_channel(guarded):
    served, *_, town, token = guarded
    town.publish(about(2), uri="urn:b", access=Access())
    with Edge(":memory:", hub=served.url, token=token) as edge:
        edge.follow(WATER, language="sparql", id="water")
        edge.sync()
        assert subjects(edge) == {"<urn:2>"}


def test_one_key_of_two_accounts_needs_the_id_of_one(guarded, tmp_path):
    served, harbour, key, *_ = guarded
    with Store.open(f"sqlite:///{tmp_path}/hub.db") as store:
        Accounts(store).add_key("pier", harbour.public_key, role="reader")
    wait_for(lambda: len(served.server.config.app.state.service.gate._known) == 3 or _refused(served.url, key))
    with Edge(":memory:", hub=served.url, key=key) as edge, pytest.raises(ChannelRefused, match="several accounts"):
        edge.sync()
    with Edge(":memory:", hub=served.url, key=key, account=harbour.id) as edge:
        edge.sync()


def _refused(url, key) -> bool:
    with Edge(":memory:", hub=url, key=key) as edge:
        try:
            edge.sync()
        except ChannelRefused:
            return True
    return False


def test_key_of_a_hub_can_be_given_before_it_is_first_dialled(served):
    own = kept_identity(served.hub.store, "hub").public_key
    with Edge(":memory:", hub=served.url, hub_key=own) as edge:
        edge.sync()
    with (
        Edge(":memory:", hub=served.url, hub_key="ab" * 32) as edge,
        pytest.raises(ChannelRefused, match="and had abab"),
    ):
        edge.sync()
    with pytest.raises(NetworkError, match="64 hexadecimal digits"):
        Edge(":memory:", hub=served.url, hub_key="abab")


def test_hub_on_another_machine_is_not_dialled_without_encryption():
    """And what it keeps can be asked for all the same."""
    with Edge(":memory:", hub="http://hub.example") as edge:
        with pytest.raises(NetworkError, match="nothing on the way there would be encrypted"):
            edge.sync()
        assert "write https" in edge.status().problem


@needs_openssl
def test_channel_of_an_edge_over_tls(tmp_path, monkeypatch):
    certificate, key = make_certificate(tmp_path)
    (port,) = free_ports(1)
    files = {"certificate": str(certificate), "certificate_key": str(key)}
    from triplewire.hub import Settings, start

    with start(Settings.of({"store": f"sqlite:///{tmp_path}/hub.db", "port": port} | files)):
        with (
            Edge(":memory:", hub=f"https://localhost:{port}") as edge,
            pytest.raises(ServiceUnavailable, match="verify"),
        ):
            edge.sync()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with Edge(":memory:", hub=f"https://localhost:{port}") as edge:
            edge.sync()
            assert edge.status().link.state == "connected"


# -- what is private


def test_no_message_of_an_edge_has_a_byte_of_what_is_private(served):
    """A captured channel: every message of the edge, searched for what only private documents say."""
    served.publish("urn:a", about(1))
    with relaying(served.url) as (relay, url), following(url) as edge:
        edge.publish("<urn:secret> <urn:theme> <urn:water> ; <urn:refers> <urn:1> , <urn:hidden> .", uri="urn:private")
        edge.subscribe("SELECT ?n { ?x <urn:whisper> ?n }", id="quiet")
        wait_for(lambda: "<urn:1>" in subjects(edge))
        edge.publish("<urn:secret> <urn:theme> <urn:water> ; <urn:note> 'whisper' .", uri="urn:private")
        served.publish("urn:b", about(2))
        wait_for(lambda: "<urn:2>" in subjects(edge))
        edge.sync(verify=True)
        edge._uplink.release()  # and after a cut
        served.hub.set_schema(strong("urn:refers"))
        wait_for(lambda: edge.status().link.state == "connected" and not edge.status().problem)
        edge.retract("urn:private")
        edge.unfollow("water")
        edge.sync()
    wire = "".join(relay.sent)
    assert "urn:theme" in wire
    for word in ("secret", "hidden", "refers", "whisper", "urn:private", "quiet"):
        assert word not in wire
