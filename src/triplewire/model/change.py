"""Changes: what publishers do to documents. Re-registering a document is its update (MDV section 2.2; M4)."""

from __future__ import annotations

from dataclasses import dataclass

from triplewire.model.access import Access
from triplewire.model.document import Document
from triplewire.model.reach import HEIGHTS, NetworkReach


@dataclass(frozen=True, slots=True)
class Publish:
    """Register a document, or replace what is registered under its uri.

    Of a `Feed`, the channel and each item are registered. Items that were in it before and are no more stay, unless
    `drop_missing` says that what is missing is deleted.

    With `access`, it has this list from now on; without, it keeps what it has. `by` is the account that changes it, and
    must be a writer of the list that the document has, if it has one; None may do everything.

    With `reach`, it goes so far in the network of its hub from now on; without, as far as before, and at first through
    all of it. An item of a feed goes no further than the feed.
    """

    document: Document
    drop_missing: bool = False
    access: Access | None = None
    by: str | None = None
    reach: NetworkReach | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.document, Document):
            raise TypeError(f"Publish takes a Document, not {type(self.document).__name__}; make one with parse()")
        if self.reach is not None and self.reach not in HEIGHTS:
            raise ValueError(f"a reach is one of {', '.join(HEIGHTS)}, and not {self.reach!r}")

    @property
    def uri(self) -> str:
        """The uri of the document."""
        return self.document.uri

    def __str__(self) -> str:
        return f"publish {self.uri} ({len(self.document)} triples)"


@dataclass(frozen=True, slots=True)
class Retract:
    """Take a document back, with everything that it states; of a feed, with all items that it ever had.

    Its access list stays, for its history and for the day it comes back. `by` is the account, as in `Publish`.
    """

    uri: str
    by: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.uri, str):
            raise TypeError(f"Retract takes the uri of a document, not {type(self.uri).__name__}")

    def __str__(self) -> str:
        return f"retract {self.uri}"


@dataclass(frozen=True, slots=True)
class Restrict:
    """Give a document another access list; None: it is for everybody again. Of a feed, all items that it ever had.

    Its content and its version stay as they are. `by` is the account, as in `Publish`.
    """

    uri: str
    access: Access | None
    by: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.uri, str) or not isinstance(self.access, Access | None):
            raise TypeError(f"Restrict takes a uri and an Access or None, not {self.uri!r} and {self.access!r}")

    def __str__(self) -> str:
        return f"let {self.uri} be for everybody" if self.access is None else f"let {self.uri} be {self.access}"


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


Change = Publish | Retract | Restrict
"""One change of one document; a batch is a list of them."""
