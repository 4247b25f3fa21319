"""After an installation the first match compiles, and says so (X5): in a process of its own, with an empty cache."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hub.serving import serving
from triplewire.matching.kernel import compiled

SMALL = (
    "import logging, sys\n"
    "from triplewire.matching.kernel import compiled\n"
    "from triplewire.matching.kernel.hashing import mix\n"
    "from triplewire.cli.notices import announce_compiling\n"
    "{before}"
    "for value in (1, 2):\n"
    "    mix(value, 2, 3, 4)\n"
    "print(compiled.has_been(), compiled.is_going_on())"
)
"""Uses one small function of the kernel, because all of them take a minute."""


def run(cache, before=""):
    """What a fresh process prints, and what it says on standard error."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    code = SMALL.format(before=before)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip(), done.stderr


def test_first_use_says_on_the_command_line_that_it_compiles_and_the_next_says_nothing(tmp_path):
    assert run(tmp_path, "announce_compiling()\n") == ("True False", compiled.SAID + "\n")
    assert run(tmp_path, "announce_compiling()\n") == ("False False", "")


def test_library_tells_its_log_and_disturbs_nobody(tmp_path):
    assert run(tmp_path) == ("True False", "")
    told, said = run(tmp_path / "other", "logging.basicConfig(level=logging.INFO, format='%(name)s: %(message)s')\n")
    assert told == "True False"
    assert said.splitlines() == [f"triplewire.matching: {compiled.SAID}"]


def test_service_is_not_ready_while_it_compiles(tmp_path, monkeypatch):
    with serving(f"sqlite:///{tmp_path}/hub.db") as served:
        assert served.get("/v1/health").json()["ready"]
        monkeypatch.setattr(compiled._listener, "open", 1)
        told = served.get("/v1/health")
        assert (told.status_code, told.json()["ready"]) == (503, False)
        assert "being compiled" in told.json()["reasons"][0]
        assert served.get("/v1/health/live").status_code == 200


@pytest.mark.slow
def test_warm_compiles_everything_once(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "triplewire.cli", "warm"]
    first, second = (subprocess.run(command, capture_output=True, text=True, env=environment) for _ in range(2))
    assert first.stderr.splitlines() == [compiled.SAID, "the matcher is compiled"]
    assert second.stderr.splitlines() == ["the matcher was compiled already"]
