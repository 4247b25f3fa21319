"""The errors of Triplewire.

    TriplewireError
    ├── DocumentError              a document could not be read
    │   ├── DocumentTooLarge       it is over a limit that the caller can raise
    │   ├── SchemaViolation        it breaks the schema
    │   ├── AccessDenied           who wants to change it is not on its access list
    │   └── HomeAway               the hub that it belongs to cannot be reached
    ├── QueryError                 a subscription's text could not be compiled
    │   ├── QuerySyntaxError       it is not a sentence of its language
    │   └── UnsupportedQuery       it is, but standing queries do not serve it
    ├── PatternError               a pattern was put together wrongly
    ├── TaxonomyError              a taxonomy has a cycle, or is not a taxonomy
    ├── SchemaError                a schema contradicts itself
    ├── SubscriptionError          one subscription failed; the others did not
    │   ├── UnknownSubscription    no subscription has this id
    │   ├── DuplicateSubscription  the id is taken
    │   ├── SubscriptionChanged    it is not the one that the client expects
    │   ├── UnknownRow             a row is not one of its answers
    │   └── MatchLimitExceeded     it found too many rows, or looked too long
    ├── IndexFileError             a saved index could not be opened
    ├── NetworkError               hubs could not work together
    │   ├── SeveralHomes           the documents of a batch belong to several hubs
    │   ├── ChannelRefused         another hub is not what it says, or says what no hub says
    │   ├── LinkFull               a node does not take what is sent to it, and no more of it is kept
    │   └── UnitFull               a unit of a hierarchy has as many sub-units as it can have
    ├── PipelineError              Spark could not be started, or could not finish a job
    ├── StoreError                 a store could not be used
    │   ├── StoreUnavailable       it cannot be opened, or its server not be reached
    │   ├── NotAStore              what is there is something else
    │   ├── NewerStore             a newer Triplewire wrote it
    │   ├── DamagedStore           it is a store, but broken
    │   ├── DamagedJournal         changes that it acknowledged cannot be read
    │   └── StoreBusy              another writer did not end in time
    └── ServiceError               a service did not do what it was asked
        ├── BadRequest             the request is not one that it understands
        ├── UnknownDocument        no document is there under this uri
        ├── UnknownDelivery        no delivery has this id
        ├── UnknownFeed            no feed is at this address
        ├── TargetRefused          events must not be sent to this address
        ├── SecretLocked           a secret is encrypted, and its key is not here
        ├── NotAcceptable          the client takes nothing that it can give
        ├── UnsupportedMediaType   it does not read what was sent
        ├── VersionConflict        the document is another version than the client expects
        ├── KeyReused              the key of a request came before, with other content
        ├── RequestTooLarge        the request is over a limit
        ├── RequestTooSlow         the request did not arrive in time
        ├── QueryLimitExceeded     a query took too long, or found too much
        ├── NotAuthenticated       the request proves no account
        ├── NotAllowed             the account may not
        ├── QuotaExceeded          the tenant has as much as it may have
        │   └── QueryTooCostly     a query would cost more than one of the tenant may
        ├── QuotaSpent             the tenant has used what it may use in a day or a minute
        ├── TooManyRequests        the client asks too fast
        └── ServiceUnavailable     it cannot be reached, or is stopping

Every error carries its data as attributes, reads as a sentence that says what to do, and survives pickling,
because errors cross process borders on a cluster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


class TriplewireError(Exception):
    """The root: catch this to catch everything that Triplewire raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(kind: type[TriplewireError], args: tuple[Any, ...], state: dict[str, Any]) -> TriplewireError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


def _place(line: int | None, column: int | None) -> str:
    if line is None:
        return ""
    return f" at line {line}" if column is None else f" at line {line}, column {column}"


class DocumentError(TriplewireError):
    """A document could not be read; `uri`, `line`, `column` and `reason` say which, where and why."""

    def __init__(self, reason: str, *, uri: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(f"{uri}{_place(line, column)}: {reason}")
        self.reason = reason
        self.uri = uri
        self.line = line
        self.column = column


class DocumentTooLarge(DocumentError):
    """A document is over a limit; `reason` names the limit and how to raise it."""


class SchemaViolation(DocumentError):
    """A document breaks the schema; `violations` has each statement that does, with its reason."""

    def __init__(self, violations: Sequence[Any], *, uri: str) -> None:
        more = len(violations) - 1
        others = f" (and {more} more: see `violations`)" if more > 0 else ""
        super().__init__(f"it breaks the schema: {violations[0]}{others}", uri=uri)
        self.violations = tuple(violations)


class AccessDenied(DocumentError):
    """`by` wants to change a document or its access list, and may not: `reason` says who may."""

    def __init__(
        self,
        uri: str,
        *,
        by: str | None = None,
        reason: str = "it has an access list, and only its writers and admins may change it",
    ) -> None:
        super().__init__(reason, uri=uri)
        self.by = by


class QueryError(TriplewireError):
    """A subscription's text could not be compiled; `hint` says what to try."""

    def __init__(
        self,
        reason: str,
        *,
        language: str,
        line: int | None = None,
        column: int | None = None,
        expected: tuple[str, ...] = (),
        hint: str | None = None,
    ) -> None:
        message = f"{language}{_place(line, column)}: {reason}"
        if expected:
            message += f"; expected {', '.join(expected)}"
        if hint:
            message += f". {hint}"
        super().__init__(message)
        self.reason = reason
        self.language = language
        self.line = line
        self.column = column
        self.expected = expected
        self.hint = hint


class QuerySyntaxError(QueryError):
    """The text is not a sentence of its language."""


class UnsupportedQuery(QueryError):
    """The text is valid, but no standing query can serve it; `reason` says why."""


class PatternError(TriplewireError):
    """A pattern was put together wrongly, for example with an answer variable that nothing binds."""


class TaxonomyError(TriplewireError):
    """A taxonomy has a cycle; `cycle` lists its nodes, the first one again at the end."""

    def __init__(self, reason: str, *, cycle: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.cycle = cycle


class SchemaError(TriplewireError):
    """A schema contradicts itself, or says something that cannot be meant."""


class SubscriptionError(TriplewireError):
    """One subscription failed; `subscription` is its id. The others were served."""

    def __init__(self, reason: str, *, subscription: str) -> None:
        super().__init__(f"subscription {subscription!r}: {reason}")
        self.reason = reason
        self.subscription = subscription


class UnknownSubscription(SubscriptionError):
    """No subscription has this id."""

    def __init__(self, subscription: str) -> None:
        super().__init__("there is no subscription with this id", subscription=subscription)


class DuplicateSubscription(SubscriptionError):
    """The id is taken."""

    def __init__(self, subscription: str) -> None:
        super().__init__("this id is taken; remove it first, or choose another", subscription=subscription)


class SubscriptionChanged(SubscriptionError):
    """The subscription was changed since the client read it."""

    def __init__(self, subscription: str) -> None:
        super().__init__("it was changed meanwhile; read it again, then decide", subscription=subscription)


class UnknownRow(SubscriptionError):
    """A row is not one of the subscription's answers; `reason` says what it lacks."""


class MatchLimitExceeded(SubscriptionError):
    """A subscription found more rows in one document, or took more steps, than its limits allow."""


class IndexFileError(TriplewireError):
    """A saved index could not be opened: it is not one, it is damaged, or another version wrote it."""


class NetworkError(TriplewireError):
    """Hubs could not work together; the message says what to do."""


class ChannelRefused(NetworkError):
    """Another hub is not the one that it says it is, or says what no hub says: the channel to it ends."""


class LinkFull(NetworkError):
    """`peer` has not taken the last `limit` messages; nothing was sent, and it can be tried again later."""

    def __init__(self, peer: str, limit: int) -> None:
        super().__init__(f"{peer} has not taken the last {limit:,} messages: try again when it is back")
        self.peer, self.limit = peer, limit


class UnitFull(NetworkError):
    """`unit` has `limit` sub-units already, and cannot have another one."""

    def __init__(self, unit: str, limit: int) -> None:
        super().__init__(
            f"{unit} has at most {limit} sub-units, one bit of a vector each: put the next one into another unit, "
            "or build the network with a level more"
        )
        self.unit, self.limit = unit, limit


class HomeAway(DocumentError):
    """The hub that a document belongs to (`home`) cannot be reached, so the document cannot be changed now."""

    def __init__(self, home: str, reason: str, *, uri: str) -> None:
        super().__init__(f"its home is {home}, which cannot be reached ({reason}): send it again later", uri=uri)
        self.home = home


class SeveralHomes(NetworkError):
    """The documents of a batch belong to several hubs (`homes`), and a batch is applied by one."""

    def __init__(self, homes: Sequence[str]) -> None:
        super().__init__(f"a batch has one home, and these documents have several: {', '.join(homes)}; send them apart")
        self.homes = tuple(homes)


class PipelineError(TriplewireError):
    """Spark could not be started, or could not finish a job; the message says what is missing."""


class StoreError(TriplewireError):
    """A store could not be used; the subclasses say why."""


class StoreUnavailable(StoreError):
    """A store cannot be opened, or its server cannot be reached."""


class NotAStore(StoreError):
    """What is in this place is something else; nothing was changed."""


class NewerStore(StoreError):
    """A newer Triplewire wrote the store; `found` is its version, `known` the newest that this one knows."""

    def __init__(self, name: str, *, found: int, known: int) -> None:
        super().__init__(
            f"{name}: the store has version {found}, and this Triplewire knows versions up to {known}; "
            "install a newer Triplewire"
        )
        self.found = found
        self.known = known


class DamagedStore(StoreError):
    """The store is broken: restore a backup."""


class DamagedJournal(StoreError):
    """Changes that were acknowledged cannot be read, or store and journal do not belong together.

    `gone` says what, in parts of a sentence; with none, the files only need to be set right. Nothing was changed.
    """

    def __init__(self, name: str, gone: Sequence[str], *, reason: str = "") -> None:
        told = reason or (
            f"changes were acknowledged, and cannot be read: {'; '.join(gone)}"
            if gone
            else "its files are out of order"
        )
        super().__init__(
            f"{name}: {told}. Restore the files if you can. If not, `triplewire store repair` saves what can be read, "
            "keeps the files aside and goes on without the rest"
        )
        self.gone = tuple(gone)


class StoreBusy(StoreError):
    """Another writer did not end within `waited` seconds; nothing was changed."""

    def __init__(self, name: str, waited: float) -> None:
        super().__init__(f"{name}: another writer did not end within {waited:g} seconds; try again")
        self.waited = waited


class ServiceError(TriplewireError):
    """A service did not do what it was asked; the subclasses say why."""


class BadRequest(ServiceError):
    """The request is not one that the service understands; the message says what it expects."""


class UnknownDocument(ServiceError):
    """No document is there under this `uri`, or not in this version."""

    def __init__(self, uri: str, *, version: int | None = None) -> None:
        which = "" if version is None else f" in version {version}"
        super().__init__(f"{uri}: there is no document with this uri{which}")
        self.uri = uri
        self.version = version


class UnknownDelivery(ServiceError):
    """No delivery has this id; `delivery` is it."""

    def __init__(self, delivery: str) -> None:
        super().__init__(f"there is no delivery {delivery!r}; list them to see which there are")
        self.delivery = delivery


class UnknownFeed(ServiceError):
    """No feed is at this secret address: it was revoked, or there never was one; which of the two is not told."""

    def __init__(self) -> None:
        super().__init__("there is no feed at this address; it may have been revoked: ask for another one")


class TargetRefused(ServiceError):
    """Events must not be sent to this address; the message says why."""


class SecretLocked(ServiceError):
    """A secret is encrypted, and its key is not here; the message says where it is looked for."""


class NotAcceptable(ServiceError):
    """The client takes nothing that the service can give; `offered` are the media types that it can."""

    def __init__(self, accept: str, offered: Sequence[str]) -> None:
        super().__init__(f"nothing that is offered fits Accept: {accept}; ask for one of {', '.join(offered)}")
        self.offered = tuple(offered)


class UnsupportedMediaType(ServiceError):
    """The service does not read what was sent; the message says what it reads."""


class VersionConflict(ServiceError):
    """The document at `uri` is not the one that the client expects; read it again, then decide."""

    def __init__(self, uri: str) -> None:
        super().__init__(
            f"{uri}: the document is not the one that If-Match or If-None-Match names; read it again, then decide"
        )
        self.uri = uri


class KeyReused(ServiceError):
    """A request has an Idempotency-Key that the account sent before, with something else; `key` is the key."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the Idempotency-Key {key!r} came before with other content; send a key of its own with each")
        self.key = key


class RequestTooLarge(ServiceError):
    """The request is over a limit, which the message names."""


class RequestTooSlow(ServiceError):
    """The request did not arrive in the time that the message names."""


class QueryLimitExceeded(ServiceError):
    """A query took longer, or found more, than the service allows."""


class NotAuthenticated(ServiceError):
    """The request proves no account: send a token that is valid."""


class NotAllowed(ServiceError):
    """The account is known, and may not do this."""


class QuotaExceeded(ServiceError):
    """The tenant has as much as it may have of `what`: `most`."""

    def __init__(self, what: str, most: int) -> None:
        super().__init__(f"the quota of {most} {what} is used up; remove some, or ask the hub's operator for more")
        self.what = what
        self.most = most


class QueryTooCostly(QuotaExceeded):
    """A standing query would cost more than one of the tenant may: `cost`, where `most` is allowed."""

    def __init__(self, cost: int, most: int, *, dearest: str, triples: int) -> None:
        ServiceError.__init__(
            self,
            f"this query would cost {cost:,}, and one may cost {most:,} here; "
            + (
                f"it is woken by `{dearest}`, which {triples:,} triples have: add a triple pattern that fewer have, "
                "with a rarer predicate or a constant, or ask for fewer alternatives; `preview` tells what each costs"
                if dearest
                else "ask for fewer steps and tests"
            ),
        )
        self.what = "query_cost"
        self.cost = cost
        self.most = most
        self.dearest = dearest
        self.triples = triples


class QuotaSpent(ServiceError):
    """The tenant has used `most` of `what`, all that a time allows: wait for so many `seconds`."""

    def __init__(self, what: str, most: float, period: str, seconds: float, *, meanwhile: str) -> None:
        super().__init__(
            f"the quota of {most:,g} {what} {period} is used up; come back in {_length(seconds)}. Meanwhile {meanwhile}"
        )
        self.what = what
        self.most = most
        self.seconds = seconds


def _length(seconds: float) -> str:
    """A stretch of time, as people say it.

    >>> _length(0.4), _length(90), _length(7_300)
    ('1 seconds', '2 minutes', '2 h 2 min')
    """
    whole = max(1, math.ceil(seconds))
    if whole < 60:
        return f"{whole} seconds"
    minutes = math.ceil(seconds / 60)
    return f"{minutes} minutes" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


class TooManyRequests(ServiceError):
    """The caller asks too fast: wait for so many `seconds`."""

    def __init__(self, rate: float, seconds: float) -> None:
        super().__init__(f"more than {rate:g} requests a second; come back in {seconds:.2g} seconds")
        self.rate = rate
        self.seconds = seconds


class ServiceUnavailable(ServiceError):
    """The service cannot be reached, or is stopping; try again later."""
