"""Where messages may go: what a url must be, and whether the machine behind it may be asked."""

from __future__ import annotations

from urllib.parse import urlsplit

from triplewire.errors import BadRequest, TargetRefused
from triplewire.outbound import AddressRefused, Nameless, Reach, resolved
from triplewire.outbound.connections import PORTS

_LONGEST = 2_000


def refuse_bad_url(url: str) -> None:
    """BadRequest for what is no address of the web that a message can be sent to."""
    try:
        parts = urlsplit(url)
        is_fine = parts.scheme in PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_fine = False
    if not is_fine or len(url) > _LONGEST or not url.isascii() or not url.isprintable() or " " in url:
        raise BadRequest(
            f"{url[:100]!r} is no address to send to: write http:// or https://, a host and a path in ASCII, "
            f"{_LONGEST} characters at most"
        )
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise BadRequest("an address to send to has no user name, password or fragment; use a path that nobody guesses")


async def refuse_unreachable(url: str, reach: Reach) -> None:
    """TargetRefused for an address that must not be asked. What has no address just now may have one later."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    try:
        await resolved(parts.hostname, parts.port or PORTS[parts.scheme], reach)
    except Nameless:
        return
    except AddressRefused as error:
        raise TargetRefused(f"{error}; whoever runs this hub can allow networks with the setting `reach`") from None
