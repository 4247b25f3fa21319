"""When a feed is asked next: a state, an answer and the time in, the next state out.

    after                                   ask again after
    new, or the same (200, 304)             `every`
    an error, the n-th in a row             `every` times 2 to the n, at most `longest`
    429 or 503 with Retry-After             as it says, between `every` and `longest`
    gone (410)                              never

Nothing here reads a clock or a network.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

_MOST_DOUBLINGS = 30


@dataclass(frozen=True, slots=True)
class PollPace:
    """How often a feed is asked, in seconds: `every` so many, and with growing pauses up to `longest` when it fails."""

    every: float = 1800.0
    longest: float = 86_400.0

    def __post_init__(self) -> None:
        if not 0 < self.every <= self.longest:
            raise ValueError(f"every must be more than 0 and at most {self.longest:g} seconds, not {self.every:g}")


@dataclass(frozen=True, slots=True)
class Followed:
    """A feed that is followed, and what is known of it.

    `uri` is the address it was given by, and the uri of its document: it stays. `url` is where it is asked for, and
    follows permanent redirects. Times are in seconds since 1970.
    """

    uri: str
    url: str
    title: str = ""
    etag: str = ""
    modified: str = ""
    next_at: float = 0.0
    failures: int = 0
    error: str = ""
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class Fresh:
    """The feed was sent: its bytes and media type, and what to ask with next time."""

    body: bytes
    media_type: str = ""
    etag: str = ""
    modified: str = ""
    moved_to: str = ""


@dataclass(frozen=True, slots=True)
class Same:
    """The feed is as it was."""

    moved_to: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """There was no feed, for a reason; perhaps with how many seconds to wait."""

    reason: str
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """There will be no feed any more."""

    reason: str = "it is gone for good (410)"


Answer = Fresh | Same | Failed | Gone


def answered(feed: Followed, answer: Answer, now: float, pace: PollPace) -> Followed:
    """What is known of a feed after an answer."""
    if isinstance(answer, Failed):
        return _failed(feed, answer, now, pace)
    if isinstance(answer, Gone):
        return replace(feed, is_gone=True, error=answer.reason, failures=feed.failures + 1)
    fine = replace(feed, url=answer.moved_to or feed.url, next_at=now + pace.every, failures=0, error="")
    return fine if isinstance(answer, Same) else replace(fine, etag=answer.etag, modified=answer.modified)


def _failed(feed: Followed, answer: Failed, now: float, pace: PollPace) -> Followed:
    failures = feed.failures + 1
    wait = pace.every * 2 ** min(failures, _MOST_DOUBLINGS) if answer.retry_after is None else answer.retry_after
    wait = min(max(wait, pace.every), pace.longest)
    return replace(feed, failures=failures, error=answer.reason, next_at=now + wait)


def due(feeds: Iterable[Followed], now: float) -> list[Followed]:
    """The feeds to be asked now, those that have waited longest first."""
    return sorted((feed for feed in feeds if not feed.is_gone and feed.next_at <= now), key=lambda feed: feed.next_at)


def next_time(feeds: Iterable[Followed]) -> float | None:
    """When the next one is to be asked; None if there is none."""
    return min((feed.next_at for feed in feeds if not feed.is_gone), default=None)
