"""What the contexts of a JSON-LD text would cost, and the prefixes of a Turtle text, found before pyoxigraph reads it.

A context is copied, with all that it inherits, wherever another one is met; and a term is stored in full, vocabulary
included. So a hundred kilobytes can ask for minutes (many terms, many small contexts beneath) or for gigabytes
(a long vocabulary, many terms). Both are plain products and are reckoned here. Of Turtle, each prefix is stored
resolved against the base, so that a long base and many prefixes multiply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from triplewire.documents.limits import Limits
from triplewire.errors import DocumentError, DocumentTooLarge

_TERMS_PER_MICROSECOND = 8  # measured on pyoxigraph 0.5.13
_BYTES_PER_TERM = 100  # copying a name of so many bytes costs as much as the term itself
_PREFIX = re.compile(rb"prefix\b", re.IGNORECASE)
_BASE = re.compile(rb"base\s*<([^<>]*)>", re.IGNORECASE)
_FEW = 1000  # so many are not worth looking at, whatever the base


class _Object(list[tuple[str, Any]]):
    """A JSON object with every pair that was written: a dict would hide repeated keys, and what they cost."""


class _Scope(NamedTuple):
    """What holds at one place: how many terms, the longest text among them, and whether terms bring contexts along."""

    terms: int = 0
    longest: int = 0
    has_scoped: bool = False

    def copying(self) -> int:
        return self.terms * (1 + self.longest // _BYTES_PER_TERM)


def check(text: bytes, *, uri: str, limits: Limits) -> None:
    """`DocumentTooLarge` if the contexts ask for too much, `DocumentError` if they are not even JSON."""
    if b"@context" not in text and b"\\u" not in text:  # which could spell it otherwise
        return
    copied = 0
    for scope in _applications(_loaded(text, uri)):
        copied += scope.copying()
        if copied > limits.effort * _TERMS_PER_MICROSECOND:
            raise _too_large("are copied too often", "effort", uri)
        if scope.terms * scope.longest > limits.expanded:
            raise _too_large("expand to too many bytes", "expanded", uri)


def check_prefixes(text: bytes, *, uri: str, limits: Limits) -> None:
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


def _too_large(what: str, limit: str, uri: str) -> DocumentTooLarge:
    return DocumentTooLarge(f"its contexts {what}; use one small context, or raise Limits({limit}=...)", uri=uri)


def _loaded(text: bytes, uri: str) -> Any:
    try:
        # Numbers stay text: they do not matter here, and Python refuses very long ones.
        return json.loads(
            text.decode(), object_pairs_hook=_Object, parse_int=str, parse_float=str, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg}"
        raise DocumentError(reason, uri=uri, line=error.lineno, column=error.colno) from None
    except RecursionError:
        reason = "nested deeper than Python's JSON reader follows; flatten it"
        raise DocumentTooLarge(reason, uri=uri) from None
    except ValueError as error:
        raise DocumentError(f"not JSON: {error}", uri=uri) from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _applications(value: Any) -> Iterator[_Scope]:
    """The scope at every object where a context is, or may be, applied."""
    pending: list[tuple[Any, _Scope]] = [(value, _Scope())]
    while pending:
        value, scope = pending.pop()
        if isinstance(value, _Object):
            contexts = [member for key, member in value if key == "@context"]
            if contexts:
                scope = _extended(scope, contexts)
            if contexts or scope.has_scoped:
                yield scope
            pending += [(member, scope) for key, member in value if key != "@context" and isinstance(member, list)]
        elif isinstance(value, list):
            pending += [(member, scope) for member in value if isinstance(member, list)]


def _extended(scope: _Scope, contexts: list[Any]) -> _Scope:
    terms, longest, has_scoped = scope
    pending = list(contexts)
    while pending:
        value = pending.pop()
        if isinstance(value, _Object):
            terms += len(value)
            has_scoped = has_scoped or any(key == "@context" for key, _ in value)
            longest = max([longest, *(len(key) for key, _ in value)])
            pending += [member for _, member in value]
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, str):
            longest = max(longest, len(value))
    return _Scope(terms, longest, has_scoped)
