"""Which machines may be asked: those of the public internet, unless private ones are allowed.

A feed's address comes from strangers: by a name that means 127.0.0.1, or a redirect to it, they could have a hub ask
services that trust their own network. So names are resolved here, every address is checked, and the connection goes
to the very address that was checked, not to the name, which could mean another one a moment later.
"""

from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_NAT64 = IPv6Network("64:ff9b::/96")


class Refused(Exception):
    """A machine that may not be asked; the text says why."""


async def resolved(host: str, port: int, *, allow_private: bool) -> str:
    """The address to connect to for a host; `Refused` if it has none, or one that is not public."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Refused(f"the name {host!r} has no address ({error})") from None
    addresses = [str(place[0]) for *_, place in found]
    for address in addresses:
        if not allow_private and not is_public(address):
            raise Refused(f"{host} is at {address}, which is not a public address; --allow-private lets it be asked")
    return addresses[0]


def is_public(text: str) -> bool:
    """Whether an address is one of the public internet.

    >>> [is_public(a) for a in ("93.184.216.34", "127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:10.0.0.1")]
    [True, False, False, False, False, False]
    """
    address = _meant(ip_address(text.partition("%")[0]))
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _meant(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 address stands for, if it does: as such, by 6to4, Teredo or NAT64."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)
