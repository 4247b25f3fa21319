"""`triplewire run` from end to end: documents that wait are applied, and others can see how it went."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from triplewire.cli.app import app
from triplewire.demo.files import copy_to

HUB = "hub.db"


@pytest.fixture
def play(tmp_path, monkeypatch):
    copy_to(tmp_path / "play")
    monkeypatch.chdir(tmp_path / "play")
    monkeypatch.setenv("COLUMNS", "200")


def call(*arguments: str):
    result = CliRunner().invoke(app, arguments)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_what_is_queued_is_applied_and_told(spark, play):
    call("subscribe", HUB, "subscriptions")
    call("publish", HUB, "catalogue", "broken/lost-and-found.ttl", "--queue")
    done = call("run", "--store", HUB, "--once", "--json")
    assert done.exit_code == 1, done.stderr
    assert "set aside: " in done.stderr
    (numbers,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert numbers["rejected"] == 1
    assert numbers["events"] > 5
    assert len(call("events", HUB, "lene", "--json").stdout.splitlines()) == 1
    told = call("status", "--store", HUB).stdout
    assert "by the driver" in told
    assert "parse" in told
    assert "lost-and-found.ttl" in call("rejected", "--store", HUB).stdout


def test_a_folder_is_read_once(spark, play):
    call("subscribe", HUB, "subscriptions")
    done = call("run", "--store", HUB, "--source", "catalogue", "--once")
    assert done.exit_code == 0, done.stderr
    assert "1 batch: " in done.stderr
    again = call("run", "--store", HUB, "--source", "catalogue", "--once")
    assert "0 batches: 0 changes" in again.stderr
