"""What a text is compiled with: prefixes, named rules, limits; and how names become terms."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, field

from pyoxigraph import NamedNode

from triplewire.algebra.pattern import Pattern
from triplewire.errors import QueryError
from triplewire.model.prefixes import KNOWN_PREFIXES

DEFAULT_NAMESPACE = "urn:triplewire:name:"
"""Where bare names live when no empty prefix is given; the papers' examples use names without namespaces."""

MOST_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True)
class Context:
    """Prefixes (the empty one is the vocabulary of bare names) and the rules that may be used by name."""

    prefixes: dict[str, str] = field(default_factory=dict)
    named: dict[str, Pattern] = field(default_factory=dict)

    def check(self, text: str, language: str) -> None:
        """Refuse a text that is too long before any parser sees it."""
        if len(text) > MOST_CHARACTERS:
            raise QueryError(
                f"the query has {len(text):,} characters, more than the {MOST_CHARACTERS:,} that are served",
                language=language,
                hint="Split it into several subscriptions",
            )

    def name(self, text: str) -> NamedNode | None:
        """The IRI of a bare or prefixed name; None if its prefix is not known."""
        prefix, colon, local = text.partition(":")
        if not colon:
            prefix, local = "", text
        namespace = namespaces(self.prefixes).get(prefix)
        return None if namespace is None else NamedNode(namespace + local)


def namespaces(prefixes: Mapping[str, str]) -> Mapping[str, str]:
    """All prefixes that a text may use: the caller's, then the known ones, and the empty one in any case.

    >>> namespaces({"dc": "urn:mine:"})["dc"]
    'urn:mine:'
    """
    return ChainMap(dict(prefixes), KNOWN_PREFIXES, {"": DEFAULT_NAMESPACE})
