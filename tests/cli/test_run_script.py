"""The `./run` script, as far as it does not install anything."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments, cwd=ROOT, script=ROOT / "run", **environment):
    return subprocess.run(
        [str(script), *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
        check=False,
    )


def test_help_teaches_every_command(tmp_path):
    done = run("help", cwd=tmp_path)
    assert done.returncode == 0
    for command in ("demo", "test", "check", "bench", "docs", "shell", "setup"):
        assert f"./run {command}" in done.stdout


def test_unknown_command_is_a_usage_error():
    done = run("tset")
    assert done.returncode == 2
    assert "tset" in done.stderr


def test_python_that_is_too_old_is_named_with_what_to_do(tmp_path):
    for name in ("run", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "dirname", "rm", "cat"):
        (tools / tool).symlink_to(shutil.which(tool))
    old = tools / "python3"
    old.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 'Python 3.9.2' && exit 0\nexit 1\n")
    old.chmod(0o755)
    done = run("setup", cwd=tmp_path, script=tmp_path / "run", PATH=str(tools), PYTHON="")
    assert done.returncode == 1
    assert "Python 3.9.2 was found" in done.stderr
    assert "apt install" in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_constraints_are_plain_names_and_versions():
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert lines
    for line in lines:
        name, _, version = line.partition("==")
        assert name.translate(str.maketrans("", "", "-_.")).isalnum(), line
        assert version[:1].isdigit(), line
