"""Connections: kept open, one pool for each server, each made to an address that was checked."""

from __future__ import annotations

import asyncio
import ssl
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import httpcore

from triplewire.outbound.addresses import Reach, resolved

_PORTS = {b"http": 80, b"https": 443}
_SERVERS = 512
_KEPT = 60.0


class Unreachable(Exception):
    """There was no whole answer; the text says why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered: headers by their small names, and as much of the body as was wanted."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def is_fine(self) -> bool:
        """Whether the server took it."""
        return 200 <= self.status < 300


class _Checked(httpcore.AsyncNetworkBackend):
    """Connects to where a name leads, if that may be asked. TLS goes on to check the name's certificate."""

    def __init__(self, reach: Reach) -> None:
        self._reach, self._plain = reach, httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        address = await resolved(host, port, self._reach)
        return await self._plain.connect_tcp(address, port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Connections:
    """Asks servers; for one event loop."""

    def __init__(self, reach: Reach, *, seconds: float, most_bytes: int = 64 * 1024, per_server: int = 32) -> None:
        self._backend = _Checked(reach)
        self._seconds, self._most_bytes, self._per_server = seconds, most_bytes, per_server
        self._pools: OrderedDict[tuple[bytes, bytes, int], httpcore.AsyncConnectionPool] = OrderedDict()

    async def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> Reply:
        """The reply; `Unreachable` if there is none in time, `Refused` where nobody may be asked."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._asked(method, httpcore.URL(url), headers, body)
        except TimeoutError:
            raise Unreachable(f"no answer within {self._seconds:g} seconds") from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
            raise Unreachable(f"no answer: {_reason(error)}") from None

    async def _asked(self, method: str, url: httpcore.URL, headers: Mapping[str, str], body: bytes) -> Reply:
        pool = await self._pool(url)
        sent = {"User-Agent": agent(), "Accept-Encoding": "identity", **headers, "Content-Length": str(len(body))}
        async with pool.stream(method, url, headers=[("Host", _host(url)), *sent.items()], content=body) as response:
            found = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            got = bytearray()
            async for part in response.aiter_stream():
                got += part
                if len(got) > self._most_bytes:  # what is left unread closes the connection
                    break
            return Reply(response.status, found, bytes(got[: self._most_bytes]))

    async def _pool(self, url: httpcore.URL) -> httpcore.AsyncConnectionPool:
        """Of one server: a pool goes through all its connections for each request, so it must be small."""
        place = url.scheme, url.host, url.port or _PORTS[url.scheme]
        if place not in self._pools:
            self._pools[place] = httpcore.AsyncConnectionPool(
                ssl_context=_certificates() if url.scheme == b"https" else None,
                max_connections=self._per_server,
                keepalive_expiry=_KEPT,
                network_backend=self._backend,
            )
        self._pools.move_to_end(place)
        if len(self._pools) > _SERVERS:
            idle = next((p for p, pool in self._pools.items() if all(c.is_idle() for c in pool.connections)), None)
            if idle is not None and idle != place:
                await self._pools.pop(idle).aclose()
        return self._pools[place]

    async def close(self) -> None:
        """Let go of all connections."""
        for pool in self._pools.values():
            await pool.aclose()
        self._pools.clear()


def _host(url: httpcore.URL) -> str:
    """As a server expects it: with the port, unless it is the usual one."""
    host = url.host.decode("ascii")
    host = f"[{host}]" if ":" in host else host
    return host if url.port in (None, _PORTS[url.scheme]) else f"{host}:{url.port}"


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context()


@lru_cache(maxsize=1)
def agent() -> str:
    """How requests say who they are from."""
    try:
        return f"triplewire/{version('triplewire')}"
    except PackageNotFoundError:
        return "triplewire"
