"""A settlement: many changes are applied, and what is bad among them is refused alone, with its reason.

A batch is whole or not at all. Where changes were put together only to save time, one bad document is no reason to
refuse the others: it is left out, if the error names it; else the changes are tried by halves, until one stands alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from triplewire.errors import DocumentError, StoreError, TriplewireError
from triplewire.intake.entries import is_refused
from triplewire.model import Change, Feed, Publish
from triplewire.tables import Outcome


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that was not applied, and why."""

    uri: str
    error: TriplewireError


def settle(changes: Sequence[Change], apply: Callable[[Sequence[Change]], Outcome]) -> Iterator[Outcome | Refused]:
    """What becomes of the changes, in their order; StoreError if that is what failed, since it is nobody's fault."""
    left = list(changes)
    while left:
        try:
            outcome = apply(left)
        except StoreError:
            raise
        except TriplewireError as error:
            if isinstance(error, DocumentError) and any(is_refused(change, error) for change in left):
                yield Refused(error.uri, error)
                left = list(_without(left, error))
                continue
            if len(left) == 1:
                yield Refused(left[0].uri, error)
                return
            middle = len(left) // 2
            yield from settle(left[:middle], apply)
            yield from settle(left[middle:], apply)
        else:
            yield outcome
        return


def _without(changes: Sequence[Change], error: DocumentError) -> Iterator[Change]:
    """The changes without the document that an error is about: a feed loses the item, or goes with its channel."""
    for change in changes:
        if not is_refused(change, error):
            yield change
        elif change.uri != error.uri and isinstance(change, Publish) and isinstance(change.document, Feed):
            items = tuple(item for item in change.document.items if item.uri != error.uri)
            yield replace(change, document=replace(change.document, items=items))
