"""Which item is which: the resource that it is, and the same item twice.

A name in this order: the RSS guid, Atom or JSON id, or RSS 1.0 `rdf:about`; the link, if no other item without a name
has it and it is not the feed's own page; else a digest of all that the item says, under the feed's uri, so that an
item that nothing names is another one when it changes. Several without a name that say the same are several items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple
from datetime import UTC, datetime
from hashlib import sha256

from pyoxigraph import NamedNode

from triplewire.documents.feeds.entries import FeedItem
from triplewire.model import item_prefix, item_uri

_LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)


def identified(items: Sequence[FeedItem], feed: str, home: str) -> dict[str, int]:
    """From the IRI of each item to its place in the feed, in that order.

    Of several with one name the newest counts; the first, where dates do not tell: feeds begin with the newest.
    """
    links = Counter(item.link for item in items if not item.id)
    nameless: Counter[str] = Counter()
    places: dict[str, int] = {}
    for place, item in enumerate(items):
        is_shared = links[item.link] > 1 or item.link == home
        name = item.id or ("" if is_shared else item.link)
        key = name or _numbered(f"sha256-{_digest(item)}", nameless)
        iri = key if name and is_iri(name) else item_uri(feed, key)
        if iri not in places or _time(item) > _time(items[places[iri]]):
            places[iri] = place
    return places


def _numbered(digest: str, seen: Counter[str]) -> str:
    """The digest of an item that nothing names; those after the first that say the same are told apart by number."""
    seen[digest] += 1
    return digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def document_uri(feed: str, iri: str) -> str:
    """The uri of the document that an item is; the item's own IRI where that is under the feed already."""
    return iri if iri.startswith(item_prefix(feed)) else item_uri(feed, iri)


def is_iri(text: str) -> bool:
    """Whether a text is an absolute IRI."""
    try:
        NamedNode(text)
    except ValueError:
        return False
    return True


def _time(item: FeedItem) -> datetime:
    return item.time or _LONG_AGO


def _digest(item: FeedItem) -> str:
    return sha256(repr(astuple(item)[:-1]).encode()).hexdigest()[:32]
