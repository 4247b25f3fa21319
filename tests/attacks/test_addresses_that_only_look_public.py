"""Events sent to addresses that are nobody's on the public internet, and perhaps somebody's inside."""

import pytest

from triplewire.outbound import ANYWHERE, PUBLIC, Reach
from triplewire.outbound.addresses import is_public

INSIDE = [
    "fec0::1",  # site-local
    "feff::1",
    "192.88.99.1",  # a relay of 6to4
    "2002:c058:6301::1",  # the same by 6to4
    "::ffff:192.88.99.1",
    "64:ff9b::192.88.99.1",
    "64:ff9b:1::a00:1",  # NAT64 of a local network
    "::127.0.0.1",  # as IPv6 once wrote IPv4
    "::ffff:0:127.0.0.1",
    "100::1",  # what is thrown away
    "5f00::1",  # segment routing
    "3fff::1",  # documentation
    "2001:db8::1",
    "2001:2::1",  # benchmarks
    "2001:20::1",
    "4000::1",  # given to nobody
    "192.0.0.9",
    "192.0.0.171",
    "198.18.0.1",
    "203.0.113.7",
    "240.0.0.1",
    "fec0::1%eth0",
]


@pytest.mark.parametrize("address", INSIDE)
def test_address_that_is_not_routed_everywhere_is_refused(address):
    assert not is_public(address)
    assert not PUBLIC.allows(address)
    assert ANYWHERE.allows(address)


def test_site_that_is_allowed_by_name_is_asked():
    assert Reach.of("fec0::/10").allows("fec0::1")


@pytest.mark.parametrize("address", ["1.1.1.1", "192.88.98.1", "2606:4700:4700::1111", "64:ff9b::808:808"])
def test_address_of_the_public_internet_is_asked(address):
    assert PUBLIC.allows(address)
