"""Folders: a new name in one is there for good only when the folder itself is on the disk."""

from __future__ import annotations

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Let the names in a folder be on the disk; without it, a machine that loses power may forget a new file."""
    opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
