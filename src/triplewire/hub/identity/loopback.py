"""Loopback: a hub that asks nobody who they are is for programs and people on its own machine, and for nobody else.

A socket on 127.0.0.1 alone does not see to that. A proxy on the same machine passes on what strangers send; a page of
another site asks from a browser on this machine; and a name that an attacker points at 127.0.0.1 makes such a page look
like one of the hub's own (DNS rebinding). Each of them leaves a trace in the headers, and `refuse_strangers` looks for
it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from triplewire.errors import NotAllowed

_PROXIES = re.compile(
    r"forwarded|^via$|(real|client|connecting|user|remote|source|peer)-?(ip|addr)|original-(host|url|uri|proto|for)"
    r"|external-address|cdn-loop|^(cf|fly|fastly|tailscale|x-(azure|appengine|amzn|envoy|arr|goog|vercel))-"
)
"""What proxies, content networks and tunnels add, by what it says and by whose it is; of names with - for _."""
_ONCE = ("host", "origin", "sec-fetch-site")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z.-]+)(:[0-9]*)?")
_OWN_SITE = ("same-origin", "none")
"""What a browser says of the page's own requests, and of an address that its user typed (Sec-Fetch-Site)."""


@lru_cache(maxsize=1_024)
def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=1_024)
def host_of(url: str) -> str:
    """The host that a url names; nothing if it names none.

    >>> host_of("https://hub.example:8443/v1"), host_of("//[::1]:8080"), host_of("hub.example")
    ('hub.example', '::1', '')
    """
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def refuse_strangers(headers: Headers, *, follows_a_link: bool = False) -> None:
    """NotAllowed for what a proxy passes on, and for what a page of another site asks for.

    A browser that `follows_a_link` to the page itself brings nothing with it, and may come from anywhere.
    """
    proxied = next((name for name in headers if _PROXIES.search(name.replace("_", "-"))), None)
    if proxied is not None:
        raise NotAllowed(
            f"this request came through a proxy (it has the header {proxied}), so other machines can ask, and this hub "
            "does not ask who they are: give it `address` or `identity = true` in its settings and make tokens with "
            "`triplewire token create`, or ask it without the proxy"
        )
    twice = next((name for name in _ONCE if len(headers.getlist(name)) > 1), None)
    if twice is not None:
        raise NotAllowed(f"this hub serves its own machine only, and this request has the header {twice} twice")
    host, origin = headers.get("host", ""), headers.get("origin")
    if not _HOST.fullmatch(host) or not is_loopback(host_of(f"//{host}")):
        raise NotAllowed(
            f"this hub serves its own machine only, as 127.0.0.1 or localhost, and not as {host!r}; to serve others, "
            "give it `address` or `identity = true` in its settings and make tokens with `triplewire token create`"
        )
    if origin is not None and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
        raise NotAllowed(f"this hub serves its own machine only, and no page of {origin!r}")
    site = headers.get("sec-fetch-site", _OWN_SITE[0])
    if site not in _OWN_SITE and not follows_a_link:
        raise NotAllowed(f"this hub serves its own page only, and this is the request of another one ({site})")
