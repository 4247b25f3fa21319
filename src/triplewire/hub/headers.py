"""Headers that every answer has: what a client published must not become a page of this hub in a browser."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
