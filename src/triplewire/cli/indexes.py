"""Indexes of subscriptions that were read from files."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from triplewire.cli.problems import Problems
from triplewire.cli.subscriptions import WrittenSubscription, compile_all
from triplewire.errors import TriplewireError

if TYPE_CHECKING:
    from triplewire import Index, Taxonomy


def index_of(found: Collection[WrittenSubscription], taxonomy: Taxonomy | None, problems: Problems) -> Index:
    """A new index of the subscriptions that can be compiled; the others are reported."""
    from triplewire import Index

    index = Index(taxonomy=taxonomy)
    add_all(index, found, problems)
    return index


def add_all(index: Index, found: Collection[WrittenSubscription], problems: Problems) -> None:
    """Add what can be compiled to an index; the rest is reported."""
    sources = {each.id: each.source for each in found}
    for id, pattern in compile_all(found, problems).items():
        try:
            index.add(id, pattern)
        except TriplewireError as error:
            problems.report(sources[id], error)
