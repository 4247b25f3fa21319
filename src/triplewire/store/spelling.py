"""Which texts every database can hold."""

from __future__ import annotations


def is_storable(text: str) -> bool:
    """False for a name that not every database can hold: with NUL, or with half of a surrogate pair."""
    if "\0" in text:
        return False
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
