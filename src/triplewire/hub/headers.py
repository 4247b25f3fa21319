"""Headers: those that every answer has, and those by which a request gives away that it is a stranger's.

What a client published must not become a page of this hub in a browser.
"""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from triplewire.errors import NotAllowed
from triplewire.hub.answers import answer_of
from triplewire.hub.identity.loopback import refuse_strangers

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
