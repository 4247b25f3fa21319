"""The application of a peer: its routes, errors, and what guards every answer."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.routing import Route

from triplewire.hub.app import app_of, handle_errors
from triplewire.hub.description import describe
from triplewire.hub.headers import Guarded, OwnMachine
from triplewire.hub.ring import routes
from triplewire.hub.ring.refusals import refuse
from triplewire.hub.ring.service import PeerService
from triplewire.hub.routes import sessions
from triplewire.hub.settings import Settings
from triplewire.network.ring import RingSettings

_ABOUT = "A peer of a ring: subscribe here to what any peer publishes, and publish for all of them."
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def create_peer_app(settings: Settings, ring: RingSettings | None = None) -> FastAPI:
    """The application of a peer, to be run by any ASGI server; it opens its store when it starts."""
    service = PeerService(settings, ring or RingSettings())
    app = app_of(service, title="Triplewire peer", description=_ABOUT)
    for router in (routes.router, sessions.router, routes.channels):
        app.router.routes.extend(router.routes)
    app.router.routes.append(Route("/v1/{rest:path}", refuse, methods=_METHODS, include_in_schema=False))
    app.add_middleware(OwnMachine, is_open=lambda: not service.settings.asks_who)
    app.add_middleware(Guarded)
    handle_errors(app)
    describe(app)
    return app
