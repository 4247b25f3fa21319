"""One question over HTTP: a conditional request, redirects followed one by one, nothing without a limit or its turn."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from urllib.parse import urljoin

import httpx

from triplewire.outbound import ANYWHERE, PUBLIC, AddressRefused, resolved, retry_after
from triplewire.outbound.connections import PORTS, agent, certificates
from triplewire.polling.schedule import Answer, Failed, Followed, Fresh, Gone, Same

_ACCEPT = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml, application/xml;q=0.9, "
    "text/xml;q=0.9, application/json;q=0.8, text/turtle;q=0.8, */*;q=0.1"
)
_PERMANENT = frozenset({301, 308})
_REDIRECTS = _PERMANENT | {302, 303, 307}
_PLEASE_WAIT = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class PollingManners:
    """How servers are asked: seconds for one answer, bytes of it (unpacked), redirects, seconds between two questions
    to one host, hosts at a time; and whether machines of a private network may be asked."""

    timeout: float = 30.0
    most_bytes: int = 16 * 1024 * 1024
    most_redirects: int = 5
    pause: float = 1.0
    hosts: int = 8
    allow_private: bool = False


class Turns:
    """Who may ask now: one connection to a host at a time, with a pause between two, and so many hosts together.

    One for each round; `ended` is kept between rounds and has when each host was last asked.
    """

    def __init__(self, ended: dict[str, float], *, pause: float, hosts: int) -> None:
        self._ended, self._pause = ended, pause
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._room = asyncio.Semaphore(hosts)

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait until this host may be asked."""
        async with self._locks[host]:
            wait = self._ended.get(host, -self._pause) + self._pause - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            try:
                async with self._room:
                    yield
            finally:
                self._ended[host] = time.monotonic()


class _Unusable(Exception):
    """An answer that is no feed; the text says why."""


async def fetch(feed: Followed, manners: PollingManners, turns: Turns) -> Answer:
    """Ask for a feed; whatever goes wrong is a `Failed`."""
    url, moved_to = feed.url, ""
    is_permanent = True
    try:
        for _ in range(manners.most_redirects + 1):
            target = _target(url)
            async with turns.turn(target.raw_host.decode("ascii")), asyncio.timeout(manners.timeout):
                answer = await _asked(feed, target, manners)
            if not isinstance(answer, _Redirect):
                return replace(answer, moved_to=moved_to) if isinstance(answer, Fresh | Same) else answer
            url = urljoin(url, answer.location)
            is_permanent = is_permanent and answer.is_permanent
            moved_to = url if is_permanent else moved_to
    except TimeoutError:
        return Failed(f"no whole answer within {manners.timeout:g} seconds")
    except (_Unusable, AddressRefused) as error:
        return Failed(
            f"{error} (--allow-private lets them be asked)" if isinstance(error, AddressRefused) else str(error)
        )
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        return Failed(f"it cannot be asked: {error or type(error).__name__}")
    return Failed(f"more than {manners.most_redirects} redirects, the last to {url}")


@dataclass(frozen=True, slots=True)
class _Redirect:
    location: str
    is_permanent: bool


def _target(url: str) -> httpx.URL:
    target = httpx.URL(url)
    if target.scheme not in PORTS or not target.host:
        raise _Unusable(f"{url} is not an address of the web (http or https)")
    return target


async def _asked(feed: Followed, target: httpx.URL, manners: PollingManners) -> Answer | _Redirect:
    """One request to one host, at the address that was checked."""
    host = target.raw_host.decode("ascii")
    reach = ANYWHERE if manners.allow_private else PUBLIC
    place = await resolved(host, target.port or PORTS[target.scheme], reach)
    seconds = dict.fromkeys(("connect", "read", "write", "pool"), manners.timeout)
    request = httpx.Request(
        "GET",
        target.copy_with(host=place, username=None, password=None),
        headers=_headers(feed, target),
        extensions={"sni_hostname": host, "timeout": seconds},
    )
    # No connection is kept: those to one address could be for several names, each with its own certificate.
    limits = httpx.Limits(max_keepalive_connections=0)
    async with httpx.AsyncHTTPTransport(verify=certificates(), trust_env=False, limits=limits) as transport:
        response = await transport.handle_async_request(request)
        try:
            return await _understood(response, manners)
        finally:
            await response.aclose()


def _headers(feed: Followed, target: httpx.URL) -> dict[str, str]:
    headers = {
        "Host": target.netloc.decode("ascii"),
        "User-Agent": f"{agent()} (feed reader)",
        "Accept": _ACCEPT,
        "Accept-Encoding": "gzip",
        "Connection": "close",
    }
    if feed.etag:
        headers["If-None-Match"] = feed.etag
    if feed.modified:
        headers["If-Modified-Since"] = feed.modified
    return headers


async def _understood(response: httpx.Response, manners: PollingManners) -> Answer | _Redirect:
    status = response.status_code
    if status == 200:
        body = await _body(response, manners.most_bytes)
        found = response.headers
        return Fresh(body, found.get("content-type", ""), _kept(found.get("etag")), _kept(found.get("last-modified")))
    if status == 304:
        return Same()
    if status in _REDIRECTS and "location" in response.headers:
        return _Redirect(response.headers["location"], status in _PERMANENT)
    if status == 410:
        return Gone()
    wait = retry_after(response.headers.get("retry-after", ""), time.time()) if status in _PLEASE_WAIT else None
    return Failed(f"the server says {status} {response.reason_phrase}".rstrip(), wait)


def _kept(validator: str | None) -> str:
    """The validator, if it can be sent back; else nothing."""
    return validator if validator and validator.isascii() and validator.isprintable() else ""


async def _body(response: httpx.Response, most: int) -> bytes:
    """The body, unpacked as it comes, so that neither it nor what it unpacks to is ever much over the limit."""
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "", "gzip", "x-gzip"):
        raise _Unusable(f"it is packed as {coding}, which was not asked for")
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16) if "gzip" in coding else None
    body, sent = bytearray(), 0
    try:
        async for chunk in response.aiter_raw():
            sent += len(chunk)
            body += chunk if unpacking is None else unpacking.decompress(chunk, most + 1 - len(body))
            if len(body) > most or sent > most:
                raise _Unusable(f"it is longer than {most} bytes")
            if unpacking is not None and unpacking.eof:
                break  # what follows the end is nobody's, and would be kept
    except zlib.error as error:
        raise _Unusable(f"it cannot be unpacked: {error}") from None
    if unpacking is not None and not unpacking.eof:
        raise _Unusable("it ends before it is whole")
    if not body.strip():
        raise _Unusable("the answer is empty")
    return bytes(body)
