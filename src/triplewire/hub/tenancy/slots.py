"""Slots: how many files grow on disk or are sent at a time, so that no account takes downloads from the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from triplewire.errors import ServiceUnavailable


class Slots:
    """So many for each account, and so many for all of them together. Used by one thread.

    >>> slots = Slots(1, 2)
    >>> with slots.taken("maja"), slots.taken("willi"):
    ...     with slots.taken("flip"):
    ...         pass
    Traceback (most recent call last):
    triplewire.errors.ServiceUnavailable: this service makes 2 files at a time, for all accounts; try again later
    >>> with slots.taken("maja"), slots.taken("maja"):
    ...     pass
    Traceback (most recent call last):
    triplewire.errors.ServiceUnavailable: your account may have 1 files made at a time; take or end these first
    """

    def __init__(self, of_each: int, of_all: int) -> None:
        self._of_each, self._of_all = of_each, of_all
        self._taken: Counter[str] = Counter()

    @contextmanager
    def taken(self, account: str) -> Iterator[None]:
        """One slot for as long as the block takes; ServiceUnavailable says whose limit is reached."""
        if self._taken[account] >= self._of_each:
            raise ServiceUnavailable(
                f"your account may have {self._of_each} files made at a time; take or end these first"
            )
        if self._taken.total() >= self._of_all:
            raise ServiceUnavailable(
                f"this service makes {self._of_all} files at a time, for all accounts; try again later"
            )
        self._taken[account] += 1
        try:
            yield
        finally:
            self._taken[account] -= 1
            self._taken += Counter()  # which forgets accounts that have none
