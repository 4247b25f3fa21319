"""Subscriptions that came in a feed: an item whose title is a language, with the query in its description.

So G-ToPSS had it (section 6, figure 12: title GQL); here every language may be meant. Nothing is registered by reading:
the caller decides whether the items of a feed may ask.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree
from pyoxigraph import Literal, NamedNode

from triplewire.documents import parse
from triplewire.languages import LANGUAGES
from triplewire.model import Document, Feed, Subscription, item_uri

_ITEM = NamedNode("http://purl.org/rss/1.0/item")
_TITLE = NamedNode("http://purl.org/rss/1.0/title")
_DESCRIPTION = NamedNode("http://purl.org/rss/1.0/description")
_TEXTS = ("description", "summary", "content")


def subscriptions_in(data: Document | bytes | str, *, uri: str = "urn:triplewire:feed") -> list[Subscription]:
    """The subscriptions in a feed, each with its item's IRI as its id; their texts are not compiled yet.

    >>> item = "<guid>urn:q</guid><title>GQL</title><description>SELECT ?x WHERE (?x, Year, 2005)</description>"
    >>> subscriptions_in(f'<rss version="2.0"><channel><item>{item}</item></channel></rss>')[0].text
    'SELECT ?x WHERE (?x, Year, 2005)'
    """
    feed = data if isinstance(data, Document) else parse(data, uri=uri)
    found = (_subscription(feed.uri, item) for item in feed.items) if isinstance(feed, Feed) else ()
    return [subscription for subscription in found if subscription is not None]


def _subscription(feed: str, item: Document) -> Subscription | None:
    iri = _iri_of(feed, item)
    title, texts = _as_written(item) if item.xml else _as_stated(item, iri)
    language = title.strip().casefold()
    text = next((text.strip() for text in texts if text.strip()), "")
    return Subscription(iri.value, text, language) if language in LANGUAGES and text else None


def _iri_of(feed: str, item: Document) -> NamedNode:
    """The resource that an item's document is about: it is in the document's uri."""
    subjects = {triple.subject for triple in item.triples if triple.object == _ITEM}
    named = (subject for subject in subjects if isinstance(subject, NamedNode))
    return next(iri for iri in named if item.uri in (iri.value, item_uri(feed, iri.value)))


def _as_written(item: Document) -> tuple[str, list[str]]:
    """From the XML: an `<iri>` in a query would pass for markup in what is stated."""
    root = etree.fromstring(item.xml, etree.XMLParser(resolve_entities=False, no_network=True))
    element = next(each for each in root.iter() if _local(each) in ("item", "entry"))
    texts = {_local(child): "".join(child.itertext()) for child in reversed(element)}
    return texts.get("title", ""), [texts.get(name, "") for name in _TEXTS]


def _as_stated(item: Document, iri: NamedNode) -> tuple[str, list[str]]:
    def values(property: NamedNode) -> Iterator[str]:
        for triple in item.triples:
            if triple.subject == iri and triple.predicate == property and isinstance(triple.object, Literal):
                yield triple.object.value

    return next(values(_TITLE), ""), [*values(_DESCRIPTION)]


def _local(element: etree._Element) -> str:
    return str(etree.QName(element).localname) if isinstance(element.tag, str) else ""
