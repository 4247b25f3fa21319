"""A backbone of served hubs (M10): over HTTP, with accounts, and with processes that are killed."""

from __future__ import annotations

import random
from contextlib import ExitStack

import httpx
import pytest

from backbone.served import free_ports, served_pair, wait_for
from hub.processes import running
from hub.serving import problem, serving
from triplewire import BackboneHub, Hub
from triplewire.errors import StoreError
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store


@pytest.fixture
def pair(tmp_path):
    """Two served hubs of one backbone, harbour and town, each of which knows the other."""
    with served_pair(tmp_path) as found:
        yield found


def content(served, uri: str) -> str:
    return served.get("/v1/document", params={"uri": uri}, headers={"Accept": "application/n-triples"}).text


def test_served_hubs_hold_the_same_and_changes_find_their_home(pair):
    harbour, town = pair["harbour"], pair["town"]
    town.subscribe("all", "SELECT ?s ?o { ?s <urn:p> ?o }", start="ever")
    harbour.publish("urn:d", "<urn:s> <urn:p> 1 .")
    wait_for(lambda: content(town, "urn:d") == content(harbour, "urn:d") != "")
    told = town.publish("urn:d", "<urn:s> <urn:p> 2 .")
    assert told.status_code in (200, 201), told.text
    assert '"2"' in content(harbour, "urn:d")
    kinds = [event["kind"] for event in town.events("all")["events"]]
    assert kinds == ["matched", "unmatched", "matched"]
    assert town.get("/v1/backbone").json()["positions"] != {}


def test_both_pass_changes_to_each_other_at_the_same_time(pair):
    for name, served in pair.items():
        served.publish(f"urn:{name}", "<urn:s> <urn:p> 0 .")
    for served in pair.values():
        wait_for(lambda served=served: len(served.get("/v1/documents").json()["documents"]) == 2)
    for number in range(10):
        for name, served in pair.items():
            other = next(each for each in pair if each != name)
            assert served.send_in(f"urn:{other}", f"<urn:s> <urn:p> {number + 1} .").status_code < 300
    for served in pair.values():
        for uri in ("urn:harbour", "urn:town"):
            wait_for(lambda served=served, uri=uri: '"10"' in content(served, uri))


def test_a_hub_of_no_backbone_and_an_account_that_is_no_admin_are_told_so(tmp_path):
    with serving(f"sqlite:///{tmp_path}/plain.db") as served:
        problem(served.post("/v1/backbone", json={"member": "x"}), 400)
    store = f"sqlite:///{tmp_path}/member.db"
    with Store.open(store) as opened:
        reader = Accounts(opened).create_token("eve", role="publisher")[1]
    with serving(store, identity=True, backbone="") as served:
        for path, body in (("backbone", {"member": "x"}), ("backbone/changes", {"changes": []})):
            answer = served.post(f"/v1/{path}", json=body, headers={"Authorization": f"Bearer {reader}"})
            problem(answer, 403, "not-allowed")


@pytest.mark.parametrize(
    "change",
    [{"kind": 99, "uri": "urn:x"}, {"kind": 1, "uri": "urn:x", "content": "no base 64!"}, {"kind": 2, "uri": "urn:x"}],
)
def test_changes_that_no_hub_passes_on_are_refused(tmp_path, change):
    with serving(f"sqlite:///{tmp_path}/member.db", backbone="") as served:
        answer = served.post("/v1/backbone/changes", json={"changes": [change]})
        assert answer.status_code == 400, answer.text


def test_a_store_of_a_backbone_takes_no_changes_behind_its_back(tmp_path):
    BackboneHub(tmp_path / "town.db", name="town").close()
    with Hub(tmp_path / "town.db") as hub, pytest.raises(StoreError, match="part of a backbone"):
        hub.publish("<urn:s> <urn:p> 1 .", uri="urn:d")


@pytest.mark.slow
def test_processes_of_a_backbone_that_are_killed_lose_nothing_and_double_nothing(tmp_path):
    """Three services; one after the other is killed under load; in the end all hold what was acknowledged."""
    names, chance = ("harbour", "hill", "town"), random.Random(5)
    ports = dict(zip(names, free_ports(3), strict=True))
    urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}

    def start(name: str):
        others = [f"--backbone={url}" for other, url in urls.items() if other != name]
        stack = ExitStack()
        found = stack.enter_context(
            running(tmp_path, f"{name}.db", "--port", str(ports[name]), *others, TRIPLEWIRE_BACKBONE_NAME=name)
        )
        found.heard(r"https?://")
        return stack

    with ExitStack() as end, httpx.Client(timeout=30, trust_env=False) as client:
        alive = {name: start(name) for name in names}
        for name in names:
            end.callback(lambda name=name: alive[name].close())
        acknowledged: dict[str, set[int]] = {f"urn:{name}:{n}": set() for name in names for n in range(4)}
        version = 0
        for _ in range(20):
            for _ in range(12):
                version += 1
                uri = chance.choice(sorted(acknowledged))
                text = f"<{uri}> <urn:version> {version} ."
                try:
                    answer = client.put(
                        f"{urls[uri.split(':')[1]]}/v1/document",
                        params={"uri": uri},
                        content=text,
                        headers={"Content-Type": "text/turtle"},
                    )
                except httpx.HTTPError:
                    acknowledged[uri] |= {version}  # it may have been applied, or not
                else:
                    assert answer.status_code < 300, answer.text
                    acknowledged[uri] = {version}
            name = chance.choice(names)
            alive[name].close()
            alive[name] = start(name)

        def said(name: str) -> dict[str, str]:
            told = {uri: client.get(f"{urls[name]}/v1/document", params={"uri": uri}) for uri in acknowledged}
            return {uri: answer.text for uri, answer in told.items() if answer.status_code == 200}

        def is_there(told: dict[str, str]) -> bool:
            """Whether every document is as it was acknowledged last, or as it may have been since."""
            versions = {uri: int(text.split()[2].split("^")[0].strip('"')) for uri, text in told.items()}
            certain = {uri for uri, some in acknowledged.items() if len(some) == 1}
            return certain <= told.keys() and all(versions[uri] in acknowledged[uri] for uri in told)

        wait_for(lambda: said("harbour") == said("hill") == said("town") and is_there(said("town")), 120)
