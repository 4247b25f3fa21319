"""From what a person types (files, folders, globs) to the files that are meant."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from glob import glob
from pathlib import Path

from triplewire.cli.problems import Problems


def expand(given: str, suffixes: Collection[str], problems: Problems, kind: str) -> Iterator[Path]:
    """The files that one argument means: itself, what the glob finds, or the folder's files with these suffixes."""
    path = Path(given)
    if path.is_dir():
        yield from _inside(path, suffixes, problems, kind)
    elif path.exists():
        yield path
    elif found := sorted(glob(given, recursive=True)):
        yield from (Path(name) for name in found if Path(name).is_file())
    else:
        problems.report(given, "there is no such file or folder")


def _inside(folder: Path, suffixes: Collection[str], problems: Problems, kind: str) -> Iterator[Path]:
    found = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in suffixes and path.is_file()]
    if not found:
        problems.report(str(folder), f"there is no {kind} in this folder; known file types: {' '.join(suffixes)}")
    yield from found
