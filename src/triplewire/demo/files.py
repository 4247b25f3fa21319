"""The story's files: where they are, and a copy of them to play with."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree, ignore_patterns

HERE = Path(__file__).parent
BASE = "https://data.lindhaven.example/catalogue/"


def catalogue() -> list[Path]:
    """The documents of the catalogue, in the order of their names."""
    return sorted((HERE / "catalogue").iterdir())


def broken() -> Path:
    """A document that nobody can read."""
    return HERE / "broken" / "lost-and-found.ttl"


def text(name: str) -> str:
    """The text of one of the files, by its place in the folder."""
    return (HERE / name).read_text(encoding="utf-8")


def prefixes() -> dict[str, str]:
    """The prefixes that the subscriptions use."""
    return dict(json.loads(text("subscriptions/prefixes.json")))


def copy_to(folder: Path) -> None:
    """Copy the data, and none of the code, into a folder that does not exist yet."""
    copytree(HERE, folder, ignore=ignore_patterns("*.py", "__pycache__"))
