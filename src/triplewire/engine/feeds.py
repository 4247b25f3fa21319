"""Feeds as changes of documents: the channel and each item is one, and what is missing stays unless it is dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triplewire.model import Change, Feed, Publish, Retract, item_prefix
from triplewire.store import Reader


def spread(reader: Reader, changes: Sequence[Change]) -> list[Change]:
    """The same changes, with those of a feed's parts in the place of the feed's."""
    return [part for change in changes for part in _parts(reader, change)]


def _parts(reader: Reader, change: Change) -> Iterator[Change]:
    if isinstance(change, Retract):
        yield change
        yield from map(Retract, reader.documents.beginning_with(item_prefix(change.uri)))
    elif not isinstance(change.document, Feed):
        yield change
    else:
        if change.drop_missing:
            yield from map(Retract, reader.documents.beginning_with(item_prefix(change.uri)))
        yield from map(Publish, change.document.parts)
