"""Content negotiation: which of the offered media types a client likes best (RFC 9110, section 12.5.1)."""

from __future__ import annotations

from collections.abc import Sequence

from triplewire.errors import NotAcceptable

Range = tuple[str, str, float]
"""Type, subtype and quality."""


def best(accept: str | None, offered: Sequence[str]) -> str:
    """The media type to send; the first one that is offered, where the client has no opinion.

    >>> best("text/*;q=0.5, application/json", ["text/turtle", "application/json"])
    'application/json'
    """
    if not accept or not accept.strip():
        return offered[0]
    ranges = [found for part in accept.split(",") if (found := _range(part)) is not None]
    liked = max(offered, key=lambda each: _quality(each, ranges))  # the first of those that are liked best
    if _quality(liked, ranges) <= 0:
        raise NotAcceptable(accept, offered)
    return liked


def _range(text: str) -> Range | None:
    media, *parameters = (part.strip() for part in text.split(";"))
    kind, slash, sub = media.lower().partition("/")
    if not slash:
        return None
    quality = next((value for name, _, value in (p.partition("=") for p in parameters) if name.strip() == "q"), "1")
    try:
        return kind, sub, min(1.0, max(0.0, float(quality)))
    except ValueError:
        return kind, sub, 0.0


def _quality(media_type: str, ranges: Sequence[Range]) -> float:
    """The quality of the most exact range that fits."""
    kind, _, sub = media_type.partition("/")
    fits = [(k != "*", s != "*", q) for k, s, q in ranges if k in (kind, "*") and s in (sub, "*")]
    return max(fits, default=(False, False, 0.0))[2]
