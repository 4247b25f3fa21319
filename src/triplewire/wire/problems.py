"""Problems: every error as the answer that a client gets, and back (RFC 9457).

An error of `triplewire.errors` becomes a JSON object with a type, a title, the status and the error's sentence; its
data (place, language, subscription ...) are further members. `error_of` makes the same error of it in a client.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import triplewire.errors as errors
from triplewire.errors import TriplewireError

MEDIA_TYPE = "application/problem+json"
_TYPE = "urn:triplewire:problem:"

STATUS: Mapping[type[TriplewireError], int] = {
    errors.DocumentError: 400,
    errors.DocumentTooLarge: 413,
    errors.SchemaViolation: 422,
    errors.AccessDenied: 403,
    errors.QueryError: 400,
    errors.UnsupportedQuery: 422,
    errors.PatternError: 400,
    errors.TaxonomyError: 422,
    errors.SchemaError: 422,
    errors.SubscriptionError: 400,
    errors.UnknownSubscription: 404,
    errors.DuplicateSubscription: 409,
    errors.SubscriptionChanged: 412,
    errors.UnknownRow: 404,
    errors.MatchLimitExceeded: 422,
    errors.StoreUnavailable: 503,
    errors.StoreBusy: 503,
    errors.DamagedJournal: 503,
    errors.BadRequest: 400,
    errors.UnknownDocument: 404,
    errors.UnknownDelivery: 404,
    errors.UnknownFeed: 404,
    errors.TargetRefused: 422,
    errors.SecretLocked: 503,
    errors.NotAcceptable: 406,
    errors.UnsupportedMediaType: 415,
    errors.VersionConflict: 412,
    errors.KeyReused: 409,
    errors.RequestTooLarge: 413,
    errors.RequestTooSlow: 408,
    errors.QueryLimitExceeded: 422,
    errors.NotAuthenticated: 401,
    errors.NotAllowed: 403,
    errors.QuotaExceeded: 403,
    errors.QuotaSpent: 429,
    errors.TooManyRequests: 429,
    errors.ServiceUnavailable: 503,
}
"""The status of an error; of one that is not here, that of the nearest above it in the tree, and 500 for the rest."""

_OWN = frozenset(["type", "title", "status", "detail"])
_KINDS: Mapping[str, type[TriplewireError]] = {
    name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, TriplewireError)
}


def status_of(error: TriplewireError) -> int:
    """The status that tells this error."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def problem_of(error: TriplewireError) -> dict[str, Any]:
    """The problem that an error is, ready for JSON."""
    name = type(error).__name__
    plain = problem(status_of(error), _words(name).capitalize(), str(error), kind=name)
    plain.update({key: _plain(value) for key, value in vars(error).items() if key not in _OWN and value is not None})
    return plain


def problem(status: int, title: str, detail: str, *, kind: str | None = None) -> dict[str, Any]:
    """A problem; without a kind it has no type of its own, and the status says all."""
    type_of = "about:blank" if kind is None else _TYPE + _words(kind).replace(" ", "-")
    return {"type": type_of, "title": title, "status": status, "detail": detail}


def error_of(told: Mapping[str, Any]) -> TriplewireError:
    """The error that a problem tells; a ServiceError where its kind is not known here."""
    name = "".join(part.capitalize() for part in str(told.get("type", "")).removeprefix(_TYPE).split("-"))
    kind = _KINDS.get(name, errors.ServiceError)
    error = kind.__new__(kind)
    error.args = (str(told.get("detail") or told.get("title") or "the service did not say why"),)
    error.__dict__.update({key: value for key, value in told.items() if key not in _OWN})
    return error


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=A)(?=[A-Z][a-z])", " ", name).lower()


def _plain(value: Any) -> Any:
    if isinstance(value, str | int | float | bool):
        return value
    return [str(each) for each in value] if isinstance(value, list | tuple) else str(value)
