"""What the tests of the command share: a folder with the demo's files, and a way to call the command in it."""

import json

import pytest
from typer.testing import CliRunner

from triplewire.cli.app import app
from triplewire.demo.files import copy_to


@pytest.fixture
def play(tmp_path, monkeypatch):
    """A copy of the demo's files, as the working folder."""
    folder = tmp_path / "play"
    copy_to(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    return folder


@pytest.fixture
def call():
    """Run the command; the result has exit_code, stdout and stderr."""

    def run(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def call_for_rows(call):
    """Run the command, and read the JSON lines that it prints."""

    def run(*arguments):
        result = call(*arguments)
        return [json.loads(line) for line in result.stdout.splitlines()]

    return run
