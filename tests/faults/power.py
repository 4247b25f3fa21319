"""A machine that loses its power: processes on a disk that forgets what was not synced (`power.c`).

power = Power(folder, tmp_path)                       # what is in the folder now is on the disk
subprocess.Popen(..., env=os.environ | power.environment)
power.fail()                                          # its processes are gone, and so is what they did not sync
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

_SYNC_ALL = """
import os, sys
for folder, _, names in os.walk(sys.argv[1], topdown=False):
    for path in [*(os.path.join(folder, name) for name in names), folder]:
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.close(file)
"""


class Power:
    """The power of the processes that run with `environment`, and the disk below `folder` that they use."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self._folder, self._shadow = folder.resolve(), scratch.resolve() / "power"
        for part in ("data", "names"):
            (self._shadow / part).mkdir(parents=True)
        self.environment = {
            "LD_PRELOAD": str(_compiled(scratch)),
            "POWER_ROOT": str(self._folder),
            "POWER_SHADOW": str(self._shadow),
        }
        self._sync_all()

    def fail(self) -> None:
        """Every process is gone at once; then only what was synced is in the folder."""
        while found := self._processes():
            for process in found:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.02)
        root = self._key(self._folder)
        for path in self._folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self._bring_back(root, self._folder)
        for part in ("data", "names"):
            shutil.rmtree(self._shadow / part)
            (self._shadow / part).mkdir()
        self._sync_all()

    def _processes(self) -> list[int]:
        """Those that run with this environment, whoever started them."""
        mark, found = f"POWER_SHADOW={self._shadow}".encode(), []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                is_ours = mark in (path / "environ").read_bytes().split(b"\0")
                is_dead = (path / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
            except OSError:
                continue
            if is_ours and not is_dead:
                found.append(int(path.name))
        return found

    def _key(self, folder: Path) -> str:
        names = {path.name for path in (self._shadow / "names").iterdir()}
        return next(name for name in names if name.startswith(f"{folder.stat().st_ino}-"))

    def _bring_back(self, key: str, folder: Path) -> None:
        names = self._shadow / "names" / key
        for line in names.read_text().splitlines() if names.exists() else ():
            kind, own, name = line.split(" ", 2)
            if kind == "d":
                (folder / name).mkdir()
                self._bring_back(own, folder / name)
            else:
                data = self._shadow / "data" / own
                (folder / name).write_bytes(data.read_bytes() if data.exists() else b"")

    def _sync_all(self) -> None:
        subprocess.run(
            [sys.executable, "-c", _SYNC_ALL, str(self._folder)], env=os.environ | self.environment, check=True
        )


def _compiled(scratch: Path) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("a disk that forgets needs Linux and a C compiler (Debian, Ubuntu: apt install gcc)")
    library = scratch.resolve() / "power.so"
    source = Path(__file__).with_name("power.c")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library
