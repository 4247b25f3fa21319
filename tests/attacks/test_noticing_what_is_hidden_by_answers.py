"""What answers to a publisher tell of hidden documents, and of the subscriptions of others."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import httpx
import pytest

from hub.serving import TURTLE, serving
from triplewire import Hub
from triplewire.errors import MatchLimitExceeded
from triplewire.hub.changes.orders import told_errors
from triplewire.hub.identity.accounts import Accounts
from triplewire.hub.routes.subscriptions import _summed
from triplewire.model import Summary
from triplewire.store import Store


@pytest.mark.parametrize("headers", [{}, {"If-Match": "*"}, {"Idempotency-Key": "k"}], ids=str)
def test_to_retract_a_hidden_document_is_answered_as_for_one_that_never_was(tmp_path, headers):
    store = f"sqlite:///{tmp_path}/hub.db"
    with Store.open(store) as opened:
        accounts = Accounts(opened)
        tokens = {name: accounts.create_token(name, role="publisher")[1] for name in ("pub", "eve")}
    with serving(store, identity=True) as served:

        def ask(method, who, uri, more, **rest):
            mine = {"Authorization": f"Bearer {tokens[who]}"} | more
            return httpx.request(method, f"{served.url}/v1/document", params={"uri": uri, **rest}, headers=mine)

        mine = {"Authorization": f"Bearer {tokens['pub']}"} | TURTLE
        hidden = {"uri": "urn:doc:hidden", "reader": ""}
        told = httpx.put(f"{served.url}/v1/document", params=hidden, headers=mine, content="<urn:a> <urn:b> 1 .")
        assert told.status_code == 201
        answers = []
        for name in ("hidden", "never"):
            more = {key: value + name if key == "Idempotency-Key" else value for key, value in headers.items()}
            for _ in range(2):
                answer = ask("DELETE", "eve", f"urn:doc:{name}", more)
                answers.append((answer.status_code, answer.json().get("type"), answer.json().get("version")))
        assert len(set(answers)) == 1, answers
        assert answers[0][0] == (412 if "If-Match" in headers else 200 if headers else 404)


def test_failures_are_told_of_ones_own_subscriptions_and_of_those_for_everybody():
    with Hub() as hub:
        for id, viewer in (("own", "pub"), ("open", ""), ("other", "eve"), ("all", None)):
            hub.subscribe("SELECT ?s { ?s ?p ?o }", id=id, owner=viewer or "root", viewer=viewer)
        errors = [MatchLimitExceeded("too much", subscription=id) for id in ("own", "open", "other", "all")]
        assert [error.subscription for error in told_errors(hub, errors, "pub")] == ["own", "open"]
        assert told_errors(hub, errors, None) == errors


def test_since_when_rows_are_stale_is_told_to_who_may_see_them():
    with Hub() as hub:
        made = hub.subscribe("SELECT ?s { ?s ?p ?o }", id="s", owner="eve", viewer="eve")
        object.__setattr__(made, "stale_since", datetime.now(UTC))
        summary = Summary(made, ("s",), None, None)
        told = {who: _summed(SimpleNamespace(viewer=who), summary).stale_since for who in ("eve", None, "pub")}
        assert [who for who, since in told.items() if since is None] == ["pub"]
