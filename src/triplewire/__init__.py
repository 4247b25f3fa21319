"""Triplewire: standing queries for metadata.

Documents come in (`parse`), queries in several languages become patterns (`compile`), and an `Index` tells which of
them each document matches, and why.

`model` has the values that all others speak of, `errors` the tree of errors. `documents` and `languages` read texts (in
a process that may die of it: `isolation`), `schema` judges documents, `algebra` says what a pattern means, and
`matching` finds it fast. A `store` remembers, the `engine` makes events of changes, `intake` keeps changes until then,
and the `pipeline` does it on Spark. `tables`, `feeds` and `wire` spell what leaves. `hub` is the service, `client` asks
one; `deliver` sends events and `polling` follows feeds, both by `outbound`. `cli` is the command line, `demo` a story.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from triplewire import errors

if TYPE_CHECKING:
    from triplewire.algebra.covering import covers
    from triplewire.algebra.evaluate import evaluate
    from triplewire.algebra.lint import Finding, lint
    from triplewire.algebra.normalize import normalize
    from triplewire.algebra.pattern import Pattern
    from triplewire.algebra.taxonomy import Taxonomy
    from triplewire.backbone import BackboneHub
    from triplewire.documents import Limits, parse
    from triplewire.edge import Edge
    from triplewire.engine import Hub, Outcome
    from triplewire.errors import *  # noqa: F403  # each of them is public, as below
    from triplewire.languages import LANGUAGES, compile, render
    from triplewire.matching import Index, Match, Matches
    from triplewire.matching.explanation import Explanation
    from triplewire.model import (
        Access,
        Changed,
        Document,
        Event,
        Feed,
        Matched,
        Publish,
        Restrict,
        Retract,
        Subscription,
        Unmatched,
        Unread,
    )
    from triplewire.schema import Schema, Violation

__version__ = "0.1.0"

_HOMES = {
    "triplewire.algebra.covering": ("covers",),
    "triplewire.algebra.evaluate": ("evaluate",),
    "triplewire.algebra.lint": ("Finding", "lint"),
    "triplewire.algebra.normalize": ("normalize",),
    "triplewire.algebra.pattern": ("Pattern",),
    "triplewire.algebra.taxonomy": ("Taxonomy",),
    "triplewire.backbone": ("BackboneHub",),
    "triplewire.documents": ("Limits", "parse"),
    "triplewire.edge": ("Edge",),
    "triplewire.engine": ("Hub", "Outcome"),
    "triplewire.languages": ("LANGUAGES", "compile", "render"),
    "triplewire.matching": ("Index", "Match", "Matches"),
    "triplewire.matching.explanation": ("Explanation",),
    "triplewire.model": (
        "Access",
        "Changed",
        "Document",
        "Event",
        "Feed",
        "Matched",
        "Publish",
        "Restrict",
        "Retract",
        "Subscription",
        "Unmatched",
        "Unread",
    ),
    "triplewire.schema": ("Schema", "Violation"),
}
_PACKAGES = ("feeds",)
"""What is public as a package, so that `triplewire.feeds.atom` can be written without importing it."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

_ERRORS = [
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.TriplewireError)
]

__all__ = [
    *_ERRORS,
    "LANGUAGES",
    "Access",
    "BackboneHub",
    "Changed",
    "Document",
    "Edge",
    "Event",
    "Explanation",
    "Feed",
    "Finding",
    "Hub",
    "Index",
    "Limits",
    "Match",
    "Matched",
    "Matches",
    "Outcome",
    "Pattern",
    "Publish",
    "Restrict",
    "Retract",
    "Schema",
    "Subscription",
    "Taxonomy",
    "Unmatched",
    "Unread",
    "Violation",
    "compile",
    "covers",
    "evaluate",
    "lint",
    "normalize",
    "parse",
    "render",
]


def __getattr__(name: str) -> object:
    """Load a public name's module when it is first asked for: importing the package costs nothing."""
    if name in _PACKAGES:
        return import_module(f"triplewire.{name}")
    home = "triplewire.errors" if name in _ERRORS else _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'triplewire' has no attribute {name!r}")
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
