"""Identity: tokens, roles, key pairs, tenants and their quotas (P8, X9)."""

from __future__ import annotations

import time

import httpx
import pytest

from hub.serving import TURTLE, problem, serving
from triplewire.errors import BadRequest, NotAuthenticated, ServiceError
from triplewire.hub import Server, Settings
from triplewire.hub.identity.accounts import Accounts, account_of_token
from triplewire.store import Store
from triplewire.wire.keys import new_private_key, public_key_of, signature

TITLES = "SELECT ?d ?t { ?d <urn:title> ?t }"
TEXT = "<urn:1> <urn:title> 'x' ."


@pytest.fixture
def store(tmp_path):
    return f"sqlite:///{tmp_path}/hub.db"


@pytest.fixture
def tokens(store):
    """A token for each role of the main tenant, and for those of two others."""
    with Store.open(store) as opened:
        accounts = Accounts(opened)
        made = {role: accounts.create_token(role, role=role)[1] for role in ("reader", "publisher", "admin")}
        for tenant in ("north", "south"):
            made[tenant] = accounts.create_token(tenant, role="admin", tenant=tenant)[1]
    return made


@pytest.fixture
def guarded(store, tokens):
    quotas = {"north": {"documents": 2, "subscriptions": 1}}
    with serving(store, identity=True, tenants=quotas) as served:
        yield served


def use(served, token):
    served.headers["Authorization"] = f"Bearer {token}"


def test_tokens_are_kept_as_hashes_only(store, tokens, tmp_path):
    with Store.open(store) as opened:
        known = Accounts(opened).all()
    for token in tokens.values():
        assert account_of_token(token, known).id in token
        secret = token.split("_", 2)[2]
        assert all(secret.encode() not in path.read_bytes() for path in tmp_path.iterdir())
    assert all("secret_hash" not in account.public() for account in known.values())


def test_wrong_tokens_are_nobodys(store, tokens):
    with Store.open(store) as opened:
        accounts = Accounts(opened)
        key = accounts.add_key("k", public_key_of(new_private_key()), role="reader")
        known = accounts.all()
    good, other = tokens["reader"], tokens["admin"]
    mixed = "_".join([*good.split("_", 2)[:2], other.split("_", 2)[2]])
    for wrong in ("", "x", good[:-1], good + "x", mixed, "no" + good[2:], f"tw_{key.id}_", "tw__", "tw_x_y", "tw_é_é"):
        with pytest.raises(NotAuthenticated):
            account_of_token(wrong, known)


def test_who_has_no_valid_token_is_refused(guarded, tokens):
    answer = guarded.get("/v1/documents")
    problem(answer, 401, "not-authenticated")
    assert answer.headers["www-authenticate"] == "Bearer"
    for header in ("Bearer", "Bearer nonsense", f"Basic {tokens['admin']}", "Bearer tws_nonsense"):
        problem(guarded.get("/v1/documents", headers={"Authorization": header}), 401, "not-authenticated")
    assert guarded.get("/v1/health").json()["identity"] is True


def test_each_role_may_do_what_it_may(guarded, tokens):
    calls = {
        "reader": [
            lambda: guarded.get("/v1/documents"),
            lambda: guarded.post("/v1/preview", json={"text": TITLES}),
            lambda: guarded.post("/v1/subscriptions", json={"text": TITLES}),
        ],
        "publisher": [
            lambda: guarded.publish("urn:d", TEXT),
            lambda: guarded.retract("urn:d"),
            lambda: guarded.post("/v1/documents", content="", headers={"Content-Type": "application/n-quads"}),
        ],
        "admin": [
            lambda: guarded.put("/v1/taxonomy", content="", headers=TURTLE),
            lambda: guarded.put("/v1/schema", content="", headers=TURTLE),
            lambda: guarded.get("/v1/metrics"),
        ],
    }
    roles = [*calls]
    for role in roles:
        use(guarded, tokens[role])
        assert guarded.get("/v1/whoami").json()["role"] == role
        for needed in roles:
            for call in calls[needed]:
                answer = call()
                if roles.index(role) >= roles.index(needed):
                    assert answer.is_success, (role, needed, answer.text)
                else:
                    problem(answer, 403, "not-allowed")


def test_subscription_belongs_to_who_made_it(guarded, tokens):
    use(guarded, tokens["publisher"])
    owner = guarded.get("/v1/whoami").json()["id"]
    assert guarded.subscribe("a", TITLES).json()["owner"] == owner
    use(guarded, tokens["reader"])
    problem(guarded.delete("/v1/subscriptions/a"), 403, "not-allowed")
    assert guarded.get("/v1/subscriptions", params={"owner": owner}).json()["subscriptions"][0]["id"] == "a"
    use(guarded, tokens["publisher"])
    assert guarded.delete("/v1/subscriptions/a").status_code == 204
    guarded.subscribe("b", TITLES)
    use(guarded, tokens["admin"])
    assert guarded.delete("/v1/subscriptions/b").status_code == 204


def test_revoked_token_ends_within_a_moment_and_a_new_one_begins(guarded, tokens, store):
    use(guarded, tokens["reader"])
    id = guarded.get("/v1/whoami").json()["id"]
    with Store.open(store) as opened:
        Accounts(opened).revoke(id)
        fresh = Accounts(opened).create_token("new", role="reader")[1]
    until = time.monotonic() + 30
    while guarded.get("/v1/whoami").status_code != 401:
        assert time.monotonic() < until
        time.sleep(0.05)
    use(guarded, fresh)
    assert guarded.get("/v1/whoami").json()["name"] == "new"


def test_stream_of_a_revoked_token_tells_nothing_more(guarded, tokens, store):
    use(guarded, tokens["reader"])
    id = guarded.get("/v1/whoami").json()["id"]
    guarded.subscribe("a", "SELECT ?s { ?s <urn:p> ?o }")
    with guarded.stream("GET", "/v1/subscriptions/a/stream") as answer:
        told = answer.iter_lines()
        assert next(told) == "retry: 2000"
        with Store.open(store) as opened:
            Accounts(opened).revoke(id)
        while guarded.get("/v1/whoami").status_code != 401:
            time.sleep(0.05)
        admin = {"Authorization": f"Bearer {tokens['admin']}"} | TURTLE
        guarded.put("/v1/document", params={"uri": "urn:d"}, content="<urn:a> <urn:p> 1 .", headers=admin)
        assert [line for line in told if line] == []


def test_tenants_do_not_see_each_other(guarded, tokens):
    for tenant in ("north", "south", "admin"):
        use(guarded, tokens[tenant])
        guarded.subscribe("same id", TITLES, scope="graph")
        guarded.publish("urn:same", f"<urn:{tenant}> <urn:title> '{tenant}' .")
    for tenant in ("north", "south", "admin"):
        use(guarded, tokens[tenant])
        rows = guarded.get("/v1/subscriptions/same%20id/rows").json()["rows"]
        assert [row["d"] for row in rows] == [f"<urn:{tenant}>"]
        assert [event["row"]["d"] for event in guarded.events("same%20id")["events"]] == [f"<urn:{tenant}>"]
        found = guarded.get("/v1/sparql", params={"query": "SELECT ?s { ?s ?p ?o }"}).json()
        assert [each["s"]["value"] for each in found["results"]["bindings"]] == [f"urn:{tenant}"]
        assert guarded.get("/v1/resource", params={"iri": "urn:nobody"}).json()["triples"] == []
        if tenant != "admin":
            problem(guarded.get("/v1/metrics"), 403, "not-allowed")


def test_tenant_has_no_more_than_its_quota(guarded, tokens):
    """Invariant of `hub.tenancy.quotas`: what a full quota refuses is served when there is room."""
    use(guarded, tokens["north"])
    assert guarded.subscribe("a", TITLES).status_code == 201
    told = problem(guarded.subscribe("b", TITLES), 403, "quota-exceeded")
    assert (told["what"], told["most"]) == ("subscriptions", 1)
    guarded.delete("/v1/subscriptions/a")
    assert guarded.subscribe("b", TITLES).status_code == 201
    quads = "".join(f"<urn:s> <urn:p> <urn:o> <urn:doc:{n}> .\n" for n in range(5))
    told = guarded.post("/v1/documents", content=quads, headers={"Content-Type": "application/n-quads"}).json()
    assert (told["published"], told["refused"]) == (2, 3)
    problem(guarded.publish("urn:new", TEXT), 403, "quota-exceeded")
    assert guarded.publish("urn:doc:0", TEXT).status_code == 200
    guarded.retract("urn:doc:1")
    assert guarded.publish("urn:new", TEXT).status_code == 201
    use(guarded, tokens["south"])
    assert guarded.publish("urn:new", TEXT).status_code == 201


def test_owner_of_a_key_proves_it_and_gets_a_session(guarded, store):
    pem = new_private_key()
    with Store.open(store) as opened:
        account = Accounts(opened).add_key("maja", public_key_of(pem), role="publisher")
    asked = guarded.post("/v1/challenges", json={"account": account.id}).json()
    proof = {"challenge": asked["challenge"], "signature": signature(pem, asked["challenge"])}
    session = guarded.post("/v1/sessions", json=proof)
    assert session.status_code == 201
    use(guarded, session.json()["token"])
    assert guarded.get("/v1/whoami").json() == {
        "id": account.id,
        "name": "maja",
        "role": "publisher",
        "tenant": "main",
        "is_edge": False,
        "is_networked": False,
        "is_in_backbone": False,
    }
    problem(guarded.post("/v1/sessions", json=proof), 401, "not-authenticated")
    with Store.open(store) as opened:
        Accounts(opened).revoke(account.id)
    until = time.monotonic() + 30
    while guarded.get("/v1/whoami").status_code != 401:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_signature_of_another_key_or_challenge_proves_nothing(guarded, store):
    pem = new_private_key()
    with Store.open(store) as opened:
        account = Accounts(opened).add_key("maja", public_key_of(pem), role="publisher")

    def challenge(id=account.id):
        return guarded.post("/v1/challenges", json={"account": id}).json()["challenge"]

    def answer(challenge, signed):
        return guarded.post("/v1/sessions", json={"challenge": challenge, "signature": signed})

    first, second = challenge(), challenge()
    problem(answer(first, signature(new_private_key(), first)), 401, "not-authenticated")
    problem(answer(second, signature(pem, first)), 401, "not-authenticated")
    nobody = challenge("nobody")
    problem(answer(nobody, signature(pem, nobody)), 401, "not-authenticated")
    problem(answer("made up", signature(pem, "made up")), 401, "not-authenticated")
    problem(answer(challenge(), "no hexadecimal"), 400, "bad-request")


def test_bad_accounts_are_not_made(store):
    with Store.open(store) as opened:
        accounts = Accounts(opened)
        with pytest.raises(BadRequest, match="64 hexadecimal digits"):
            accounts.add_key("x", "abc", role="reader")
        with pytest.raises(ServiceError, match="no role"):
            accounts.create_token("x", role="king")
        with pytest.raises(ServiceError, match="no name for a tenant"):
            accounts.create_token("x", role="reader", tenant="../../etc")
        with pytest.raises(ServiceError, match="no account"):
            accounts.revoke("nobody")
        assert accounts.all() == {}


def test_hub_that_others_can_reach_needs_identity_and_somebody_with_a_token(store, tmp_path):
    with pytest.raises(ServiceError, match="identity must be on"):
        Server(Settings(store=store, host="0.0.0.0", identity=False))
    with pytest.raises(ServiceError, match="triplewire token create"):
        Server(Settings(store=store, host="0.0.0.0"))
    with Store.open(store) as opened:
        Accounts(opened).create_token("x", role="admin")
    assert Server(Settings(store=store, host="0.0.0.0")).settings.host == "0.0.0.0"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("colour = 1", "no setting 'colour'"),
        ("port = 'x'", "must be of type int"),
        ("port = true", "must be of type int"),
        ("streams = -1", "must not be negative"),
        ("tenants = 3", "tenants are tables"),
        ("[tenants.'../x']", "no name for a tenant"),
        ("[tenants.a]\ncolour = 1", "no setting 'colour'"),
        ("port =", "cannot be read"),
    ],
)
def test_bad_settings_say_what_is_wrong(tmp_path, text, reason):
    path = tmp_path / "hub.toml"
    path.write_text(text)
    with pytest.raises(ServiceError, match=reason):
        Settings.read(path)


def test_settings_of_a_file(tmp_path):
    path = tmp_path / "hub.toml"
    path.write_text("port = 9000\n[quotas]\ndocuments = 10\n[tenants.north]\nsubscriptions = 3\n")
    settings = Settings.read(path)
    assert settings.port == 9000
    north = settings.of_tenant("north")
    assert (north.documents, north.subscriptions, north.store) == (10, 3, "sqlite:///triplewire.north.db")
    with pytest.raises(ServiceError, match="has no store"):
        Settings(store="postgresql://me@host/hub").of_tenant("north")


def test_secrets_are_not_told_in_errors_or_metrics(guarded, tokens):
    wrong = tokens["admin"] + "x"
    answer = httpx.get(f"{guarded.url}/v1/documents", headers={"Authorization": f"Bearer {wrong}"}, trust_env=False)
    assert wrong.split("_", 2)[2] not in answer.text
    use(guarded, tokens["admin"])
    assert tokens["admin"].split("_", 2)[2] not in guarded.get("/v1/metrics").text
