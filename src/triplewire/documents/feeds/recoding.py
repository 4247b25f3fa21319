"""Bytes of a feed to UTF-8, also where they are in another encoding than they say.

Two mistakes are common. A text says that it is ISO-8859-1 and is UTF-8: bytes beyond ASCII that happen to be UTF-8 are,
for any text of more than a few words. And it says UTF-8, or nothing, and is windows-1252.
"""

from __future__ import annotations

import re

from triplewire.documents import encoding
from triplewire.errors import DocumentError

_ONE_BYTE = re.compile(r"(?:us-)?ascii|iso-?8859-\d+|latin-?\d|(?:windows|cp)-?12\d\d", re.IGNORECASE)
_LATIN = re.compile(r"(?:us-)?ascii|iso-?8859-1|latin-?1", re.IGNORECASE)


def utf8(raw: bytes, uri: str, *, media_type: str | None, is_text: bool) -> bytes:
    """The text as UTF-8, without a byte-order mark or a declared encoding."""
    said = "utf-8" if is_text else encoding.declared(raw, media_type)
    if not raw.isascii() and _ONE_BYTE.fullmatch(said):
        if _is_utf8(raw):
            said = "utf-8"
        elif _LATIN.fullmatch(said):
            said = "windows-1252"  # which browsers take it for as well: the same, with letters where controls would be
    try:
        return encoding.recoded(raw, uri, media_type=f"; charset={said}", is_text=is_text)
    except DocumentError:
        if encoding.declared(raw, None).lower().startswith("utf-16"):
            raise
        text = raw.decode("utf-8" if _is_utf8(raw) else "windows-1252", "replace")
        return encoding.recoded(text.encode(), uri, media_type=None, is_text=True)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
