"""Inboxes: where Linked Data Notifications for a thing go (W3C LDN, section 3.1).

The url of a delivery is a target or an inbox itself. The target's Link header names its inbox, or what it says of
itself in JSON-LD or Turtle; what names none is taken for the inbox.
"""

from __future__ import annotations

import re
from urllib.parse import urljoin

from pyoxigraph import NamedNode

from triplewire.documents import Limits, parse
from triplewire.errors import DocumentError
from triplewire.outbound import AddressRefused, Connections, Reply, Unreachable

INBOX = "http://www.w3.org/ns/ldp#inbox"
_ACCEPT = "text/turtle, application/n-triples;q=0.9, */*;q=0.1"
# Possessive, and a target ends at the next `<`: what a receiver sends is read once, whatever it is.
_LINK = re.compile(r"<([^<>]*+)>((?:\s*+;\s*+[\w*-]++\s*+=\s*+(?:\"[^\"]*+\"|[^\s;,\"]++))*+)")
_REL = re.compile(r";\s*+rel\s*+=\s*+(?:\"([^\"]*+)\"|([^\s;,\"]++))", re.IGNORECASE)
_LONGEST = 8_192
"""Characters of a Link header that are looked at."""
_SERVED = ("text/turtle", "application/n-triples")
_LIMITS = Limits(bytes=256 * 1024, triples=10_000, expanded=4 * 1024 * 1024, effort=10_000)
"""Of what a target says of itself: a deliverer reads it between two deliveries to others."""


async def inbox_of(connections: Connections, url: str) -> str:
    """The inbox of what is at a url; the url itself, where it names none."""
    try:
        reply = await connections.ask("GET", url, {"Accept": _ACCEPT})
    except (Unreachable, AddressRefused):
        return url
    return (linked(reply.headers.get("link", ""), url) or _stated(reply, url)) if reply.is_fine else url


def linked(header: str, base: str) -> str | None:
    """The inbox that a Link header names.

    >>> linked('<../inbox/>; rel="http://www.w3.org/ns/ldp#inbox"', "https://a.example/things/1")
    'https://a.example/inbox/'
    """
    for target, parameters in _LINK.findall(header[:_LONGEST]):
        relations = [quoted or plain for quoted, plain in _REL.findall(parameters)]
        if any(INBOX in relation.split() for relation in relations):
            return str(urljoin(base, target))
    return None


def _stated(reply: Reply, url: str) -> str:
    """The inbox that the body states for the url."""
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _SERVED:
        return url
    try:
        stated = parse(reply.body, uri=url, media_type=kind, limits=_LIMITS).triples
    except DocumentError:
        return url
    target = NamedNode(url)
    found = [
        triple.object.value
        for triple in stated
        if triple.predicate.value == INBOX and triple.subject == target and isinstance(triple.object, NamedNode)
    ]
    return found[0] if found else url
