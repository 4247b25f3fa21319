"""The reception: what is asked of every request, whatever the service behind it is: a hub, or a peer of a ring.

Who it is, whether it asks too fast, and whether it is short enough to be read; the account before anything is read.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute

from triplewire.errors import NotAuthenticated
from triplewire.hub.bodies import OpenBodies, body_of, refuse_halves
from triplewire.hub.identity.accounts import Account
from triplewire.hub.identity.gate import Gate
from triplewire.hub.settings import Settings, refuse_open
from triplewire.hub.tenancy.pace import RequestPace

Admitting = TypeVar("Admitting", bound=Callable[[Request], Coroutine[Any, Any, Any]])

UNKNOWN_BYTES = 16 * 1024
"""How much is read of a request that proves no account."""
_BURST = 10.0
_REQUESTS = 100.0
_REFUSALS = 5.0
"""How many requests without a valid token a machine may send in a second."""


class Reception:
    """The settings of a service, the gate to it, and how fast callers may ask."""

    def __init__(self, settings: Settings) -> None:
        refuse_open(settings)
        self.settings = settings
        self.is_stopping = False
        self.arrivals = OpenBodies()
        self.url = ""
        """Where the service listens; there once it is bound."""
        rate = settings.requests if settings.requests is not None else _REQUESTS if settings.is_public else 0.0
        self.pace = RequestPace(rate, burst=_BURST * rate)
        self.refusals = RequestPace(_REFUSALS, burst=_BURST * _REFUSALS)
        self.end: Callable[[], None] = lambda: None
        """Ends the server, as a signal would; there once the service has one."""
        self._gate: Gate | None = None

    @property
    def gate(self) -> Gate:
        """Knows the account of each request; there once the service has started."""
        assert self._gate is not None, "the application has not started"
        return self._gate

    async def depart(self) -> None:
        """The service ends, and its connections are still there: what is to be said over them is said now."""


def reception_of(request: Request) -> Reception:
    """The reception of the service that the application runs."""
    service = request.app.state.service
    assert isinstance(service, Reception)
    return service


def caller(service: Reception, request: Request) -> Account:
    """The account of a request, if it does not ask too fast.

    A machine that guesses tokens is told to wait, and a valid token counts all the same: behind a proxy, or in one
    house, others have the same address.
    """
    try:
        account = service.gate.caller(request.headers)
    except NotAuthenticated:
        service.refusals.spend(machine_of(request))
        raise
    service.pace.spend(account.id or machine_of(request))
    return account


def machine_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client is not None else ""


def count_refusal(request: Request) -> None:
    """Count a request that proved nothing; TooManyRequests if that is one too many of its machine."""
    reception_of(request).refusals.spend(machine_of(request))


_DOORS: set[Callable[..., Any]] = set()


def door(admitting: Admitting) -> Admitting:
    """A dependency that finds out who asks: where a route has one, it is asked before the body is read."""
    _DOORS.add(admitting)
    return admitting


class BoundedRoute(APIRoute):
    """A route that takes JSON, of which it reads no more and waits no longer than the settings allow.

    The account is known before anything is read; where none needs to be known, little is read.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's own handler, which would read the body first; the account and the body are looked at before."""
        handler = super().get_route_handler()
        if self.body_field is None:
            return handler
        admitting = next((each.call for each in self.dependant.dependencies if each.call in _DOORS), None)

        async def bounded(request: Request) -> Response:
            settings = reception_of(request).settings
            if admitting is not None:
                await admitting(request)
            most = settings.request_bytes if admitting is not None else min(UNKNOWN_BYTES, settings.request_bytes)
            body = await body_of(request, most=most, seconds=settings.request_seconds)
            refuse_halves(body)
            request._body = body  # where the framework looks first
            return await handler(request)

        return bounded
