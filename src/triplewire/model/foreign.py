"""Foreign documents: those that came from other hubs of a network, and what they are called in this hub's store.

A document of the same uri may be at several hubs, and each of them is another one. So a foreign one is kept under a
name of its own, that no publisher here can take from it, or lose to it; people are told the uri that it has at home.
"""

from __future__ import annotations

_PREFIX = "urn:triplewire:foreign:"


def foreign_uri(origin: str, uri: str) -> str:
    """What a document of another place of the network is called here; places have no colon in their names.

    >>> foreign_uri("corner-5", "urn:doc")
    'urn:triplewire:foreign:corner-5:urn:doc'
    """
    return f"{_PREFIX}{origin}:{uri}"


def is_foreign(uri: str) -> bool:
    """Whether this is what a document of another hub is called here."""
    return uri.startswith(_PREFIX)


def origin_and_uri(uri: str) -> tuple[str, str]:
    """The place that a document came from, and its uri there; of one that was published here, "" and its uri."""
    if not is_foreign(uri):
        return "", uri
    origin, _, own = uri.removeprefix(_PREFIX).partition(":")
    return origin, own


def uri_at_origin(uri: str) -> str:
    """The uri that a document has where it was published.

    >>> uri_at_origin("urn:triplewire:foreign:corner-5:urn:doc"), uri_at_origin("urn:doc")
    ('urn:doc', 'urn:doc')
    """
    return origin_and_uri(uri)[1]


def place_of(uri: str, home: str) -> tuple[str, str]:
    """Where a document of the hub at `home` is from, and its uri there; the same for all hubs of a network.

    >>> place_of("urn:triplewire:foreign:corner-5:urn:doc", "corner-1"), place_of("urn:doc", "corner-1")
    (('corner-5', 'urn:doc'), ('corner-1', 'urn:doc'))
    """
    if not is_foreign(uri):
        return home, uri
    origin, _, own = uri.removeprefix(_PREFIX).partition(":")
    return origin, own


def uri_at(home: str, origin: str, uri: str) -> str:
    """What a document from a place is called in the store of the hub at `home`."""
    return uri if origin == home else foreign_uri(origin, uri)
