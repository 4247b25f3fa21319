"""What goes over HTTP, and what is made of what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from triplewire.errors import BadRequest, DocumentError
from triplewire.model import Access, Change, Document, Feed, Restrict, Retract, Time, moment

XML = "application/xml"


def path_of(id: str, *rest: str) -> str:
    return "/".join(["/subscriptions", quote(id, safe=""), *rest])


def content_of(document: Document) -> tuple[bytes, str]:
    """A document as it is sent, and its media type."""
    if isinstance(document, Feed):
        raise BadRequest("a feed goes over HTTP as it is: publish its bytes, with its uri")
    return (document.xml, XML) if document.xml else (document.ntriples, "application/n-triples")


def change_as_one(change: Change) -> dict[str, Any]:
    """A change as one of several."""
    if isinstance(change, Retract):
        return {"uri": change.uri, "retract": True}
    access = None if change.access is None else {"readers": change.access.readers, "writers": change.access.writers}
    if isinstance(change, Restrict):
        return {"uri": change.uri, "access": access}
    content, media_type = content_of(change.document)
    told = {"uri": change.uri, "content": content.decode(), "media_type": media_type}
    told |= {} if change.reach is None else {"reach": change.reach}
    return told if access is None else told | {"access": access}


def headers_of(batch: str | None, wait: bool) -> dict[str, str]:
    return ({} if batch is None else {"Idempotency-Key": batch}) | ({"Prefer": "wait"} if wait else {})


def list_as_params(access: Access) -> dict[str, Any]:
    """An access list as the parameters of a publication; one without names must be said, too."""
    return {"reader": [*access.readers] or [""], "writer": [*access.writers]}


def encoded(text: str, uri: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise DocumentError(f"character {error.start} is half of a surrogate pair, not text", uri=uri) from None


def query_as_json(text: str, language: str, prefixes: Mapping[str, str] | None) -> dict[str, Any]:
    return {"text": text, "language": language, "prefixes": dict(prefixes or {})}


def times_as_params(since: Time | None, until: Time | None) -> dict[str, str]:
    """Times as the parameters of a question."""
    asked = {"since": since, "until": until}
    return {name: moment(time).isoformat() for name, time in asked.items() if time is not None}
