"""Folders of our own for what need not stay."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path


def temporary(what: str) -> Path:
    """A new folder that is gone when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix=f"triplewire-{what}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
