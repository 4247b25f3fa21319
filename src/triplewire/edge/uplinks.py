"""Uplinks: whom an edge asks. A hub of this process, a client of one elsewhere, or a channel to one."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from triplewire.engine import Hub
from triplewire.errors import BadRequest, NetworkError
from triplewire.network.channels.status import UplinkStatus
from triplewire.store import Store
from triplewire.wire.edges import EdgeAnswer, EdgeQuestion


class Uplink(Protocol):
    """Where an edge asks."""

    def serve_edge(self, question: EdgeQuestion) -> EdgeAnswer:
        """What the edge lacks."""


@runtime_checkable
class LinkedUplink(Protocol):
    """Where an edge asks over a channel: what waits there can be hurried, and it says what the channel does."""

    def serve_edge(self, question: EdgeQuestion) -> EdgeAnswer:
        """See `Uplink`."""

    def hurry(self) -> None:
        """Let a question that waits be answered now."""

    def release(self) -> None:
        """Let a question that waits end without an answer."""

    def status(self, number: int) -> UplinkStatus:
        """What the channel does, for an edge that has a batch of the hub."""


class HubHere:
    """A hub of this process, asked on behalf of an account."""

    def __init__(self, hub: Hub, account: str | None) -> None:
        self._hub, self._account = hub, account

    def serve_edge(self, question: EdgeQuestion) -> EdgeAnswer:
        """See `Uplink`."""
        return self._hub.serve_edge(question, owner=self._account, viewer=self._account)


def uplink_to(
    hub: str | Hub | Uplink,
    store: Store,
    *,
    account: str | None,
    token: str | None,
    key: str | Path | None,
    hub_key: str | None,
) -> tuple[Uplink, str]:
    """Whom to ask, and what people call that."""
    if isinstance(hub, Hub):
        return HubHere(hub, account), hub.store.url
    if not isinstance(hub, str):
        return hub, str(getattr(hub, "url", hub))
    if not hub.startswith(("http://", "https://")):
        raise BadRequest(f"{hub!r} is no address of a hub: it begins with http:// or https://")
    if hub_key is not None and not _is_key(hub_key):
        raise NetworkError("the public key of a hub is 32 bytes, written as 64 hexadecimal digits")
    from triplewire.network.channels.uplinks import channel_to  # here: an edge that dials nothing needs no WebSockets

    return channel_to(hub, store, account=account, token=token, key=key, hub_key=hub_key), hub


def _is_key(text: str) -> bool:
    try:
        return len(bytes.fromhex(text)) == 32
    except ValueError:
        return False
