"""What went wrong with single inputs: said at once on standard error, counted for the exit code and in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from triplewire.cli.terminal import Screen

FINE, SOME_BAD, USAGE = 0, 1, 2


class Problems:
    """Collects what was wrong; one bad input never stops the others."""

    def __init__(self, console: Screen | None = None) -> None:
        self.console = console or Screen(stderr=True)
        self.count = 0

    def report(self, source: str, error: Exception | str) -> None:
        """Say it and count it; `source` is left out where the error names it already."""
        self.count += 1
        message = str(error)
        if source not in message:
            message = f"{source}: {message}"
        self.console.print(f"problem: {message}", markup=False, highlight=False, soft_wrap=True)

    def note(self, message: str) -> None:
        """Say something that is no problem, where it does not disturb the output."""
        self.console.print(message, markup=False, highlight=False, soft_wrap=True)

    @property
    def exit_code(self) -> int:
        """FINE, or SOME_BAD if anything was reported."""
        return SOME_BAD if self.count else FINE


def usage(message: str) -> NoReturn:
    """End the command because it was called wrongly."""
    Screen(stderr=True).print(f"triplewire: {message}", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(USAGE)


@contextmanager
def usage_for(*kinds: type[Exception], before: str = "", after: str = "") -> Iterator[None]:
    """Ends the command, as called wrongly, for an error of one of these kinds, with words before and after it."""
    try:
        yield
    except kinds as error:
        usage(f"{before}{error}{after}")


@contextmanager
def needing(how: str) -> Iterator[None]:
    """Ends the command if something that it imports is not installed; `how` says how to get it."""
    try:
        yield
    except ImportError as error:
        usage(f"{how} ({error})")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "match", "matches"), counted(2000, "row")
    ('1 match', '2,000 rows')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
