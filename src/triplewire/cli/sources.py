"""A subscription from what a person types: its text, or the file that holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import typer

from triplewire.cli.paths import read_text
from triplewire.cli.problems import SOME_BAD, Problems, usage
from triplewire.cli.subscriptions import LANGUAGE_OF, WrittenSubscription, load

_MOST_PATH_CHARACTERS = 255


def file_of(source: str) -> Path | None:
    """The file that an argument names; None if it is a text. Ends the command for a name that no file has."""
    if len(source) > _MOST_PATH_CHARACTERS:
        return None
    path = Path(source)
    if "\n" not in source and path.is_file():
        return path
    if path.suffix in LANGUAGE_OF:
        usage(f"there is no file {source}")
    return None


def meant(source: str, language: str | None, prefixes: Mapping[str, str]) -> WrittenSubscription:
    """What the argument means: a file if there is one of this name, otherwise the text itself."""
    path = file_of(source)
    if path is not None:
        return _from_file(path, language, prefixes)
    if language is None:
        usage(f"say which language the text is in: --language, one of {', '.join(dict.fromkeys(LANGUAGE_OF.values()))}")
    return WrittenSubscription("text", language, source, prefixes, language)


def _from_file(path: Path, language: str | None, prefixes: Mapping[str, str]) -> WrittenSubscription:
    if path.suffix not in LANGUAGE_OF:
        if language is None:
            usage(f"{path}: the name does not say which language this is; add --language")
        return WrittenSubscription(path.stem, language, text_of(path), prefixes, str(path))
    problems = Problems()
    found = load([str(path)], prefixes, problems)
    if not found:
        raise typer.Exit(problems.exit_code)
    return replace(found[0], language=language or found[0].language)


def text_of(path: Path) -> str:
    """The text of a file; ends the command if it cannot be read."""
    try:
        return read_text(path)
    except (OSError, ValueError) as error:
        Problems().report(str(path), error)
        raise typer.Exit(SOME_BAD) from None
