"""One way to name a hub in all commands (X5): a file, a url or an address; as the first argument, or by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.core import TyperCommand, TyperGroup

from hub.serving import serving
from triplewire import Hub
from triplewire.cli.catalogue import COMMANDS, loaded
from triplewire.cli.hubs import OnHub
from triplewire.errors import StoreUnavailable
from triplewire.store import Store

QUERY = "SELECT ?s { ?s <urn:p> ?o }"


def commands(name: str) -> list[TyperCommand]:
    found = loaded(name)
    return list(found.commands.values()) if isinstance(found, TyperGroup) else [found]


@pytest.mark.parametrize("name", [name for name, each in COMMANDS.items() if each.panel])
def test_every_command_on_a_hub_takes_it_first_or_by_name(name):
    for command in commands(name):
        if command.name == "key":  # which is for no hub yet
            continue
        assert isinstance(command, OnHub), command.name
        assert command.params[0].name == "store"
        assert command.params[0].param_type_name == "argument"


@pytest.mark.parametrize("way", [["hub.db"], ["--hub", "hub.db"], ["--store", "hub.db"], ["--store=hub.db"]])
@pytest.mark.parametrize("command", [["store", "info"], ["status"], ["rejected"], ["deliver", "list"]], ids=" ".join)
def test_store_is_named_in_each_way(play, call, command, way):
    Store.open("hub.db").close()
    assert call(*command, *way).exit_code == 0


def test_help_says_of_each_command_what_the_command_says_of_itself():
    for name, each in COMMANDS.items():
        said = (loaded(name).help or "").strip().split("\n\n")[0].replace("\n", " ")
        assert each.line == said, name


def test_publishing_to_a_mistyped_store_makes_none_and_names_the_one_that_may_be_meant(play, call):
    call("subscribe", "town.db", "subscriptions/maja.rq")
    result = call("publish", "twon.db", "catalogue")
    assert result.exit_code == 2
    assert "twon.db: there is no such file" in result.stderr
    assert "do you mean town.db" in result.stderr
    assert "--create" in result.stderr
    assert not Path("twon.db").exists()


def test_store_that_is_made_is_announced(play, call):
    made = call("subscribe", "town.db", "subscriptions/maja.rq")
    again = call("subscribe", "town.db", "subscriptions/ines.rq")
    assert "town.db: there was no store; this is a new one" in made.stderr
    assert "there was no store" not in again.stderr
    assert "there was no store" in call("publish", "other.db", "catalogue", "--create").stderr


def test_address_is_refused_in_words_where_the_store_itself_is_needed(play, call, tmp_path):
    with serving(f"sqlite:///{tmp_path}/served.db") as served:
        for command in (["store", "info"], ["token", "list"], ["status"], ["poll"]):
            result = call(*command, served.url)
            assert result.exit_code == 2
            assert "works on the store itself" in result.stderr


def test_hub_takes_a_name_and_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for given in ("hub.db", Path("hub.db"), tmp_path / "hub.db", "sqlite:///hub.db"):
        with Hub(given) as hub:
            if not list(hub.subscriptions()):
                hub.subscribe(QUERY, id="kept")
            assert [each.id for each in hub.subscriptions()] == ["kept"]
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".db"] == ["hub.db"]


def test_hub_says_what_to_use_for_an_address_and_for_nothing():
    with pytest.raises(StoreUnavailable, match=r"triplewire\.client\.Client"):
        Hub("http://127.0.0.1:8080")
    with pytest.raises(StoreUnavailable, match="empty"):
        Hub("")
