"""Which machines may be asked: checked by what a name leads to, however it is spelled."""

from __future__ import annotations

import asyncio

import pytest

from triplewire.outbound import ANYWHERE, PUBLIC, AddressRefused, Reach, addresses, resolved
from triplewire.outbound.addresses import is_public


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.5.4",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001:0:53aa:64c:0:0:80ff:fffe",
    ],
)
def test_an_address_that_is_not_of_the_public_internet_is_known(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8"])
def test_a_public_address_is_known(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "::1", "::ffff:7f00:1"]
)
def test_a_name_that_leads_to_this_machine_is_refused_however_it_is_spelled(host):
    with pytest.raises(AddressRefused):
        asyncio.run(resolved(host, 80, PUBLIC))


def test_a_name_with_one_private_address_among_public_ones_is_refused(monkeypatch):
    async def both(*_, **__):
        return [(2, 1, 6, "", ("93.184.216.34", 80)), (2, 1, 6, "", ("10.0.0.1", 80))]

    async def asked():
        monkeypatch.setattr(addresses, "looked_up", both)
        await resolved("two.example", 80, PUBLIC)

    with pytest.raises(AddressRefused):
        asyncio.run(asked())


def test_networks_that_are_allowed_may_be_asked_and_no_others():
    reach = Reach.of("127.0.0.0/8, fd00::/8")
    assert reach.allows("127.1.2.3")
    assert reach.allows("::ffff:127.0.0.1")
    assert reach.allows("fd00::1")
    assert not reach.allows("10.0.0.1")
    assert not reach.allows("::1")
    assert ANYWHERE.allows("10.0.0.1")
    assert Reach.of("private") == ANYWHERE


@pytest.mark.parametrize("text", ["everywhere", "127.0.0.1/8/9", "300.0.0.1"])
def test_what_is_no_network_is_refused(text):
    with pytest.raises(ValueError, match="does not appear to be"):
        Reach.of(text)


def test_what_is_refused_does_not_tell_where_it_is():
    with pytest.raises(AddressRefused) as refused:
        asyncio.run(resolved("localhost", 80, PUBLIC))
    assert "127.0.0.1" not in str(refused.value)
    assert "::1" not in str(refused.value)
