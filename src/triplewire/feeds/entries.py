"""What a feed says of an event, whatever its syntax."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from pyoxigraph import Literal, NamedNode, Triple

from triplewire.model import RDFS, Event, Excerpt, Row, Time, moment
from triplewire.model.characters import NOT_IN_XML

TITLES = (
    "http://purl.org/dc/terms/title",
    "http://purl.org/rss/1.0/title",
    RDFS + "label",
    "http://purl.org/dc/elements/1.1/title",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "https://schema.org/name",
    "http://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
)
"""The properties that give a resource its title, the first that it has."""

NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_SAID = {"matched": "Matches", "changed": "Changed", "unmatched": "No longer matches"}
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An event to be told: `id` is the event's, `row_id` is the same for all events of one row.

    `title` names what the row is about; `headline` says as well what became of it; `link` is its first web address.
    """

    id: str
    row_id: str
    kind: str
    title: str
    link: str | None
    text: str
    time: datetime

    @property
    def headline(self) -> str:
        """The title, with what happened where that is not simply a match."""
        return self.title if self.kind == "matched" else f"{_SAID[self.kind]}: {self.title}"


def entries(events: Iterable[Event], *, uri: str) -> list[FeedEntry]:
    """An entry for each event, the newest first."""
    _require_absolute(uri)
    newest_first = sorted(events, key=lambda event: event.cursor, reverse=True)
    return [_entry(event, uri) for event in newest_first]


def rfc3339(time: datetime) -> str:
    """A time as Atom and JSON Feed write it."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def newest(found: list[FeedEntry], updated: Time | None) -> datetime:
    """When the feed was last new: as it is said, else the newest event's time, else never."""
    return moment(updated) if updated is not None else max((entry.time for entry in found), default=NEVER)


def legal(text: str) -> str:
    """A text without the characters that XML has not."""
    return NOT_IN_XML.sub("\ufffd", text)


def _entry(event: Event, uri: str) -> FeedEntry:
    within = f"{uri}{'&' if '#' in uri else '#'}"
    return FeedEntry(
        id=f"{within}event-{event.cursor}",
        row_id=f"{within}row-{_digest(event.identity)}",
        kind=event.kind,
        title=legal(_title(event)),
        link=next((t.value for t in event.row.values() if isinstance(t, NamedNode) and _is_web(t.value)), None),
        text=legal(_text(event)),
        time=event.time,
    )


def _require_absolute(uri: str) -> None:
    try:
        NamedNode(uri)
    except ValueError as error:
        raise ValueError(f"the uri of a feed must be an absolute IRI: {error}") from None


def _digest(row: Row) -> str:
    return sha256("\n".join(sorted(f"{name}={term}" for name, term in row.items())).encode()).hexdigest()[:32]


def _title(event: Event) -> str:
    """Of the first resource in the row that has one; otherwise the row itself."""
    content = event.before if event.kind == "unmatched" else event.after
    about = event.triples if content is None or isinstance(content, Excerpt) else (*content, *event.triples)
    titles = (_title_of(term, about) for term in event.row.values() if isinstance(term, NamedNode))
    return next((title for title in titles if title), str(event.row))


def _title_of(resource: NamedNode, about: Iterable[Triple]) -> str:
    found = [
        (TITLES.index(triple.predicate.value), triple.object.value)
        for triple in about
        if triple.subject == resource and triple.predicate.value in TITLES and isinstance(triple.object, Literal)
    ]
    return _SPACE.sub(" ", min(found)[1]).strip() if found else ""


def _text(event: Event) -> str:
    said = f"{_SAID[event.kind]} {event.subscription}"
    columns = [f"{name}: {term if not isinstance(term, Literal) else term.value}" for name, term in event.row.items()]
    documents = [f"document: {document}" for document in event.documents]
    return "\n".join([said, *columns, *documents])


def _is_web(iri: str) -> bool:
    return iri.startswith(("http://", "https://"))
