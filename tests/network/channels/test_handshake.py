"""The handshake: who is who, and what fails (P8, X8)."""

from __future__ import annotations

import pytest

from triplewire.errors import ChannelRefused, NetworkError
from triplewire.network.channels.handshake import DIALS, IS_DIALLED, HandshakeEnd, welcomed
from triplewire.network.channels.identities import HubIdentity, is_name_of

HARBOUR, HILL, EVE = (HubIdentity.new(name) for name in ("harbour", "hill", "eve"))


def ends(dials=HARBOUR, dialled=HILL, nonces=("a" * 64, "b" * 64), **certificates):
    first = HandshakeEnd(dials, nonces[0], DIALS, certificate=certificates.get("seen", ""))
    return first, HandshakeEnd(dialled, nonces[1], IS_DIALLED, certificate=certificates.get("served", ""))


def shake(one, other):
    """Both say hello and prove who they are; gives the proofs."""
    other.meet(one.hello)
    told = other.hello | {"proof": other.proof()}
    one.meet(told)
    one.check(told)
    proof = {"proof": one.proof()}
    other.check(proof)
    return told, proof


def test_both_ends_prove_who_they_are():
    one, other = ends()
    shake(one, other)
    assert (one.other.name, other.other.name) == (HILL.name, HARBOUR.name)


def test_name_carries_the_fingerprint_of_its_key():
    assert is_name_of(HARBOUR.name, HARBOUR.public_key)
    assert not is_name_of(HARBOUR.name, EVE.public_key)
    assert not is_name_of("harbour", HARBOUR.public_key)
    assert not is_name_of(HARBOUR.name, "no key")
    with pytest.raises(NetworkError, match="small letters"):
        HubIdentity.new("Not A Name")
    assert HARBOUR.pem not in repr(HARBOUR)


def test_hub_that_takes_the_name_of_another_with_its_own_key_is_refused():
    _, other = ends()
    lie = {"hello": ends(dials=EVE)[0].hello["hello"] | {"name": HARBOUR.name}}
    with pytest.raises(ChannelRefused, match="not the name of the key"):
        other.meet(lie)


def test_hub_that_takes_the_name_and_the_public_key_of_another_cannot_prove_it():
    one, other = ends()
    other.meet(one.hello)
    liar = HandshakeEnd(EVE, "a" * 64, DIALS)
    liar.meet(other.hello)
    with pytest.raises(ChannelRefused, match="does not prove it"):
        other.check({"proof": liar.proof()})


def test_captured_handshake_is_of_no_use_again():
    """A replay meets another nonce."""
    _, proof = shake(*ends())
    one, other = ends(nonces=("a" * 64, "c" * 64))
    other.meet(one.hello)
    with pytest.raises(ChannelRefused, match="does not prove it"):
        other.check(proof)


def test_proof_of_one_role_is_none_of_the_other():
    """A hub that sends back what it was sent proves nothing."""
    one, other = ends()
    other.meet(one.hello)
    told = other.hello | {"proof": other.proof()}
    with pytest.raises(ChannelRefused, match="does not prove it"):
        other.check({"proof": told["proof"]})
    with pytest.raises(ChannelRefused, match="this hub itself"):
        one.meet(one.hello)


def test_another_hub_than_the_one_that_was_dialled_is_refused():
    one, other = ends(dialled=EVE)
    with pytest.raises(ChannelRefused, match=f"{HILL.name} was expected"):
        one.meet(other.hello, expected=HILL.name)


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_other_versions_of_the_protocol_are_refused_in_words(version):
    """Hubs of two versions refuse each other clearly, never half."""
    one, other = ends()
    with pytest.raises(ChannelRefused, match=r"version .* of the protocol, and this hub version 1: update the older"):
        other.meet({"hello": one.hello["hello"] | {"version": version}})


@pytest.mark.parametrize(
    "told",
    [None, [], {}, {"hello": 3}, {"hello": {"version": 1}}, {"hello": {"version": 1, "name": 1, "key": 2, "nonce": 3}}],
)
def test_what_is_no_hello_is_refused(told):
    with pytest.raises(ChannelRefused):
        ends()[1].meet(told)


def test_short_nonce_is_refused():
    one, other = ends(nonces=("a", "b" * 64))
    with pytest.raises(ChannelRefused, match="nonce"):
        other.meet(one.hello)


def test_machine_between_two_hubs_with_a_certificate_of_its_own_is_noticed():
    one, other = ends(seen="of eve", served="of hill")
    with pytest.raises(ChannelRefused, match="something is between"):
        one.meet(other.hello)
    shake(*ends(seen="of hill", served="of hill"))
    shake(*ends(seen="of a proxy", served=""))


def test_reason_of_a_refusal_is_told():
    with pytest.raises(ChannelRefused, match="no account here"):
        welcomed({"refused": "its key is that of no account here"})
    with pytest.raises(ChannelRefused, match="does not say why"):
        welcomed([])
    welcomed({"welcome": True})
