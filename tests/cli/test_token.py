"""`triplewire token`: roles that change, and accounts that nobody has."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from triplewire.cli.app import app
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store


@pytest.fixture
def made(tmp_path):
    """The path of a store, and the id of an admin in it."""
    with Store.open(f"sqlite:///{tmp_path}/hub.db") as opened:
        return str(tmp_path / "hub.db"), Accounts(opened).create_token("maja", role="admin")[0].id


def test_an_account_gets_another_role(made):
    path, id = made
    told = CliRunner().invoke(app, ["token", "role", path, id, "reader"])
    assert told.exit_code == 0, told.output
    assert "maja is a reader of the tenant main now" in told.output
    with Store.open(f"sqlite:///{path}") as opened:
        assert Accounts(opened).all()[id].role == "reader"


def test_a_role_or_an_account_that_is_none_is_refused(made):
    path, id = made
    assert CliRunner().invoke(app, ["token", "role", path, id, "king"]).exit_code != 0
    assert CliRunner().invoke(app, ["token", "role", path, "nobody", "reader"]).exit_code != 0
