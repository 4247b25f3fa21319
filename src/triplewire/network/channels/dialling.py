"""Dialling: the connection to a hub at an address; encrypted, unless that is on this machine."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, InvalidURI, WebSocketException

from triplewire.errors import NetworkError
from triplewire.network.channels.channels import MOST_BYTES, WireClosed

LINK = "/v1/network/link"
"""Where hubs of a network are dialled."""

UNREACHED = (OSError, TimeoutError, WebSocketException, InvalidURI, WireClosed)
"""What dialling raises where there is no hub that answers."""


@asynccontextmanager
async def dialled(url: str, path: str, beat: float) -> AsyncIterator[tuple[DialledWire, str]]:
    """A connection to the hub at an address, and the fingerprint of its certificate, if it has one.

    Every `beat` seconds it is looked whether the other side is still there.
    """
    address, is_secret = address_of(url, path)
    async with connect(
        address,
        max_size=MOST_BYTES,
        max_queue=64,
        open_timeout=10,
        ping_interval=beat,
        ping_timeout=beat,
        proxy=None,
        user_agent_header=None,
    ) as connection:
        wire = DialledWire(connection)
        yield wire, wire.certificate if is_secret else ""


class DialledWire:
    """A connection that was dialled, as a wire."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    @property
    def certificate(self) -> str:
        """The fingerprint of the server's certificate."""
        secret = self._connection.transport.get_extra_info("ssl_object")
        found = secret.getpeercert(binary_form=True) if secret is not None else None
        return hashlib.sha256(found).hexdigest() if found else ""

    async def send(self, text: str) -> None:
        """See `Wire.send`."""
        try:
            await self._connection.send(text)
        except WebSocketException as error:
            raise WireClosed(str(error)) from None

    async def receive(self) -> str:
        """See `Wire.receive`."""
        try:
            found = await self._connection.recv()
        except WebSocketException as error:
            raise WireClosed(str(error)) from None
        return found if isinstance(found, str) else found.decode("utf-8", "replace")

    async def close(self, reason: str) -> None:
        """See `Wire.close`."""
        try:
            await self._connection.close(reason=reason.encode()[:100].decode("utf-8", "ignore"))
        except asyncio.CancelledError:
            self._connection.transport.abort()
            raise


def address_of(url: str, path: str = LINK) -> tuple[str, bool]:
    """Where to dial a hub, and whether that is encrypted; NetworkError for an address without a hub."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise NetworkError(f"{url!r} is no address of a hub; write https://HOST, or http://127.0.0.1:PORT")
    is_secret = parts.scheme == "https"
    if not is_secret and not is_this_machine(parts.hostname):
        raise NetworkError(
            f"{url} is another machine, and nothing on the way there would be encrypted: serve that hub with "
            "--certificate, or behind a proxy that does, and write https"
        )
    place = parts.path.rstrip("/") + path
    return urlunsplit(("wss" if is_secret else "ws", parts.netloc, place, "", "")), is_secret


def is_this_machine(host: str) -> bool:
    """Whether only this machine can reach a host."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def brief(error: BaseException) -> str:
    """What went wrong with a connection, in few words."""
    return f"{type(error).__name__}: {error}" if not isinstance(error, InvalidHandshake) else str(error)
