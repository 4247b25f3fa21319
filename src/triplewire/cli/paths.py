"""From what a person types (files, folders, globs) to the files that are meant, and to their texts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from glob import glob
from pathlib import Path
from typing import Any

from triplewire.cli.problems import Problems


def expand(given: str, suffixes: Collection[str], problems: Problems, kind: str) -> Iterator[Path]:
    """The files that one argument means: itself, what the glob finds, or the folder's files with these suffixes."""
    try:
        yield from _meant(given, suffixes, problems, kind)
    except OSError as error:
        problems.report(given, error)


def _meant(given: str, suffixes: Collection[str], problems: Problems, kind: str) -> Iterator[Path]:
    if not given.strip():
        problems.report('""', "an empty name is no file or folder; the current folder is called .")
        return
    path = Path(given)
    if path.is_dir():
        yield from _inside(path, suffixes, problems, kind)
    elif path.exists():
        yield path
    elif found := sorted(glob(given, recursive=True)):
        yield from _files((Path(name) for name in found), problems)
    else:
        problems.report(given, _no_such(given, kind))


def _no_such(given: str, kind: str) -> str:
    is_text = kind == "subscription" and any(character in given for character in "{}?()")
    hint = "; if this is the text of a subscription, say in which language with --language" if is_text else ""
    return f"there is no such file or folder{hint}"


def _inside(folder: Path, suffixes: Collection[str], problems: Problems, kind: str) -> Iterator[Path]:
    named = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in suffixes and not path.is_dir()]
    if not named:
        problems.report(str(folder), f"there is no {kind} in this folder; known file types: {' '.join(suffixes)}")
    yield from _files(named, problems)


def _files(paths: Iterable[Path], problems: Problems) -> Iterator[Path]:
    """Those that are files; a link whose target is gone is reported, so that nobody takes it for read."""
    for path in paths:
        if path.is_file():
            yield path
        elif path.is_symlink() and not path.exists():
            problems.report(str(path), "it cannot be read: it is a link to something that is not there")


def read_text(path: Path) -> str:
    """The text of a file; raises OSError, or ValueError if it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is not UTF-8; save the file as UTF-8 and try again") from None


def parse_json(text: str) -> Any:
    """What a JSON text says; raises ValueError, also for what is nested too deeply or could not be printed again."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("an escape such as \\ud800 is half of a surrogate pair, not text; write both halves") from None
    except RecursionError:
        raise ValueError("not JSON that can be read: it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    return value
