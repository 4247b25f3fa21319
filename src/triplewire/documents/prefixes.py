"""What the prefixes of a Turtle text would take in memory, found before pyoxigraph reads it.

Each prefix is stored resolved against the base, so that a long base and many prefixes multiply.
"""

from __future__ import annotations

import re

from triplewire.documents.limits import Limits
from triplewire.errors import DocumentTooLarge

_PREFIX = re.compile(rb"prefix\b", re.IGNORECASE)
_BASE = re.compile(rb"base\s*<([^<>]*)>", re.IGNORECASE)
_FEW = 1000  # so many are not worth looking at, whatever the base


def check(text: bytes, *, uri: str, limits: Limits) -> None:
    """`DocumentTooLarge` if the prefixes would take more than `limits.expanded` bytes."""
    if text.count(b":") <= _FEW or (count := len(_PREFIX.findall(text))) <= _FEW:
        return
    # A base is resolved against the one before it, so that together they may be as long as their sum.
    longest = len(uri) + sum(len(base) for base in _BASE.findall(text))
    if count * longest > limits.expanded:
        reason = (
            f"{count} prefixes on a base of up to {longest} bytes take too much memory; "
            "shorten the base, or raise Limits(expanded=...)"
        )
        raise DocumentTooLarge(reason, uri=uri)
