"""`triplewire store`: check, compact, backup, restore, info; on every kind of database that lasts."""

import json

import pytest

from triplewire import Hub
from triplewire.cli.progress import Bar

DATASETS = "SELECT ?d { ?d a <http://www.w3.org/ns/dcat#Dataset> }"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, new_url, play, call):
    """A store with the demo's documents and a subscription of each scope."""
    url = new_url(request.param)
    for scope in ("graph", "document"):
        call("subscribe", url, "-l", "sparql", DATASETS, "--id", scope, "--scope", scope)
    call("publish", url, "catalogue")
    return url


def damage(url):
    """Take a row off the record."""
    with Hub(url) as hub, hub.store.writing() as writer:
        (record,) = writer.subscriptions.find(["graph"])
        writer.rows.delete([(writer.rows.of_query(record.query)[0].id, record.query)])


def facts(call, url):
    return json.loads(call("store", "info", url, "--json").stdout)


def test_a_store_that_is_well_passes_the_check(url, call):
    result = call("store", "check", url)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "the store is well" in result.stderr
    assert call("store", "check", url, "--sample", "1").exit_code == 0


def test_a_row_that_is_missing_fails_the_check(url, call):
    damage(url)
    result = call("store", "check", url)
    assert result.exit_code == 1
    assert "recomputation gives a row that is not on record" in result.stderr
    assert "(subscription graph)" in result.stderr


def test_info_counts_what_is_there(url, call):
    assert facts(call, url) | {"statements": 0, "terms": 0} == {
        "documents": 13,
        "statements": 0,
        "terms": 0,
        "subscriptions": 2,
        "queries": 2,
        "batches": 1,
        "last cursor": 26,
    }
    assert "documents     13" in call("store", "info", url).stdout


def test_a_backup_restores_into_a_store_of_any_kind(url, call, new_url, play):
    assert call("store", "backup", url, "hub.backup").exit_code == 0
    for kind in ("sqlite", "postgresql"):
        other = new_url(kind)
        assert call("store", "restore", other, "hub.backup").exit_code == 0
        assert facts(call, other) == facts(call, url)
        assert sorted(call("rows", other, "graph").stdout.splitlines()) == sorted(
            call("rows", url, "graph").stdout.splitlines()
        )
        assert call("store", "check", other).exit_code == 0


def test_a_store_that_is_not_empty_is_not_overwritten(url, call):
    call("store", "backup", url, "hub.backup")
    assert call("store", "restore", url, "hub.backup").exit_code == 1
    assert facts(call, url)["documents"] == 13


def test_a_backup_that_is_none_is_a_problem(call, play):
    result = call("store", "restore", "new.db", "themes.ttl")
    assert result.exit_code == 1
    assert "themes.ttl" in result.stderr


def test_compacting_drops_what_is_asked_for_and_leaves_the_store_well(url, call):
    call("retract", url, "catalogue/parking.ttl")
    text = call("store", "compact", url, "--keep-versions", "1", "--keep-events-after", "10").stdout
    assert "1 version" in text
    assert "10 events" in text
    assert call("store", "check", url).exit_code == 0
    assert len(call("rows", url, "graph").stdout.splitlines()) == 12


def test_a_bar_shows_on_a_terminal_only():
    from io import StringIO

    from rich.console import Console

    for is_terminal in (True, False):
        console = Console(file=StringIO(), force_terminal=is_terminal, width=80)
        with Bar("checking", console, patience=0) as bar:
            bar.show(1, 2)
        assert ("checking" in console.file.getvalue()) is is_terminal
