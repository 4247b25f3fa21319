"""Somebody without a token sends bodies that never end, uses up challenges, and guesses from an address of many."""

from __future__ import annotations

import asyncio
import socket
from urllib.parse import urlsplit

import pytest

from hub.serving import problem, serving
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store
from triplewire.wire.keys import new_private_key, public_key_of, signature

PEM = new_private_key()


@pytest.fixture
def made(tmp_path):
    """The address of a store, a token, and the account of a key."""
    url = f"sqlite:///{tmp_path}/hub.db"
    with Store.open(url) as opened:
        accounts = Accounts(opened)
        token = accounts.create_token("maja", role="reader")[1]
        return url, token, accounts.add_key("willi", public_key_of(PEM), role="reader").id


@pytest.fixture
def guarded(made):
    with serving(made[0], identity=True) as served:
        yield served


def json_routes(served):
    """Every route that takes JSON from who is known."""
    for path, methods in served.get("/v1/openapi.json").json()["paths"].items():
        for method, told in methods.items():
            if "application/json" in told.get("requestBody", {}).get("content", {}) and path not in OPEN:
                yield method.upper(), path.replace("{id}", "x").replace("{delivery}", "x").replace("{number}", "1")


OPEN = ("/v1/challenges", "/v1/sessions")


def begun(served, method: str, path: str, length: int, body: bytes = b"{") -> int:
    """The status of a request of which only the beginning arrives."""
    place = urlsplit(served.url)
    with socket.create_connection((place.hostname, place.port), timeout=10) as connection:
        head = (
            f"{method} {path}?uri=urn:d HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {length}\r\n\r\n"
        )
        connection.sendall(head.encode() + body)
        return int(connection.recv(1_000).split()[1])


def test_nothing_is_read_of_who_is_not_known(guarded):
    """A body is waited for for 30 seconds, and this client waits for 10."""
    routes = list(json_routes(guarded))
    assert len(routes) > 10
    statuses = {begun(guarded, *route, 500_000) for route in routes}
    assert statuses <= {401, 429}


@pytest.mark.parametrize("path", OPEN)
def test_little_is_read_where_nobody_needs_to_be_known(guarded, path):
    assert begun(guarded, "POST", path, 17_000) == 413
    assert guarded.post(path, json={"account": "x" * 101}).status_code == 422


def test_challenges_cannot_be_used_up(guarded, made):
    """They were ten thousand for all, and whoever asked for these shut out everybody with a key."""
    gate = guarded.server.config.app.state.service.gate
    for number in range(20_000):
        gate.challenge(f"somebody {number}" if number % 2 else made[2])
    asked = guarded.post("/v1/challenges", json={"account": made[2]}).json()["challenge"]
    proof = {"challenge": asked, "signature": signature(PEM, asked)}
    assert guarded.post("/v1/sessions", json=proof).status_code == 201
    problem(guarded.post("/v1/sessions", json=proof), 401, "not-authenticated")


def test_a_challenge_that_was_changed_or_is_too_old_proves_nothing(guarded, made, monkeypatch):
    gate = guarded.server.config.app.state.service.gate
    theirs, mine = gate.challenge("nobody"), gate.challenge(made[2])
    mixed = mine.partition(".")[0] + "." + theirs.partition(".")[2]
    monkeypatch.setattr("triplewire.hub.identity.gate._CHALLENGE_LASTS", -1.0)
    old = gate.challenge(made[2])
    for challenge in (mixed, old, "", "/", "x/y", mine + "0", "é/é", mine.rpartition("/")[0]):
        proof = {"challenge": challenge, "signature": signature(PEM, challenge)}
        problem(guarded.post("/v1/sessions", json=proof), 401, "not-authenticated")


def test_sessions_of_an_account_are_bounded(guarded, made, monkeypatch):
    monkeypatch.setattr("triplewire.hub.identity.gate._MOST_SESSIONS", 3)
    gate = guarded.server.config.app.state.service.gate
    asyncio.run(gate.refresh())

    def opened() -> str:
        challenge = gate.challenge(made[2])
        return gate.open_session(challenge, signature(PEM, challenge))[0]

    tokens = [opened() for _ in range(3)]
    challenge = gate.challenge(made[2])
    proof = {"challenge": challenge, "signature": signature(PEM, challenge)}
    problem(guarded.post("/v1/sessions", json=proof), 403, "not-allowed")
    gate._used.clear()  # as after a minute
    tokens.append(opened())
    known = [guarded.get("/v1/whoami", headers={"Authorization": f"Bearer {token}"}).status_code for token in tokens]
    assert known == [401, 200, 200, 200]


def test_who_guesses_locks_out_nobody_else_of_the_same_address(guarded, made):
    guarded.stop_refilling()
    guesses = [guarded.get("/v1/whoami", headers={"Authorization": f"Bearer tw_x_{n}"}).status_code for n in range(100)]
    guesses += [guarded.get(f"/v1/feeds/main.{'0' * 32}.{'x' * 43}").status_code for _ in range(5)]
    assert guesses[-1] == 429
    assert guarded.get("/v1/whoami", headers={"Authorization": f"Bearer {made[1]}"}).status_code == 200
    asked = guarded.post("/v1/challenges", json={"account": made[2]}).json()["challenge"]
    wrong = {"challenge": asked, "signature": "0" * 128}
    assert guarded.post("/v1/sessions", json=wrong).status_code == 429
    proof = {"challenge": asked, "signature": signature(PEM, asked)}
    assert guarded.post("/v1/sessions", json=proof).status_code == 201
