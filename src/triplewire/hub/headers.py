"""Headers: those that every answer has, and those by which a request gives away that it is a stranger's.

What a client published must not become a page of this hub in a browser.
"""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from triplewire.edge import AsOf
from triplewire.errors import NotAllowed
from triplewire.hub.answers import answer_of
from triplewire.hub.identity.loopback import refuse_strangers
from triplewire.wire.edges import AS_OF

_POLICY = b"content-security-policy"
_ALWAYS = [(b"x-content-type-options", b"nosniff")]
_UNLESS_THERE = [(_POLICY, b"default-src 'none'; frame-ancestors 'none'; sandbox")]


class Guarded:
    """Around an application: a browser takes answers for what they say they are, and runs nothing in them.

    The page brings a policy of its own.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarding(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"]
                has_policy = any(name == _POLICY for name, _ in headers)
                message["headers"] = [*headers, *_ALWAYS, *(() if has_policy else _UNLESS_THERE)]
            await send(message)

        await self._app(scope, receive, guarding)


class Aged:
    """Around an application: what an edge answers says which batch of its hub that is of, and how old it may be.

    `Triplewire-As-Of` is the number of the batch, 0 where nothing was ever told; `Age` is how many seconds ago the hub
    said that this is its newest one, as HTTP has it for every cache (RFC 9111).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def ageing(message: Message) -> None:
            as_of: AsOf | None = scope.get("state", {}).get("as_of")
            if message["type"] == "http.response.start" and as_of is not None:
                message["headers"] = [*message["headers"], *_age(as_of)]
            await send(message)

        await self._app(scope, receive, ageing)


def _age(as_of: AsOf) -> list[tuple[bytes, bytes]]:
    position = (AS_OF.lower().encode(), b"%d" % as_of.position)
    return [position] if as_of.age is None else [position, (b"age", b"%d" % as_of.age.total_seconds())]


class OwnMachine:
    """Around an application: while nobody has to say who they are, strangers are refused before anything is read."""

    def __init__(self, app: ASGIApp, is_open: Callable[[], bool]) -> None:
        self._app, self._is_open = app, is_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._is_open():
            headers = Headers(scope=scope)
            is_page = scope["method"] in ("GET", "HEAD") and not scope["path"].startswith("/v1/")
            try:
                refuse_strangers(
                    headers, follows_a_link=is_page and headers.get("sec-fetch-mode", "navigate") == "navigate"
                )
            except NotAllowed as error:
                await answer_of(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)
