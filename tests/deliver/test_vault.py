"""The vault: a store, or a backup of it, gives no secret away; without its key nothing goes out unsigned."""

from __future__ import annotations

import json
import stat
import threading

import pytest
from standardwebhooks import Webhook
from typer.testing import CliRunner

from deliver.receiving import eventually
from hub.serving import serving
from triplewire.cli.app import app
from triplewire.deliver.vault import VARIABLE, Vault, make_key
from triplewire.deliver.websub import WebSubRequest, accept
from triplewire.errors import SecretLocked


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file() and "secrets-key" not in path.name]


def stored(post, id):
    with post.hub.store.reading() as reader:
        return reader.deliveries.find(id)


def test_neither_a_store_nor_its_backup_holds_a_secret_and_messages_are_signed_with_it(post, receiver, tmp_path):
    made, secret = post.deliveries.add("sizes", receiver.url())
    new = post.deliveries.rotate(made.id)
    post.publish("a", 1)
    post.deliver()
    (got,) = receiver.wait_for_posts(1)
    for known in (secret, new):
        Webhook(known).verify(got.body, got.headers)
    post.hub.store.backup(tmp_path / "monday.backup")
    key = (tmp_path / "hub.db.secrets-key").read_bytes().strip()
    assert len(files(tmp_path)) >= 2
    for path in files(tmp_path):
        for known in (secret, new):
            assert known.removeprefix("whsec_").encode() not in path.read_bytes(), path
        assert key not in path.read_bytes()
    assert stat.S_IMODE((tmp_path / "hub.db.secrets-key").stat().st_mode) == 0o600


def test_secrets_from_before_there_was_a_key_are_sealed_when_deliveries_begin(post, receiver):
    post.deliveries.vault._path = None  # as an older version kept them
    made, secret = post.deliveries.add("sizes", receiver.url())
    pending = WebSubRequest(
        "subscribe", receiver.url("/cb"), "urn:topic", "sizes", "atom", "urn:hub", secret="of websub"
    )
    accept(post.hub.store, pending, 0.0, post.deliveries.vault)
    assert stored(post, made.id).secrets[0]["secret"] == secret
    post.deliver()
    with post.hub.store.reading() as reader:
        kept = json.dumps(
            [[r.secrets, dict(r.settings)] for r in reader.deliveries.of_subscription("sizes")], default=str
        )
    assert secret not in kept
    assert "of websub" not in kept
    post.publish("a", 1)
    (got,) = receiver.wait_for_posts(1)
    Webhook(secret).verify(got.body, got.headers)


def test_without_its_key_a_message_waits_and_goes_out_signed_when_that_is_back(post, receiver, tmp_path):
    made, secret = post.deliveries.add("sizes", receiver.url())
    key = tmp_path / "hub.db.secrets-key"
    key.rename(tmp_path / "elsewhere")
    post.publish("a", 1)
    post.deliver()
    told = eventually(lambda: (found := post.told(made.id))["failures_in_a_row"] > 1 and found)
    assert "the key of secrets cannot be used" in told["last_error"]
    assert told["state"] != "disabled"
    assert receiver.posts() == []
    (tmp_path / "elsewhere").rename(key)
    (got,) = receiver.wait_for_posts(1)
    Webhook(secret).verify(got.body, got.headers)


def test_with_another_key_a_delivery_works_again_after_it_got_a_new_secret(post, receiver, tmp_path):
    made, _ = post.deliveries.add("sizes", receiver.url())
    (tmp_path / "hub.db.secrets-key").unlink()
    post.deliveries.vault._fernet = None
    post.publish("a", 1)
    new = post.deliveries.rotate(made.id)
    post.deliver()
    (got,) = receiver.wait_for_posts(1)
    Webhook(new).verify(got.body, got.headers)
    with pytest.raises(SecretLocked, match="is not the one that the secret was encrypted with"):
        post.deliveries.vault.open(stored(post, made.id).secrets[1]["secret"])


def test_a_named_key_counts_for_every_kind_of_store_and_must_be_there(tmp_path, monkeypatch):
    server = "postgresql://hub@db.example/hub"
    assert Vault.of(server).seal("s") == "s", "there is no place for a key"
    with pytest.raises(SecretLocked, match=VARIABLE):
        Vault.of(server).open("fernet:abc")
    missing = Vault.of(server, str(tmp_path / "no.key"))
    with pytest.raises(SecretLocked, match="triplewire deliver key FILE"):
        missing.seal("s")
    assert not (tmp_path / "no.key").exists()
    done = CliRunner().invoke(app, ["deliver", "key", str(tmp_path / "a.key")])
    assert done.exit_code == 0, done.output
    again = CliRunner().invoke(app, ["deliver", "key", str(tmp_path / "a.key")])
    assert again.exit_code == 2
    sealed = Vault.of(server, str(tmp_path / "a.key")).seal("s")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "a.key"))
    assert sealed != "s"
    assert Vault.of(f"sqlite:///{tmp_path}/hub.db").open(sealed) == "s"
    assert not (tmp_path / "hub.db.secrets-key").exists()
    (tmp_path / "bad.key").write_text("no key")
    with pytest.raises(SecretLocked, match=r"bad\.key"):
        Vault.of(server, str(tmp_path / "bad.key")).seal("s")


def test_processes_that_make_the_key_at_the_same_time_agree_on_one(tmp_path):
    found = []
    start = threading.Barrier(8)

    def make():
        start.wait()
        make_key(tmp_path / "key")
        found.append((tmp_path / "key").read_bytes())

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_a_service_uses_the_key_that_its_settings_name(tmp_path, receiver):
    make_key(tmp_path / "named.key")
    store = f"sqlite:///{tmp_path}/hub.db"
    with serving(store, reach="127.0.0.0/8", secrets_key=str(tmp_path / "named.key")) as served:
        served.subscribe("sizes", "SELECT ?d ?n { ?d <urn:size> ?n }")
        hook = {"kind": "webhook", "url": receiver.url()}
        made = served.post("/v1/subscriptions/sizes/deliveries", json=hook).json()
        assert served.post(f"/v1/deliveries/{made['id']}/ping").json()["arrived"]
        (ping,) = receiver.wait_for_posts(1)
        Webhook(made["secret"]).verify(ping.body, ping.headers)
        served.publish("urn:doc", "<urn:d> <urn:size> 1 .")
        got = receiver.wait_for_posts(2)[1]
        Webhook(made["secret"]).verify(got.body, got.headers)
    assert not (tmp_path / "hub.db.secrets-key").exists()
