"""Which machines may be asked: those of the public internet, and of networks that are allowed by name.

An address comes from strangers: by a name that means 127.0.0.1, or a redirect to it, they could have a hub ask
services that trust their own network. So names are resolved here, every address is checked, and the connection goes
to the very address that was checked, not to the name, which could mean another one a moment later.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from triplewire.outbound.lookups import looked_up

_NAT64 = IPv6Network("64:ff9b::/96")
_UNICAST = IPv6Network("2000::/3")
"""All of IPv6 that is given out for the public internet; what stands for an address of IPv4 is judged as that."""
_SPECIAL = tuple(
    map(
        ip_network,
        (
            "192.0.0.0/24",  # of protocols
            "192.31.196.0/24",  # AS112
            "192.52.193.0/24",  # AMT
            "192.88.99.0/24",  # relays of 6to4, no longer in use
            "192.175.48.0/24",  # AS112
            "2001::/23",  # of protocols; Teredo is judged as IPv4
            "2002::/16",  # 6to4, likewise
            "2620:4f:8000::/48",  # AS112
            "3fff::/20",  # for documentation
        ),
    )
)
"""What the registries of special addresses list, and Python takes for public, in one of its versions at least.

https://www.iana.org/assignments/iana-ipv4-special-registry, https://www.iana.org/assignments/iana-ipv6-special-registry
"""
_LOOKUP = 5.0


class AddressRefused(Exception):
    """A machine that may not be asked; the text says why, and not where it is."""


class Nameless(AddressRefused):
    """A name that has no address; it may have one later."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The networks that may be asked besides the public internet.

    >>> Reach.of("127.0.0.0/8, ::1").allows("127.0.0.9"), PUBLIC.allows("127.0.0.9"), ANYWHERE.allows("10.0.0.1")
    (True, False, True)
    """

    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def of(cls, text: str) -> Reach:
        """As people write it: addresses and networks, with commas; "private" means everywhere. ValueError if not."""
        if text.strip() == "private":
            return ANYWHERE
        return cls(tuple(ip_network(part.strip()) for part in text.split(",") if part.strip()))

    def allows(self, address: str) -> bool:
        """Whether this address may be asked."""
        if is_public(address):
            return True
        meant = _meant(ip_address(address.partition("%")[0]))
        return any(meant.version == network.version and meant in network for network in self.networks)


PUBLIC = Reach()
ANYWHERE = Reach((IPv4Network("0.0.0.0/0"), IPv6Network("::/0")))


async def resolved(host: str, port: int, reach: Reach) -> str:
    """The address to connect to for a host; `AddressRefused` if it has none, or one that must not be asked."""
    try:
        async with asyncio.timeout(_LOOKUP):
            found = await looked_up(host, port)
    except (OSError, UnicodeError) as error:
        raise Nameless(f"the name {host!r} has no address ({error or 'nobody answered in time'})") from None
    addresses = [str(place[0]) for *_, place in found]
    if not all(reach.allows(address) for address in addresses):
        raise AddressRefused(f"{host} is not a public address, and only these may be asked unless others are allowed")
    return addresses[0]


def is_public(text: str) -> bool:
    """Whether an address is one of the public internet.

    >>> [is_public(a) for a in ("93.184.216.34", "127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:10.0.0.1")]
    [True, False, False, False, False, False]
    """
    address = _meant(ip_address(text.partition("%")[0]))
    if isinstance(address, IPv6Address) and address not in _UNICAST:
        return False
    if any(address.version == network.version and address in network for network in _SPECIAL):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _meant(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 address stands for, if it does: as such, by 6to4, Teredo or NAT64."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)
