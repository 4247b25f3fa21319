"""What an attempt means for a delivery: a state and an answer in, the next state out.

    the answer                                   what follows
    2xx                                          the next message
    408, 425, 429, 502, 503, 504, or none        the same again, after a pause; later messages wait, none is given up
    any other status                             the same again, after a pause, `attempts` times; then it is a dead
                                                 letter, and the next one is tried
    410                                          the delivery is disabled: its receiver wants no more
    nothing but failures for `patience`          the delivery is disabled; what it has not told stays where it is

The pause doubles with each failure in a row, up to `longest`, and a part of it is random, so that many deliveries to
one server do not come back together; a Retry-After that asks for more counts. That a receiver is away is so never the
reason for a dead letter: it gets everything when it is back. Nothing here reads a clock or a network.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from triplewire.store import DeliveryRecord

_AWAY = frozenset({408, 425, 429, 502, 503, 504})
_GONE = 410
_MOST_DOUBLINGS = 30


@dataclass(frozen=True, slots=True)
class RetryPace:
    """How deliveries are tried again, in seconds."""

    first: float = 2.0
    longest: float = 3_600.0
    attempts: int = 8
    patience: float = 5 * 86_400.0
    longest_wish: float = 86_400.0
    """No Retry-After counts for more."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an attempt gave: the status, or None without an answer; and how it reads."""

    status: int | None
    text: str
    retry_after: float | None = None

    @property
    def is_fine(self) -> bool:
        """Whether it arrived."""
        return self.status is not None and 200 <= self.status < 300


class RetryVerdict(Enum):
    """What to do with the message."""

    ARRIVED = "arrived"
    AGAIN = "again"
    DEAD = "dead"
    STOP = "stop"


def judged(record: DeliveryRecord, answer: Attempt, now: float, pace: RetryPace, chance: float) -> Judged:
    """What becomes of a delivery and of its message; `chance` is a random number between 0 and 1."""
    at = int(now * 1000)
    if answer.is_fine:
        return Judged(
            RetryVerdict.ARRIVED, replace(record, succeeded=at, failures=0, failing_since=0, error="", due=0, reason="")
        )
    failed = replace(
        record,
        failed=record.failed + 1,
        failures=record.failures + 1,
        failing_since=record.failing_since or at,
        error=answer.text,
    )
    if answer.status == _GONE:
        return Judged(RetryVerdict.STOP, disabled(failed, "its receiver says that it is gone for good (410)"))
    if is_refusal(answer) and failed.failures >= pace.attempts:
        return Judged(RetryVerdict.DEAD, replace(failed, failures=0, failing_since=0, due=0))
    if at - failed.failing_since >= pace.patience * 1000:
        days = pace.patience / 86_400
        return Judged(
            RetryVerdict.STOP, disabled(failed, f"nothing arrived for {days:g} days; the last time: {answer.text}")
        )
    return Judged(
        RetryVerdict.AGAIN, replace(failed, due=at + int(1000 * pause(failed.failures, answer, pace, chance)))
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """What to do with the message, and the delivery afterwards."""

    verdict: RetryVerdict
    record: DeliveryRecord


def is_refusal(answer: Attempt) -> bool:
    """Whether there is a receiver, and it does not want this message."""
    return answer.status is not None and not answer.is_fine and answer.status not in _AWAY


def pause(failures: int, answer: Attempt, pace: RetryPace, chance: float) -> float:
    """The seconds until the next attempt."""
    usual: float = min(pace.longest, pace.first * 2.0 ** min(failures - 1, _MOST_DOUBLINGS)) * (0.5 + 0.5 * chance)
    return max(usual, min(answer.retry_after or 0.0, pace.longest_wish))


def disabled(record: DeliveryRecord, reason: str) -> DeliveryRecord:
    """The delivery, at rest until a person enables it again."""
    return replace(record, state="disabled", reason=reason, due=0)
