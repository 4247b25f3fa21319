"""The connection of a client: it proves who it is, asks, and raises what the service says was wrong."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx

from triplewire.errors import BadRequest, NotAuthenticated, ServiceError, ServiceUnavailable
from triplewire.wire.edges import AnswerAge, age_in
from triplewire.wire.messages import AnyMessage, read
from triplewire.wire.problems import error_of

Answered = TypeVar("Answered")

_PATIENCE = httpx.Timeout(90.0, connect=10.0)


class Connection:
    """A service at a url, with a `token` if it wants one; or with an `account` and the file of its private `key`."""

    most_bytes = 1 << 30
    """So much of what another hub tells is read at a time."""

    def __init__(
        self, url: str, *, token: str | None = None, account: str | None = None, key: str | Path | None = None
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise BadRequest(f"{url!r} is no address of a hub: it begins with http:// or https://")
        self.url = url.rstrip("/")
        self.as_of: AnswerAge | None = None
        """How old the last answer may be, if the service is an edge."""
        self._http = httpx.Client(base_url=f"{self.url}/v1", timeout=_PATIENCE, verify=_trusted(self.url))
        self._account, self._key = account, None if key is None else Path(key)
        if token is not None:
            self._use(token)

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """The answer, if it is one; otherwise the error that it tells."""
        return self._proven(lambda: self._answered(method, path, request))

    def _proven(self, ask: Callable[[], Answered]) -> Answered:
        """Ask as the account that this is."""
        self._prove()
        try:
            return ask()
        except NotAuthenticated:
            if self._key is None:
                raise
            self._http.headers.pop("Authorization", None)  # the session is over: prove it again, once
            self._prove()
            return ask()

    def _read(self, kind: type[AnyMessage], method: str, path: str, **request: Any) -> AnyMessage:
        return read(kind, self._json(method, path, **request))

    def _json(self, method: str, path: str, **request: Any) -> Any:
        """The JSON of the answer; None if it has none."""
        answer = self._ask(method, path, **request)
        return answer.json() if answer.content else None

    def _read_bounded(self, kind: type[AnyMessage], path: str, question: Any) -> AnyMessage:
        """What another hub tells this one, which keeps it: no more than `most_bytes`, however small it was packed."""
        try:
            return read(kind, json.loads(self._proven(lambda: self._content(path, question))))
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise ServiceError(f"{self.url} answered what is not how a hub answers ({error}); is this one?") from None

    def _content(self, path: str, question: Any) -> bytes:
        content = bytearray()
        try:
            with self._http.stream("POST", path, json=question) as answer:
                for chunk in answer.iter_bytes():
                    content += chunk
                    if len(content) > self.most_bytes:
                        raise ServiceError(f"{self.url} answers more than {self.most_bytes:,} bytes; it is not read")
        except httpx.HTTPError as error:
            raise self._unreached(error) from None
        if answer.status_code >= 400:
            raise error_in(httpx.Response(answer.status_code, content=bytes(content), request=answer.request))
        return bytes(content)

    def _unreached(self, error: httpx.HTTPError) -> ServiceUnavailable:
        reason = str(error) or type(error).__name__
        return ServiceUnavailable(f"{self.url} cannot be reached ({reason}); is the hub running?")

    def _answered(self, method: str, path: str, request: dict[str, Any]) -> httpx.Response:
        try:
            answer = self._http.request(method, path, **request)
        except httpx.HTTPError as error:
            raise self._unreached(error) from None
        self.as_of = age_in(answer.headers)
        if answer.status_code >= 400:
            raise error_in(answer)
        return answer

    def _prove(self) -> None:
        """Get a session for the account's key, unless there is one."""
        if self._key is None or "Authorization" in self._http.headers:
            return
        from triplewire.wire.keys import signature

        try:
            pem = self._key.read_bytes()
            asked = self._answered("POST", "/challenges", {"json": {"account": self._account}}).json()
            proof = {"challenge": asked["challenge"], "signature": signature(pem, asked["challenge"])}
        except (OSError, ValueError) as error:
            raise NotAuthenticated(f"{self._key}: this private key cannot be used: {error}") from None
        self._use(self._answered("POST", "/sessions", {"json": proof}).json()["token"])

    def _use(self, token: str) -> None:
        self._http.headers["Authorization"] = f"Bearer {token}"


def _trusted(url: str) -> ssl.SSLContext | bool:
    """Whose certificates count: those that httpx knows, which takes a while to read; without TLS nobody's.

    A proxy may be asked over TLS even so, and its certificate counts as any other.
    """
    is_plain = url.startswith("http://") and not any(name.lower().endswith("_proxy") for name in os.environ)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else True


def error_in(answer: httpx.Response) -> Exception:
    """The error that an answer tells, or that it is none of a hub."""
    try:
        told = answer.json()
        if isinstance(told, dict) and "title" in told:
            return error_of(told)
    except ValueError:
        pass
    return ServiceError(f"{answer.url} answered {answer.status_code}, which is not how a hub answers; is this one?")
