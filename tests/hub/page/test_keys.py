"""Signing in on the page with a key pair: from a file, or made in the browser; sessions that end are renewed."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import expect
from typer.testing import CliRunner

from hub.page.browsers import Visit, fill
from hub.serving import serving
from triplewire.cli.app import app
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store
from triplewire.wire.keys import new_private_key, public_key_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="module")
def guarded(folder):
    with Store.open(f"sqlite:///{folder}/hub.db") as store:
        token = Accounts(store).create_token("admin", role="admin")[1]
    with serving(f"sqlite:///{folder}/hub.db", identity=True) as served:
        served.headers["Authorization"] = f"Bearer {token}"
        fill(served)
        yield served


@pytest.fixture
def visit(browser, guarded):
    context = browser.new_context()
    found = Visit(context.new_page(), guarded.url).go()
    found.heading("Sign in")
    yield found
    assert found.complaints == []
    context.close()


def register(folder, name, *key):
    """As whoever runs the hub does it."""
    made = CliRunner().invoke(app, ["token", "create", f"{folder}/hub.db", name, *key])
    assert made.exit_code == 0, made.output
    return made.stdout.strip()


def prove(page, account):
    page.get_by_label("Account").fill(account)
    page.get_by_role("button", name="Prove the key").click()


def end_sessions(served):
    """As when the service is started again."""
    served.server.config.app.state.service.gate._sessions.clear()


def test_a_key_in_a_file_is_proved_and_the_session_renewed_when_it_is_over(visit, guarded, folder):
    account = register(folder, "maja", "--key", f"{folder}/maja.pem")
    page = visit.page
    asked = []
    page.on("request", lambda request: asked.append((request.url, request.post_data or "")))
    page.get_by_label("Private key").set_input_files(folder / "maja.pem")
    prove(page, account)
    visit.heading("What is new")
    expect(page.get_by_text("maja, reader")).to_be_visible()
    end_sessions(guarded)
    page.get_by_role("link", name="Dashboard").click()
    visit.heading("Dashboard")
    expect(page.get_by_text("maja, reader")).to_be_visible()
    secret = (folder / "maja.pem").read_text().splitlines()[1]
    assert not [each for each in asked if secret[:20] in "".join(each)]
    assert page.evaluate("sessionStorage.length") == 1, "the token of the session, and no key"
    page.get_by_role("button", name="Sign out").click()
    visit.heading("Sign in")
    end_sessions(guarded)
    visit.go("dashboard")
    visit.heading("Sign in")


def test_a_key_made_in_the_browser_signs_in_until_it_is_forgotten(visit, guarded, folder):
    page = visit.page
    page.get_by_role("button", name="Make a key in this browser").click()
    command = page.get_by_text("triplewire token create STORE NAME").inner_text()
    public = re.search(r"--public-key ([0-9a-f]{64})", command)[1]
    account = register(folder, "willi", "--public-key", public)
    prove(page, account)
    visit.heading("What is new")
    end_sessions(guarded)
    page.reload()
    visit.heading("What is new")
    expect(page.get_by_text("willi, reader")).to_be_visible()
    read = """() => new Promise((resolve) => {
        const opening = indexedDB.open("triplewire", 1);
        opening.onsuccess = () => {
            const asked = opening.result.transaction("keys").objectStore("keys").get("own");
            asked.onsuccess = () => crypto.subtle.exportKey("pkcs8", asked.result.privateKey)
                .then(() => resolve("read"), (error) => resolve(error.name));
        };
    })"""
    assert page.evaluate(read) == "InvalidAccessError", "nobody reads the private key, not even the page"
    page.get_by_role("button", name="Sign out").click()
    visit.heading("Sign in")
    expect(page.get_by_label("Account")).to_have_value(account)
    page.get_by_role("button", name="Forget this key").click()
    expect(page.get_by_label("Private key")).to_be_visible()


@pytest.mark.slow
def test_what_does_not_prove_an_account_is_told(visit, guarded, folder):
    (folder / "other.pem").write_bytes(new_private_key())
    (folder / "no.pem").write_text("no key")
    with Store.open(f"sqlite:///{folder}/hub.db") as store:
        account = Accounts(store).add_key("nora", public_key_of(new_private_key()), role="reader").id
    page = visit.page
    page.get_by_label("Private key").set_input_files(folder / "other.pem")
    prove(page, account)
    expect(page.get_by_role("alert")).to_contain_text("not that of the account's key")
    page.get_by_label("Private key").set_input_files(folder / "no.pem")
    prove(page, account)
    expect(page.get_by_role("alert")).to_contain_text("no Ed25519 private key")
    assert page.evaluate("sessionStorage.length") == 0


@pytest.mark.slow
def test_a_session_that_cannot_be_renewed_leads_to_signing_in(visit, guarded, folder):
    account = register(folder, "brief", "--key", f"{folder}/brief.pem")
    page = visit.page
    page.get_by_label("Private key").set_input_files(folder / "brief.pem")
    prove(page, account)
    visit.heading("What is new")
    token = page.evaluate("sessionStorage.getItem('triplewire.token')")
    with Store.open(f"sqlite:///{folder}/hub.db") as store:
        Accounts(store).revoke(account)
    with httpx.Client(trust_env=False, headers={"Authorization": f"Bearer {token}"}) as asking:
        while asking.get(f"{guarded.url}/v1/whoami").status_code == 200:
            pass
    page.get_by_role("link", name="Subscriptions").click()
    visit.heading("Sign in")
