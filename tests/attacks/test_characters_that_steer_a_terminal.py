"""A publisher's text is shown on a terminal, and never steers it: no control character comes out of the command."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess

import pytest
from pyoxigraph import Literal

HOSTILE = "water\x1b]0;owned\x07\x1b[2J\x9b31m\x85\x7f\u202egnp"
STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
WATER = "SELECT ?s ?t { ?s <urn:title> ?t }"


def on_terminal(*command: str, cwd) -> str:
    """What a command shows on a terminal, without the colours and movements that are its own."""
    above, below = pty.openpty()
    environment = {**os.environ, "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "200"}
    with subprocess.Popen(command, stdin=below, stdout=below, stderr=below, cwd=cwd, env=environment):
        os.close(below)
        shown = b""
        while True:
            try:
                chunk = os.read(above, 65_536)
            except OSError:  # how Linux tells that the other end is closed
                break
            if not chunk:
                break
            shown += chunk
    os.close(above)
    return shown.decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    from triplewire import Hub

    folder = tmp_path_factory.mktemp("hostile")
    with Hub(folder / "hub.db") as hub:
        hub.subscribe(WATER, id="titles", title=HOSTILE)
        hub.publish(f"<urn:a> <urn:title> {json.dumps(HOSTILE)} .", uri="urn:a", media_type="text/turtle")
    (folder / f"bad{HOSTILE}.ttl").write_text("this is no turtle")
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ("rows", "hub.db", "titles"),
        ("rows", "hub.db", "titles", "--format", "csv"),
        ("rows", "hub.db", "titles", "--format", "jsonl"),
        ("events", "hub.db", "titles"),
        ("events", "hub.db", "titles", "--json"),
        ("subscriptions", "hub.db"),
        ("query", "hub.db", WATER),
        ("query", "hub.db", "CONSTRUCT WHERE { ?s ?p ?o }"),
        ("why", "hub.db", "titles"),
        ("publish", "hub.db", "."),
    ],
    ids=" ".join,
)
def test_a_terminal_gets_no_control_character_of_a_publisher(triplewire, store, command):
    shown = on_terminal(triplewire, *command, cwd=store)
    assert "water" in shown
    assert STEERING.findall(shown) == []
    assert "\\u001B" in shown or "\\u001b" in shown


def test_programs_read_what_was_published(triplewire, store):
    """Spelled otherwise, it still is the same text; a file gets it as it is."""

    def output(*arguments: str) -> str:
        done = subprocess.run([triplewire, *arguments], cwd=store, check=True, capture_output=True, text=True)
        return done.stdout

    assert json.loads(output("rows", "hub.db", "titles", "--json"))["t"] == str(Literal(HOSTILE))
    table = output("rows", "hub.db", "titles", "--format", "csv")
    assert any(HOSTILE in cell for line in csv.reader(io.StringIO(table)) for cell in line)
