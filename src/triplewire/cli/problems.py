"""What went wrong with single inputs: said at once on standard error, counted for the exit code."""

from __future__ import annotations

from typing import NoReturn

import typer
from rich.console import Console

FINE, SOME_BAD, USAGE = 0, 1, 2


class Problems:
    """Collects what was wrong; one bad input never stops the others."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, emoji=False)
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
    Console(stderr=True, emoji=False).print(f"triplewire: {message}", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(USAGE)
