"""Numbers of things, in words."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "match", "matches"), counted(2000, "row")
    ('1 match', '2,000 rows')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
