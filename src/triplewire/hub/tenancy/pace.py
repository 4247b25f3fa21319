"""Pace: how many requests a caller may send, so that none takes a service from the others.

Each caller has a bucket of requests that fills again with time. One that asks too fast is told when to come back;
nothing waits inside the service.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from triplewire.errors import TooManyRequests

_MOST_CALLERS = 10_000


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class RequestPace:
    """So many requests a second for each caller, and a few seconds' worth at once.

    >>> now = 0.0
    >>> pace = RequestPace(2, burst=2, clock=lambda: now)
    >>> pace.spend("maja"), pace.spend("maja"), pace.spend("willi")
    (None, None, None)
    >>> pace.spend("maja")
    Traceback (most recent call last):
    triplewire.errors.TooManyRequests: more than 2 requests a second; come back in 0.5 seconds
    >>> now = 0.5
    >>> pace.spend("maja")
    """

    def __init__(self, rate: float, *, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def spend(self, caller: str) -> None:
        """Count one request; TooManyRequests if it is one too many. A rate of 0 is no limit."""
        if not self._rate:
            return
        bucket = self._filled(caller)
        if bucket.left < 1:
            raise TooManyRequests(self._rate, (1 - bucket.left) / self._rate)
        bucket.left -= 1

    def _filled(self, caller: str) -> _Bucket:
        now = self._clock()
        bucket = self._buckets.get(caller)
        if bucket is None:
            if len(self._buckets) >= _MOST_CALLERS:  # the caller that was quiet longest has a full one, or nearly
                self._buckets.popitem(last=False)
            bucket = self._buckets[caller] = _Bucket(self._burst, now)
        else:
            self._buckets.move_to_end(caller)
            bucket.left = min(self._burst, bucket.left + (now - bucket.at) * self._rate)
            bucket.at = now
        return bucket
