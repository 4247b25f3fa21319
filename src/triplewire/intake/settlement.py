"""A settlement: many changes are applied, and what is bad among them is refused alone, with its reason.

A batch is whole or not at all. Where changes were put together only to save time, one bad document is no reason to
refuse the others: it is left out, if the error names it; else the changes are tried by halves, until one stands alone.
A feed loses the item that an error names, and goes with its channel. What fails for another reason than its documents
(the store, Spark, the machine) is refused by nobody: it is raised, to be tried again.

Every way in that does not ask for all or nothing settles by this: the command line, a service's group of requests, the
logs, streams, polled feeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from triplewire.errors import AccessDenied, DocumentError, PipelineError, StoreError
from triplewire.model import Change, Feed, Publish, item_prefix
from triplewire.tables import Outcome

_Origin = TypeVar("_Origin")
_NOT_OF_DOCUMENTS = (StoreError, PipelineError, OSError)


@dataclass(frozen=True, slots=True)
class Coming(Generic[_Origin]):
    """A change that is to be applied; `origin` is what its way knows it by."""

    origin: _Origin
    change: Change


@dataclass(frozen=True, slots=True)
class Refusal(Generic[_Origin]):
    """A change that is not applied, and why; there is none if it could not be read.

    An item that a feed has lost has the origin of the feed.
    """

    origin: _Origin
    change: Change | None
    error: Exception


Parts = Sequence[Coming[_Origin] | Refusal[_Origin]]
"""What a batch is made of, in the order of arrival."""


@dataclass(frozen=True, slots=True)
class Settled(Generic[_Origin]):
    """A batch that was applied, with what it was made of; without an outcome, nothing was left to apply."""

    outcome: Outcome | None
    applied: Sequence[Coming[_Origin]]
    refused: Sequence[Refusal[_Origin]]


def settle(coming: Parts[_Origin], apply: Callable[[Parts[_Origin]], Outcome | None]) -> Iterator[Settled[_Origin]]:
    """What becomes of the changes, batch after batch and in their order.

    `apply` makes one batch of its parts. It is given those that are refused as well, because a log notes them with it.
    """
    left = list(coming)
    cut = 0
    while not cut:
        try:
            outcome = apply(left)
        except _NOT_OF_DOCUMENTS:
            raise
        except Exception as error:
            good = [(number, one) for number, one in enumerate(left) if isinstance(one, Coming)]
            named = [(number, one) for number, one in good if is_refused(one.change, error)]
            if not good:
                raise
            if len(named or good) == 1:
                [(at, one)] = named or good
                left[at : at + 1] = _without(one, error)
            else:  # nobody knows which of them it is
                cut = good[len(good) // 2][0]
        else:
            refused = [one for one in left if isinstance(one, Refusal)]
            yield Settled(outcome, [one for one in left if isinstance(one, Coming)], refused)
            return
    yield from settle(left[:cut], apply)
    yield from settle(left[cut:], apply)


def settle_changes(
    changes: Sequence[Change], apply: Callable[[Sequence[Change]], Outcome]
) -> Iterator[Settled[Change]]:
    """The same of changes that come from no log, each of which is its own origin."""

    def applied(parts: Parts[Change]) -> Outcome | None:
        good = changes_in(parts)
        return apply(good) if good else None

    return settle([Coming(change, change) for change in changes], applied)


def changes_in(parts: Parts[_Origin]) -> list[Change]:
    """The changes that are to be applied."""
    return [one.change for one in parts if isinstance(one, Coming)]


def _without(one: Coming[_Origin], error: Exception) -> list[Coming[_Origin] | Refusal[_Origin]]:
    """What is left of a change that an error is about: of a feed, the rest of it and the item; else the refusal."""
    change = one.change
    if isinstance(change, Publish) and isinstance(change.document, Feed) and isinstance(error, DocumentError):
        feed = change.document
        for item in feed.items:
            if item.uri == error.uri:
                rest = replace(feed, items=tuple(each for each in feed.items if each is not item))
                kept = replace(change, document=rest, drop_missing=False)  # an item that is refused is not missing
                return [Coming(one.origin, kept), Refusal(one.origin, replace(change, document=item), error)]
    return [Refusal(one.origin, change, error)]


def is_refused(change: Change, error: Exception) -> bool:
    """Whether an error is about this change: about its document, and, if access was denied, about its account."""
    if not isinstance(error, DocumentError):
        return False
    is_about = change.uri == error.uri or error.uri.startswith(item_prefix(change.uri))
    return is_about and (not isinstance(error, AccessDenied) or change.by == error.by)
