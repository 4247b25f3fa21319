"""The server: an application on a socket, until it is told to stop."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import uvicorn
from fastapi import FastAPI

from triplewire.errors import ServiceError
from triplewire.hub.app import create_app
from triplewire.hub.identity.accounts import Accounts
from triplewire.hub.settings import Settings, refuse_open
from triplewire.network.channels.channels import MOST_BYTES
from triplewire.store import Store

_GRACE = 10
_TICK = 1.0
"""Seconds between two looks at the clock, whose time is in each answer's headers."""


class Server(uvicorn.Server):
    """Serves one hub, or another application. When it stops, streams are ended first, so that nothing holds it up."""

    def __init__(
        self,
        settings: Settings,
        *,
        when_started: Callable[[], None] | None = None,
        application: Callable[[Settings], FastAPI] = create_app,
    ) -> None:
        refuse_unguarded(settings)
        refuse_unusable_certificate(settings)
        self.settings = settings
        self._when_started = when_started
        self._app = application(settings)
        self._app.state.service.end = self.stop
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told_to_stop = asyncio.Event()
        super().__init__(
            uvicorn.Config(
                self._app,
                host=settings.host,
                port=settings.port,
                log_level="warning",
                access_log=False,
                lifespan="on",
                timeout_graceful_shutdown=_GRACE,
                timeout_keep_alive=30,
                server_header=False,
                proxy_headers=bool(settings.proxies),
                forwarded_allow_ips=settings.believed,
                limit_concurrency=settings.streams + 2_000,
                ssl_certfile=settings.certificate,
                ssl_keyfile=settings.certificate_key,
                ws="websockets-sansio",
                ws_max_size=MOST_BYTES,
                ws_ping_interval=min(20.0, max(1.0, settings.network_patience / 3)),
                ws_ping_timeout=min(20.0, max(1.0, settings.network_patience / 3)),
            )
        )

    def bound(self) -> socket.socket:
        """A socket on the address of the settings; ServiceError says why there is none."""
        settings = self.settings
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((settings.host.strip("[]"), settings.port))
        except OSError as error:
            found.close()
            raise ServiceError(
                f"cannot listen on {settings.host} port {settings.port}: {error.strerror}; choose another with --port"
            ) from None
        self._app.state.service.url = url_of(found, settings)
        return found

    def stop(self) -> None:
        """End, as a signal would."""
        self._app.state.service.stop()
        self.should_exit = True
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(self._told_to_stop.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the stores and listen, then say so."""
        await super().startup(sockets)
        if self.started and self._when_started is not None:
            self._when_started()

    async def main_loop(self) -> None:
        """Serve until it is told to stop, and rest meanwhile: uvicorn's own way is to look ten times a second."""
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(_TICK):
                    await self._told_to_stop.wait()
        await self._app.state.service.depart()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal to stop, after which all is well; a second one does not wait."""
        self.force_exit = self.should_exit
        self.stop()


def refuse_unguarded(settings: Settings) -> None:
    """ServiceError for a hub that every machine on a network could change."""
    if settings.store == ":memory:":
        raise ServiceError("a service keeps what it is told: name a file (hub.db) or a PostgreSQL url, not :memory:")
    refuse_open(settings)
    if not settings.asks_who:
        return
    with Store.open(settings.store) as store:
        if not Accounts(store).all():
            where = settings.address or settings.host
            raise ServiceError(
                f"who uses a hub on {where} must have a token, and nobody has one yet: make one with "
                "`triplewire token create STORE NAME --role admin`, or listen on 127.0.0.1 without identity"
            )


def refuse_unusable_certificate(settings: Settings) -> None:
    """ServiceError says why a certificate cannot be used."""
    if settings.certificate is None:
        if settings.certificate_key is not None:
            raise ServiceError("there is a key, and no certificate: name its file, with --certificate")
        return
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(settings.certificate, settings.certificate_key)
    except (OSError, ssl.SSLError) as error:
        raise ServiceError(
            f"{settings.certificate}: the certificate cannot be used with its key ({error}); both are PEM files, "
            "named with --certificate and --key"
        ) from None


def url_of(found: socket.socket, settings: Settings) -> str:
    """The address of a socket, as a browser takes it."""
    host, port = found.getsockname()[:2]
    scheme = "http" if settings.certificate is None else "https"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


class Started:
    """A service that runs in a thread of this process, at `url`, until it is stopped: for tests and notebooks."""

    def __init__(self, settings: Settings, application: Callable[[Settings], FastAPI] = create_app) -> None:
        self.server = Server(settings, application=application)
        self._socket = self.server.bound()
        self.url = url_of(self._socket, settings)
        self._thread = threading.Thread(
            target=self.server.run, args=([self._socket],), name="triplewire service", daemon=True
        )
        self._thread.start()
        while not self.server.started:
            if not self._thread.is_alive():
                self._socket.close()
                raise ServiceError("the service could not start; its log says why")
            time.sleep(0.005)

    def stop(self) -> None:
        """Finish what was taken in, and end."""
        self.server.stop()
        self._thread.join()
        self._socket.close()

    def __enter__(self) -> Started:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start(settings: Settings, application: Callable[[Settings], FastAPI] = create_app) -> Started:
    """Run a service in a thread; with port 0, on a free one."""
    return Started(settings, application)
