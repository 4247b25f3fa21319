"""Times: moments in UTC, and how they are spelled."""

from __future__ import annotations

from datetime import UTC, datetime

Time = datetime | str
"""A time, or its ISO 8601 spelling; without a time zone it counts as UTC."""


def moment(time: Time) -> datetime:
    """A time in UTC.

    >>> moment("2026-03-02T09:00:00+01:00").isoformat()
    '2026-03-02T08:00:00+00:00'
    """
    found = datetime.fromisoformat(time) if isinstance(time, str) else time
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def spelled(time: datetime) -> str:
    """A time as records and JSON have it: to the millisecond, so that the order of the texts is that of the times.

    >>> spelled(moment("2026-03-02T09:00+01:00"))
    '2026-03-02T08:00:00.000+00:00'
    """
    return time.astimezone(UTC).isoformat(timespec="milliseconds")


def bound(time: Time) -> str:
    """A text that stands before the spellings of this time and of all that are later, and after those of earlier ones.

    >>> bound("2026-03-02T08:00:00.0005Z") > "2026-03-02T08:00:00.000+00:00"
    True
    """
    try:
        found = moment(time)
    except OverflowError:  # beyond the first or the last year, in its time zone
        return "" if str(time).startswith("0") else "~"
    return spelled(found) + ("~" if found.microsecond % 1000 else "")
