"""Changes as they are told: what became of a document, of a batch, and which access list a document has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from triplewire.errors import TriplewireError
from triplewire.model import Access, Event
from triplewire.tables import Outcome
from triplewire.wire.events import EventTold
from triplewire.wire.problems import error_of, problem_of


@dataclass(frozen=True, kw_only=True)
class BatchTold:
    """What became of a batch; its events are there if its sender asked for them."""

    batch: str
    warnings: list[dict[str, Any]]
    errors: list[dict[str, Any]]
    events: list[EventTold] | None = None

    def outcome(self, event_of: Callable[[EventTold], Event]) -> Outcome:
        """The same as a hub gives it."""
        events = [event_of(each) for each in self.events or ()]
        warnings: Any = [error_of(each) for each in self.warnings]
        errors: Any = [error_of(each) for each in self.errors]
        return Outcome(self.batch, len(events), lambda: events, warnings, errors)


def batch_as_dict(
    batch: str,
    warnings: Iterable[TriplewireError],
    errors: Iterable[TriplewireError],
    events: Sequence[dict[str, Any]] | None,
) -> dict[str, Any]:
    """A `BatchTold`, ready for JSON, of events that are."""
    told = {
        "batch": batch,
        "warnings": [problem_of(warning) for warning in warnings],
        "errors": [problem_of(error) for error in errors],
    }
    return told if events is None else told | {"events": [*events]}


@dataclass(frozen=True, kw_only=True)
class DocumentTold:
    """What became of a document in a batch."""

    uri: str
    version: int
    etag: str | None
    changed: bool


@dataclass(frozen=True, kw_only=True)
class ChangeTold(BatchTold, DocumentTold):
    """What became of a document that was sent."""


@dataclass(frozen=True, kw_only=True)
class BundleTold(BatchTold):
    """What became of several changes."""

    documents: list[DocumentTold]


@dataclass(frozen=True)
class AccessTold:
    """The access list of a document, by the ids of accounts; null where it has none, and is for everybody."""

    uri: str
    readers: Sequence[str] | None
    writers: Sequence[str] | None

    @classmethod
    def of(cls, uri: str, access: Access | None) -> AccessTold:
        """What is told of a document with this list."""
        return cls(uri, None, None) if access is None else cls(uri, access.readers, access.writers)

    @property
    def access(self) -> Access | None:
        """The list that is told."""
        return None if self.readers is None else Access(self.readers, self.writers or ())
