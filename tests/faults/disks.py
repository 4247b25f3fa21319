"""Small disks: a file system in memory with so many bytes, where the tests may mount one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """A disk of its own in a new folder; the test is skipped where it may not mount one."""
    folder.mkdir()
    told = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if told.returncode:
        pytest.skip(f"a small disk needs the right to mount one: {told.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path, *, leave: int = 0) -> Path:
    """A file that takes all the room but so many bytes; to delete it makes room again."""
    found = os.statvfs(folder)
    path = folder / "filler"
    with path.open("wb", buffering=0) as file:
        left = found.f_bavail * found.f_frsize - leave
        try:
            while left > 0:
                left -= file.write(bytes(min(left, 1 << 16)))
        except OSError:
            pass
    return path
