"""From well-formed XML to a channel and its items, by feedparser: the dialects differ no more after this.

feedparser knows the names that each dialect has for a thing, and its dates. Markup is left to `hypertext`.
"""

from __future__ import annotations

import re
from calendar import timegm
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from triplewire.documents.feeds import hypertext
from triplewire.errors import DocumentError

_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d))?")


@dataclass(frozen=True, slots=True)
class Media:
    """A file that comes with an item."""

    address: str
    type: str = ""
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Channel:
    """What a feed says of itself; what it does not say is empty. `home` is its page, as an address."""

    title: str = ""
    home: str = ""
    description: str = ""
    language: str = ""
    rights: str = ""
    image: str = ""
    creators: tuple[str, ...] = ()
    updated: datetime | None = None


@dataclass(frozen=True, slots=True)
class FeedItem:
    """What a feed says of an item: texts without markup, `content` with it, addresses resolved."""

    id: str = ""
    title: str = ""
    link: str = ""
    description: str = ""
    content: str = ""
    language: str = ""
    rights: str = ""
    creators: tuple[str, ...] = ()
    contributors: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    published: datetime | None = None
    updated: datetime | None = None
    media: tuple[Media, ...] = ()
    images: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    licenses: tuple[str, ...] = ()
    discussion: str = ""
    comments: int | None = None
    base: str = field(default="", compare=False)

    @property
    def time(self) -> datetime | None:
        """When it was last said to be new."""
        return self.updated or self.published


def entries(xml: bytes, uri: str) -> tuple[Channel, list[FeedItem]]:
    """The channel and its items, in the order of the feed."""
    import feedparser  # loads much that only feeds need

    headers = {"content-type": "application/xml; charset=utf-8", "content-location": uri}
    try:
        found = feedparser.parse(
            BytesIO(xml), response_headers=headers, sanitize_html=False, resolve_relative_uris=False
        )
    except Exception as error:  # some addresses and dates it cannot take, and says so in many ways
        raise DocumentError(f"not readable as a feed: {error}", uri=uri) from error
    channel = _channel(found.feed, uri)
    return channel, [_item(entry, uri) for entry in found.entries]


def _get(found: Any, key: str) -> Any:
    """What is there under this very name: feedparser's own lookup would give another date for one that is missing.

    None where nothing is, or where it is no object that has names.
    """
    return dict.get(found, key) if isinstance(found, dict) else None


def _channel(feed: Any, uri: str) -> Channel:
    base = _base(feed, "title", uri)
    return Channel(
        title=_text(feed, "title"),
        home=_home(feed, base),
        description=_text(feed, "subtitle"),
        language=_get(feed, "language") or "",
        rights=_text(feed, "rights"),
        image=_address(_get(_get(feed, "image"), "href") or _get(feed, "logo"), base),
        creators=_names(feed, "authors"),
        updated=_time(feed, "updated") or _time(feed, "published"),
    )


def _home(feed: Any, base: str) -> str:
    """The feed's page: feedparser takes an Atom id for a link where there is none."""
    links = [link for link in _links(feed) if _get(link, "rel") == "alternate"]
    return _address(_get(links[0], "href"), base) if links else ""


def _item(entry: Any, uri: str) -> FeedItem:
    base = _base(entry, "content", _base(entry, "summary", _base(entry, "title", uri)))
    links = _links(entry)
    source = _get(entry, "source")
    thumbnails = [_get(each, "url") for each in _get(entry, "media_thumbnail") or ()]
    pictures = [_get(link, "href") for link in links if _get(link, "rel") == "image"]
    return FeedItem(
        id=hypertext.plain(_get(entry, "id") or ""),
        title=_text(entry, "title"),
        link=next(iter(_of_relation(links, "alternate", base)), "") or _address(_link_of(entry), base),
        description=_description(entry),
        content=_content(entry, base),
        language=_get(entry, "language") or _language(entry),
        rights=_text(entry, "rights"),
        creators=_names(entry, "authors"),
        contributors=_names(entry, "contributors"),
        subjects=_subjects(entry),
        published=_time(entry, "published") or _time(entry, "created"),
        updated=_time(entry, "updated"),
        media=_media(entry, links, base),
        images=_addresses([*thumbnails, _get(_get(entry, "image"), "href"), *pictures], base),
        related=_of_relation(links, "related", base),
        sources=(*_of_relation(links, "via", base), *_addresses([_get(source, "href") or _get(source, "id")], base)),
        licenses=_of_relation(links, "license", base),
        discussion=_address(_get(entry, "comments"), base) or next(iter(_of_relation(links, "replies", base)), ""),
        comments=_count(_get(entry, "slash_comments") or _get(entry, "thr_total")),
        base=base,
    )


def _links(found: Any) -> list[Any]:
    return [link for link in _get(found, "links") or () if _get(link, "href")]


def _link_of(entry: Any) -> str:
    """The link of an item without one is its guid, unless that says that it is none."""
    link = _get(entry, "link") or ""
    return link if _get(entry, "guidislink") and "://" in link else ""


def _base(found: Any, key: str, otherwise: str) -> str:
    details = _get(found, "content") if key == "content" else [_get(found, f"{key}_detail")]
    bases = [_get(detail, "base") for detail in details or ()]
    return next((base for base in bases if base), otherwise)


def _language(entry: Any) -> str:
    """feedparser keeps the language of an item with its texts."""
    detail = _get(entry, "title_detail") or _get(entry, "summary_detail")
    return _get(detail, "language") or ""


def _text(found: Any, key: str) -> str:
    value, detail = _get(found, key) or "", _get(found, f"{key}_detail")
    return hypertext.plain(value) if _get(detail, "type") == "text/plain" else hypertext.text_of(value)


def _description(entry: Any) -> str:
    """The words of an item: its description, else those of its content."""
    words = _text(entry, "summary") if _has_summary(entry) else ""
    return words or hypertext.text_of(" ".join(_marked_up(entry)))


def _has_summary(entry: Any) -> bool:
    """Whether the feed has one; where it has only content, feedparser repeats that under this name."""
    return isinstance(_get(entry, "summary_detail"), dict)


def _content(entry: Any, base: str) -> str:
    """The markup of an item: its content, or its description where that has any."""
    pieces = _marked_up(entry)
    if not pieces and _has_summary(entry) and _get(_get(entry, "summary_detail"), "type") != "text/plain":
        summary = _get(entry, "summary") or ""
        pieces = [summary] if hypertext.has_markup(summary) else []
    return hypertext.clean("\n".join(pieces), base)


def _marked_up(entry: Any) -> list[str]:
    """Content of all types as HTML; what is neither text nor markup, such as base64, is left out."""
    found = []
    for content in _get(entry, "content") or ():
        value, kind = _get(content, "value") or "", _get(content, "type") or "text/html"
        if kind == "text/plain":
            found.append(value.replace("&", "&amp;").replace("<", "&lt;"))
        elif "html" in kind:
            found.append(value)
    return found


def _names(found: Any, key: str) -> tuple[str, ...]:
    people = _get(found, key) or ()
    names = [hypertext.text_of(_get(person, "name") or _get(person, "email") or "") for person in people]
    return tuple(dict.fromkeys(name for name in names if name))


def _subjects(entry: Any) -> tuple[str, ...]:
    terms = [_get(tag, "label") or _get(tag, "term") or "" for tag in _get(entry, "tags") or ()]
    return tuple(dict.fromkeys(text for term in terms if (text := hypertext.text_of(term))))


def _media(entry: Any, links: list[Any], base: str) -> tuple[Media, ...]:
    """Enclosures, and the files of Media RSS."""
    files = [(_get(link, "href"), link, "length") for link in links if _get(link, "rel") == "enclosure"]
    files += [(_get(each, "url"), each, "filesize") for each in _get(entry, "media_content") or ()]
    found: dict[str, Media] = {}
    for given, about, length in files:
        if address := _address(given, base):
            found.setdefault(address, Media(address, _get(about, "type") or "", _count(_get(about, length))))
    return tuple(found.values())


def _of_relation(links: list[Any], relation: str, base: str) -> tuple[str, ...]:
    return _addresses([_get(link, "href") for link in links if _get(link, "rel") == relation], base)


def _addresses(given: list[Any], base: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(address for each in given if (address := _address(each, base))))


def _address(given: Any, base: str) -> str:
    return (hypertext.safe_address(given, base) or "") if isinstance(given, str) and given.strip() else ""


def _count(given: Any) -> int | None:
    return int(given) if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) < 16 else None


def _time(found: Any, key: str) -> datetime | None:
    """A date that was given and is one; none is made up, though feedparser takes a 30th of February for a date."""
    parsed, text = _get(found, f"{key}_parsed"), _get(found, key)
    try:
        if isinstance(text, str) and (iso := _ISO_DATE.match(text.strip())):
            datetime(*(int(part or 0) for part in iso.groups()))  # type: ignore[arg-type]  # five numbers
        return None if parsed is None else datetime.fromtimestamp(timegm(parsed), UTC)
    except (ValueError, OverflowError, TypeError):
        return None
