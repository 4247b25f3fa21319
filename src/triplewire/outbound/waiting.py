"""How long a server wants to be left alone."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime


def retry_after(header: str, now: float) -> float | None:
    """The seconds that a Retry-After header asks for: a number, or a date; None if it is neither.

    >>> retry_after("120", 0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 10), retry_after("soon", 0)
    (120.0, 50.0, None)
    """
    text = header.strip()
    if text.isascii() and text.isdigit() and len(text) < 10:
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
