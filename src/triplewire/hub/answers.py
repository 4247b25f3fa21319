"""Answers: an error as the response that a client gets, with the headers that go with it."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from triplewire.errors import QuotaSpent, StoreBusy, TooManyRequests, TriplewireError
from triplewire.wire import problems

log = logging.getLogger("triplewire.hub")


def answer_of(error: TriplewireError) -> Response:
    """The problem that an error is; what is the service's own fault is in the log, too."""
    told = problems.problem_of(error)
    headers = {}
    if told["status"] == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, TooManyRequests | QuotaSpent):
        headers["Retry-After"] = str(math.ceil(error.seconds))
    elif told["status"] == 503 or isinstance(error, StoreBusy):
        headers["Retry-After"] = "5"
    if told["status"] >= 500:
        log.error("%s", error)
    return answer(told, headers)


def answer(told: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """A problem as a response: in ASCII, because what is wrong may be quoted, and need not be text."""
    return Response(json.dumps(told), told["status"], headers, media_type=problems.MEDIA_TYPE)
