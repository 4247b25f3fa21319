"""Digests: what a stretch of the log comes to, row by row; pure.

    before it      after it       told as
    no answer      answer         added
    answer         answer         changed   (also when it was gone in between: `unmatched` counts that)
    answer         no answer      removed
    no answer      no answer      removed   (it came and went: the receiver may have heard of it elsewhere)

Invariant: every row that has an `unmatched` event in the stretch is told, with the number of them: no removal is
swallowed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from triplewire.model import Event, Row

_LENGTHS = {"hourly": 3_600.0, "daily": 86_400.0}


@dataclass(slots=True)
class _Story:
    first: Event
    last: Event
    kinds: Counter[str]


def digest(events: Iterable[Event]) -> dict[str, list[dict[str, Any]]]:
    """The rows that were added, changed and removed, each with its last event's reasons and how often it had which."""
    stories: dict[Row, _Story] = {}
    for event in events:
        story = stories.setdefault(event.identity, _Story(event, event, Counter()))
        story.last = event
        story.kinds[event.kind] += 1
    told: dict[str, list[dict[str, Any]]] = {"added": [], "changed": [], "removed": []}
    for story in stories.values():
        told[_sense(story)].append(_told(story))
    return told


def _sense(story: _Story) -> str:
    if story.last.kind == "unmatched":
        return "removed"
    return "added" if story.first.kind == "matched" else "changed"


def _told(story: _Story) -> dict[str, Any]:
    plain = story.last.as_dict(contents=False)
    kept = {name: plain[name] for name in ("row", "triples", "documents", "cursor", "time")}
    counts = {kind: story.kinds[kind] for kind in ("matched", "changed", "unmatched") if story.kinds[kind]}
    return kept | {"first_cursor": story.first.cursor, "events": counts}


def next_time(every: str, after: float) -> float:
    """When the next digest is due: at the full hour, or at midnight, UTC.

    >>> next_time("hourly", 0.0), next_time("hourly", 3599.0), next_time("daily", 86400.0)
    (3600.0, 3600.0, 172800.0)
    """
    return (after // _LENGTHS[every] + 1) * _LENGTHS[every]
