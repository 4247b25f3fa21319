"""The application: routes, errors and measuring, put together."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Protocol

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from triplewire.errors import TriplewireError
from triplewire.hub.answers import answer, answer_of
from triplewire.hub.description import describe
from triplewire.hub.headers import Aged, Guarded, OwnMachine
from triplewire.hub.metrics import Measured
from triplewire.hub.routes import (
    access,
    backbones,
    browsing,
    deliveries,
    documents,
    edges,
    events,
    feeds,
    links,
    metadata,
    networks,
    page,
    questions,
    searches,
    sessions,
    subscriptions,
    upkeep,
    uploads,
    xml_rpc,
)
from triplewire.hub.service import Service
from triplewire.hub.settings import Settings
from triplewire.wire import problems

log = logging.getLogger("triplewire.hub")

_ROUTES = (
    documents,
    access,
    uploads,
    subscriptions,
    events,
    feeds,
    deliveries,
    edges,
    backbones,
    networks,
    questions,
    searches,
    metadata,
    browsing,
    xml_rpc,
    upkeep,
    sessions,
    page,
)

_ABOUT = (
    "Standing queries for metadata: subscribe once, hear what matches, what changed, what stopped matching, and why."
)


def create_app(settings: Settings | None = None) -> FastAPI:
    """The application of a service, to be run by any ASGI server; it opens its stores when it starts."""
    service = Service(settings or Settings())
    app = app_of(service, title="Triplewire hub", description=_ABOUT)
    for router in (*(module.router for module in _ROUTES), networks.channels, links.channels):
        app.router.routes.extend(router.routes)  # as they are: `include_router` would derive each anew for this service
    service.metrics.watch(service.tenants, lambda: service.deliverer, lambda: service.federation)
    app.add_middleware(Measured, metrics=service.metrics)
    app.add_middleware(OwnMachine, is_open=lambda: not service.settings.asks_who)
    app.add_middleware(Guarded)
    app.add_middleware(Aged)
    handle_errors(app)
    describe(app)
    return app


class ServedApplication(Protocol):
    """What an application serves: it begins and ends with it."""

    async def start(self) -> None:
        """Begin."""

    async def close(self) -> None:
        """End."""


def app_of(service: ServedApplication, *, title: str, description: str) -> FastAPI:
    """An application without routes, with the life of a service."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.close()

    app = FastAPI(
        title=title,
        version=version("triplewire"),
        description=description,
        lifespan=lifespan,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    return app


def handle_errors(app: FastAPI) -> None:
    """Let errors be told as problems.

    Each is a coroutine: the framework would call a function in a thread, and a refusal is to wait for none.
    """
    app.add_exception_handler(TriplewireError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _without_route)
    app.add_exception_handler(Exception, _failed)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, TriplewireError)
    return answer_of(error)


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    places = [
        {"where": ".".join(map(str, each["loc"])), "reason": str(each["msg"]).removeprefix("Value error, ")}
        for each in error.errors()
    ]
    detail = "; ".join(f"{each['where']}: {each['reason']}" for each in places)
    return answer(problems.problem(422, "Bad request", detail, kind="BadRequest") | {"places": places})


async def _without_route(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = {
        404: "there is nothing at this address; /v1/openapi.json tells what there is",
        405: "this address does not know this method; /v1/openapi.json tells what there is",
    }.get(error.status_code, str(error.detail))
    title = {404: "Not found", 405: "Method not allowed"}.get(error.status_code, "Bad request")
    return answer(problems.problem(error.status_code, title, detail), dict(error.headers or {}))


async def _failed(_: Request, error: Exception) -> Response:
    """What nobody foresaw: it is in the log, and not told to clients."""
    log.error("a request failed: %s", error, exc_info=error)
    return answer(problems.problem(500, "Internal error", "the service failed; its log says why"))
