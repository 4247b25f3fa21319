"""A hub on loopback without identity, asked by others than its own machine: through a proxy, a name, another page."""

from __future__ import annotations

import socket

import pytest

from hub.serving import TURTLE, problem, serving
from triplewire.errors import ServiceError, TooManyRequests
from triplewire.hub import Server, Settings
from triplewire.hub.identity.accounts import Accounts
from triplewire.hub.service import Service
from triplewire.store import Store

TEXT = "<urn:s> <urn:p> <urn:o> ."
ADDED = [
    "Fly-Client-IP",
    "Fastly-Client-IP",
    "True-Client-IP",
    "CF-Connecting-IP",
    "X-Cluster-Client-IP",
    "X-Envoy-External-Address",
    "X-Original-Forwarded-For",
    "X-Original-Host",
    "X-Azure-ClientIP",
    "X-Appengine-User-Ip",
    "X-ProxyUser-Ip",
    "X_Forwarded_For",
    "CDN-Loop",
    "Tailscale-User-Login",
    "X-Amzn-Trace-Id",
]
PROXIED = [
    {"Forwarded": "for=192.0.2.60;proto=https"},
    {"X-Forwarded-For": "192.0.2.60"},
    {"X-Forwarded-Host": "hub.example"},
    {"X-Forwarded-Proto": "https"},
    {"X-Real-IP": "192.0.2.60"},
    {"Via": "1.1 proxy"},
    *({name: "192.0.2.60"} for name in ADDED),
]
OTHER_PAGES = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "evil://HOST"},
    {"Origin": "http://localhost:3000"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
]


def asked(served, headers):
    """Every kind of way in: those with a role, those without, those by a secret address, and what is not there."""
    yield served.put("/v1/document", params={"uri": "urn:d"}, content=TEXT, headers=TURTLE | headers)
    yield served.post("/v1/preview", json={"text": "SELECT ?s { ?s ?p ?o }"}, headers=headers)
    yield served.post("/v1/challenges", json={"account": "x"}, headers=headers)
    yield served.get(f"/v1/feeds/main.{'0' * 32}.{'x' * 43}", headers=headers)
    yield served.get("/v1/sparql", params={"query": "ASK {}"}, headers=headers)
    yield served.get("/v1/health", headers=headers)
    yield served.get("/v1/openapi.json", headers=headers)
    yield served.get("/v1/nothing", headers=headers)


@pytest.mark.parametrize("headers", PROXIED, ids=lambda headers: next(iter(headers)))
def test_what_a_proxy_passes_on_is_refused_with_what_to_do(served, headers):
    for answer in asked(served, headers):
        assert "triplewire token create" in problem(answer, 403, "not-allowed")["detail"]


@pytest.mark.parametrize("host", ["hub.example", "127.0.0.1.evil.example:8080", "192.0.2.60", "", "evil@127.0.0.1"])
def test_a_name_that_was_pointed_at_this_machine_is_refused(served, host):
    for answer in asked(served, {"Host": host}):
        problem(answer, 403, "not-allowed")


@pytest.mark.parametrize("headers", OTHER_PAGES, ids=str)
def test_what_a_page_of_another_site_asks_for_is_refused(served, headers):
    headers = {name: value.replace("HOST", served.url.partition("://")[2]) for name, value in headers.items()}
    for answer in asked(served, headers):
        problem(answer, 403, "not-allowed")


@pytest.mark.parametrize("second", [("Origin", "https://evil.example"), ("Host", "evil.example")], ids=str)
def test_a_second_header_after_a_good_one_is_refused(served, second):
    host = served.url.partition("://")[2]
    headers = [("Host", host), ("Origin", served.url), ("Connection", "close")]
    with socket.create_connection(("127.0.0.1", int(host.rpartition(":")[2])), timeout=10) as connection:
        lines = "".join(f"{name}: {value}\r\n" for name, value in [*headers, second])
        connection.sendall(f"GET /v1/documents HTTP/1.1\r\n{lines}\r\n".encode())
        assert connection.recv(4096).split()[1] in (b"400", b"403")


def test_its_own_page_and_programs_of_this_machine_are_served(served):
    own = {"Origin": served.url, "Sec-Fetch-Site": "same-origin"}
    for headers in ({}, own, {"Sec-Fetch-Site": "none"}):
        statuses = [answer.status_code for answer in asked(served, headers)]
        assert 403 not in statuses
    linked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert served.get("/", headers=linked).status_code == 200, "a link on another page leads here"
    scripted = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    problem(served.get("/", headers=scripted), 403, "not-allowed")


@pytest.mark.parametrize("named", [{"address": "https://hub.example"}, {"address": "hub.example"}, {"proxies": "::1"}])
def test_a_public_address_turns_identity_and_limits_on(tmp_path, named):
    store = f"sqlite:///{tmp_path}/hub.db"
    with pytest.raises(ServiceError, match="identity must be on"):
        Server(Settings.of({"store": store, "identity": False, **named}))
    with pytest.raises(ServiceError, match="identity must be on"):
        Service(Settings.of({"store": store, "identity": False, **named}))
    with pytest.raises(ServiceError, match="triplewire token create"):
        Server(Settings.of({"store": store, **named}))
    with Store.open(store) as opened:
        token = Accounts(opened).create_token("x", role="reader")[1]
    with serving(store, **named) as served:
        problem(served.get("/v1/documents"), 401, "not-authenticated")
        mine = {"Authorization": f"Bearer {token}", "X-Forwarded-For": "192.0.2.60", "Host": "hub.example"}
        assert served.get("/v1/documents", headers=mine).status_code == 200
        assert served.get("/v1/health").json()["identity"] is True
        pace = served.server.config.app.state.service.pace

    def ask_often() -> None:
        for _ in range(10_000):
            pace.spend("somebody")

    with pytest.raises(TooManyRequests):
        ask_often()


def test_an_address_of_this_machine_leaves_it_as_it_is(tmp_path):
    with serving(f"sqlite:///{tmp_path}/hub.db", address="http://localhost:9999") as served:
        assert served.get("/v1/documents").status_code == 200


def test_only_a_proxy_that_is_believed_says_who_asks(tmp_path):
    """Otherwise whoever asks could have as many buckets of wrong guesses as there are addresses."""
    store = f"sqlite:///{tmp_path}/hub.db"
    with Store.open(store) as opened:
        Accounts(opened).create_token("x", role="reader")

    def guessed(**settings):
        with serving(store, identity=True, **settings) as served:
            served.stop_refilling()
            return [
                served.get(
                    "/v1/whoami", headers={"Authorization": "Bearer x", "X-Forwarded-For": f"192.0.2.{n}"}
                ).status_code
                for n in range(100)
            ]

    assert 429 in guessed()
    assert 429 not in guessed(proxies="127.0.0.0/8")
