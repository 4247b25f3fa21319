"""A file of answers ends with the right to have it (M9, P8), and who does not read it keeps nobody from theirs."""

from __future__ import annotations

import secrets
import shutil
import socket
import time
from contextlib import contextmanager

import httpx
import pytest

from hub.serving import problem, serving
from hub.test_access_lists_over_http import Person
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

FILES = ("parquet", "xlsx")
QUERY = "SELECT ?d ?x { ?d <urn:fat> ?x }"
FAT = "".join(f'<urn:f{number}> <urn:fat> "{secrets.token_urlsafe(6_000)}" .\n' for number in range(1_500))
"""More than the sockets between a server and a client hold, and nothing that can be made shorter."""


class World:
    """A service with much to send to Bob, Eve, and an admin."""

    def __init__(self, folder, made=None, **settings) -> None:
        self.store = f"sqlite:///{folder}/hub.db"
        self.made = made or self._accounts()
        self._serving = serving(self.store, identity=True, **settings)
        url = self._serving.__enter__().url
        self.people = {name: Person(url, *each) for name, each in self.made.items()}
        if made is None:
            self._fill()

    def _accounts(self) -> dict:
        roles = {"ada": "publisher", "bob": "reader", "eve": "reader", "root": "admin"}
        with Store.open(self.store) as opened:
            return {name: Accounts(opened).create_token(name, role=role) for name, role in roles.items()}

    def _fill(self) -> None:
        assert self.people["ada"].publish("urn:doc:fat", FAT).status_code == 201
        for name in ("bob", "root"):
            assert self.people[name].subscribe(f"of-{name}", QUERY).status_code == 201
        assert self.people["eve"].subscribe("of-eve", "SELECT ?d { ?d <urn:none> ?x }").status_code == 201

    def close(self) -> None:
        for person in self.people.values():
            person.close()
        self._serving.__exit__(None, None, None)

    @contextmanager
    def accounts(self):
        with Store.open(self.store) as opened:
            yield Accounts(opened)

    def file(self, name: str, format: str = "parquet") -> httpx.Response:
        return self.people[name].get(f"/subscriptions/of-{name}/rows", params={"format": format})

    @contextmanager
    def begun(self, name: str, format: str):
        """A download of which a client with little room has the first bytes."""
        narrow = httpx.HTTPTransport(socket_options=[(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)])
        person = self.people[name]
        with (
            httpx.Client(base_url=person.base_url, headers=person.headers, timeout=60, transport=narrow) as client,
            client.stream("GET", f"/subscriptions/of-{name}/rows", params={"format": format}) as answer,
        ):
            assert answer.status_code == 200
            parts = answer.iter_raw()
            next(parts)
            yield parts


@pytest.fixture(scope="module")
def new_world(tmp_path_factory):
    """Makes worlds, as copies of one that was filled once."""
    first = tmp_path_factory.mktemp("filled")
    filled = World(first)
    filled.close()

    def make(folder, **settings):
        shutil.copytree(first, folder, dirs_exist_ok=True)
        return World(folder, filled.made, **settings)

    return make


@pytest.fixture
def world(new_world, tmp_path):
    made = new_world(tmp_path)
    yield made
    made.close()


def is_broken_off(parts) -> bool:
    try:
        for _ in parts:
            pass
    except httpx.RemoteProtocolError:
        return True
    return False


def revoke(world: World) -> None:
    with world.accounts() as accounts:
        accounts.revoke(world.people["bob"].id)
    while world.people["bob"].get("/whoami").status_code != 401:
        time.sleep(0.05)


def lower(world: World) -> None:
    with world.accounts() as accounts:
        accounts.set_role(world.people["root"].id, "reader")
    while world.people["root"].get("/whoami").json()["role"] != "reader":
        time.sleep(0.05)


def remove(name: str):
    def act(world: World) -> None:
        assert world.people[name].delete(f"/subscriptions/of-{name}").status_code == 204

    return act


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize(
    ("name", "act"),
    [("bob", revoke), ("root", lower), ("bob", remove("bob")), ("root", remove("root"))],
    ids=["revoked", "lowered", "removed", "removed-by-an-admin"],
)
def test_rest_of_a_file_is_not_sent_to_who_may_not_have_it_any_more(world, format, name, act):
    with world.begun(name, format) as parts:
        act(world)
        assert is_broken_off(parts)


@pytest.mark.parametrize("format", FILES)
def test_rest_of_a_file_is_not_sent_when_its_subscription_is_hidden_meanwhile(world, format):
    with world.begun("bob", format) as parts:
        bob, root = world.people["bob"], world.people["root"]
        assert bob.delete("/subscriptions/of-bob").status_code == 204
        assert root.subscribe("of-bob", QUERY).status_code == 201
        assert world.people["ada"].publish("urn:doc:secret", "<urn:s> <urn:p> 1 .", reader="ada").status_code == 201
        assert is_broken_off(parts)


@pytest.mark.parametrize("format", FILES)
def test_file_of_who_may_have_it_arrives_whole_however_slowly(world, format):
    with world.begun("bob", format) as parts:
        assert world.people["bob"].patch("/subscriptions/of-bob", json={"paused": True}).status_code == 200
        assert not is_broken_off(parts)


def test_files_of_one_account_take_nothing_from_another(new_world, tmp_path):
    world = new_world(tmp_path, downloads=1, all_downloads=2)
    try:
        with world.begun("bob", "parquet"):
            told = problem(world.file("bob"), 503, "service-unavailable")
            assert "your account may have 1 files" in told["detail"]
            assert world.file("eve").status_code == 200
            with world.begun("root", "parquet"):
                told = problem(world.file("eve"), 503, "service-unavailable")
                assert "this service makes 2 files at a time, for all accounts" in told["detail"]
    finally:
        world.close()


def test_client_that_takes_nothing_is_cut_off_and_makes_room(new_world, tmp_path):
    world = new_world(tmp_path, downloads=1, download_seconds=0.2)
    try:
        with world.begun("bob", "parquet") as parts:
            small = ("/subscriptions/of-eve/rows", {"format": "parquet"})
            while world.people["bob"].get(small[0], params=small[1]).status_code == 503:
                time.sleep(0.05)
            assert is_broken_off(parts)
    finally:
        world.close()
