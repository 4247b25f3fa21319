"""The built wheel in a fresh virtual environment, without this repository: demo, match and serve run from it (X7).

The packages that it needs are those that the tests run with, by a .pth file; the repository's own source is not on the
path, so that what is missing in the wheel is missing.
"""

from __future__ import annotations

import os
import site
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "triplewire"
DATA = (".lark", ".ttl", ".rq", ".txt", ".js", ".css", ".html", ".svg", ".rss", ".xml", ".json", ".typed")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel of what is in the repository now, built from a copy."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "copy"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (copy / name).write_bytes((ROOT / name).read_bytes())
    for path in SOURCE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            place = copy / path.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode and "No matching distribution found for setuptools" in done.stderr:  # no package index
        pytest.skip(f"what builds a wheel cannot be had here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("triplewire-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The command of an environment that has the wheel, and of others only what it needs."""
    home = tmp_path_factory.mktemp("fresh")
    venv.EnvBuilder(with_pip=False).create(home)
    folder = home / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    target = ["--no-deps", "--no-index", "--quiet", "--target", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "install", *target, str(wheel)], check=True, capture_output=True)
    needed = [path for path in site.getsitepackages() if Path(path).is_dir()]
    (folder / "needed.pth").write_text("\n".join(needed) + "\n")
    _without_the_repository(home)
    _with_the_compiled_kernel(folder / "triplewire")
    return home / "bin" / "python"


def _without_the_repository(home: Path) -> None:
    """An editable installation puts the repository on the path by a .pth of its own, which is not followed here."""
    code = "import triplewire; print(triplewire.__file__)"
    done = subprocess.run([home / "bin" / "python", "-c", code], capture_output=True, text=True, check=True, cwd=home)
    assert str(home) in done.stdout, "the wheel is what is tested, not the repository"


def _with_the_compiled_kernel(package: Path) -> None:
    """What is compiled on this machine already goes along: compiling it again would take a minute."""
    for path in SOURCE.rglob("*.nb[ci]"):
        place = package / path.relative_to(SOURCE)
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(path.read_bytes())


@pytest.fixture
def run(installed, tmp_path):
    """Run the installed command in an empty folder."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def call(*arguments: str, start: bool = False):
        command = [str(installed), "-m", "triplewire.cli", *arguments]
        options = {"cwd": tmp_path, "env": environment, "text": True}
        if start:
            return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        return subprocess.run(command, capture_output=True, **options)

    return call


def test_wheel_has_every_file_that_the_source_has(wheel):
    with zipfile.ZipFile(wheel) as archive:
        there = set(archive.namelist())
    expected = {
        f"triplewire/{path.relative_to(SOURCE).as_posix()}"
        for path in SOURCE.rglob("*")
        if path.is_file() and (path.suffix == ".py" or path.suffix in DATA)
    }
    assert len(expected) > 500
    assert expected <= there, sorted(expected - there)
    assert not [name for name in there if "__pycache__" in name or name.startswith("tests/")]


def test_story_is_told(run):
    done = run("demo")
    assert done.returncode == 0, done.stderr
    assert "The whole town listens" in done.stdout
    assert "Your turn" in done.stdout


def test_demo_files_are_matched(run):
    written = run("demo", "--files", "play")
    assert written.returncode == 0, written.stderr
    done = run("match", "play/catalogue", "-s", "play/subscriptions", "-t", "play/themes.ttl")
    assert done.returncode == 0, done.stderr
    assert '"subscription": "maja"' in done.stdout


def test_hub_is_served_with_its_page(run):
    served = run("serve", "hub.db", "--port", "0", "--pipeline", "engine", start=True)
    try:
        said = next(line for line in served.stderr if line.startswith("hub on "))
        address = said.split()[2]
        assert httpx.get(f"{address}/v1/health/live", timeout=60).json()["live"]
        page = httpx.get(address, headers={"Accept": "text/html"}, timeout=60, follow_redirects=True)
        assert page.status_code == 200
        assert "<html" in page.text
        scripts = [part.split('"')[0] for part in page.text.split('src="')[1:]]
        assert scripts
        for script in scripts:
            assert httpx.get(f"{address}/{script.lstrip('/')}", timeout=60).status_code == 200
        rows = run("rows", address, "nobody")
        assert "nobody" in rows.stderr
    finally:
        served.terminate()
        _, rest = served.communicate(timeout=120)
    assert served.returncode == 0
    assert "everything that was acknowledged is kept" in rest
