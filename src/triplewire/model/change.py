"""Changes: what publishers do to documents. Re-registering a document is its update (MDV section 2.2; M4)."""

from __future__ import annotations

from dataclasses import dataclass

from triplewire.model.document import Document


@dataclass(frozen=True, slots=True)
class Publish:
    """Register a document, or replace what is registered under its uri.

    Of a `Feed`, the channel and each item are registered. Items that were in it before and are no more stay, unless
    `drop_missing` says that what is missing is deleted.
    """

    document: Document
    drop_missing: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.document, Document):
            raise TypeError(f"Publish takes a Document, not {type(self.document).__name__}; make one with parse()")

    @property
    def uri(self) -> str:
        """The uri of the document."""
        return self.document.uri

    def __str__(self) -> str:
        return f"publish {self.uri} ({len(self.document)} triples)"


@dataclass(frozen=True, slots=True)
class Retract:
    """Take a document back, with everything that it states; of a feed, with all items that it ever had."""

    uri: str

    def __post_init__(self) -> None:
        if not isinstance(self.uri, str):
            raise TypeError(f"Retract takes the uri of a document, not {type(self.uri).__name__}")

    def __str__(self) -> str:
        return f"retract {self.uri}"


@dataclass(frozen=True, slots=True)
class Unread:
    """A document as it was sent: bytes, which are parsed when it is applied. What is wrong with it turns out then."""

    uri: str
    content: bytes
    media_type: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.uri, str) or not isinstance(self.content, bytes):
            raise TypeError(f"Unread takes a uri and bytes, not {self.uri!r} and {type(self.content).__name__}")

    def __str__(self) -> str:
        return f"publish {self.uri} ({len(self.content)} bytes)"


Change = Publish | Retract
"""One change of one document; a batch is a list of them."""
