"""Bytes to UTF-8 without a byte-order mark.

All the syntaxes are UTF-8 by their specifications, except XML, which may say otherwise in its first line. pyoxigraph
reads only UTF-8, so a text in another encoding is recoded, and what its first line says is blanked out (by as many
spaces, so that columns stay).
"""

from __future__ import annotations

import codecs
import re

from triplewire.errors import DocumentError

_DECLARED = re.compile(rb"""\s*<\?xml\s[^>]*?(\sencoding\s*=\s*(?:"([\w.:-]{1,40})"|'([\w.:-]{1,40})'))""")
_CHARSET = re.compile(r""";\s*charset\s*=\s*"?([\w.:-]{1,40})""", re.IGNORECASE)

# Named one by one: Python's registry also has codecs (unicode_escape, punycode) that are no encoding of a document.
_ENCODINGS = frozenset(
    {"utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "ascii", "iso8859-1", "koi8-r", "koi8-u"}
    | {f"iso8859-{part}" for part in range(2, 17)}
    | {f"cp125{page}" for page in range(9)}
    | {"gb2312", "gbk", "gb18030", "big5", "euc_jp", "euc_kr", "shift_jis"}
)


def checked(raw: bytes, uri: str) -> bytes:
    """The bytes without a byte-order mark, known to be UTF-8."""
    raw = raw.removeprefix(codecs.BOM_UTF8)
    if not raw.isascii():
        _decoded(raw, "utf-8", uri)
    return raw


def recoded(raw: bytes, uri: str, *, media_type: str | None, is_text: bool) -> bytes:
    """An XML text as UTF-8: by its byte-order mark, the media type's charset (RFC 7303), or its own first line."""
    encoding = "utf-8" if is_text else declared(raw, media_type)
    name = _known(encoding, uri)
    recoded = checked(raw, uri) if name == "utf-8" else _decoded(raw, name, uri).encode().removeprefix(codecs.BOM_UTF8)
    return _without_declaration(recoded)


def declared(raw: bytes, media_type: str | None) -> str:
    """The encoding that an XML text says it is in."""
    if raw.startswith(codecs.BOM_UTF8):
        return "utf-8"
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if raw.startswith((b"<\0", b"\0<")):
        return "utf-16-le" if raw[1] == 0 else "utf-16-be"
    if charset := _CHARSET.search(media_type or ""):
        return charset[1]
    match = _DECLARED.match(raw)
    return (match[2] or match[3]).decode("ascii", "replace") if match else "utf-8"


def _known(encoding: str, uri: str) -> str:
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        name = ""
    if name not in _ENCODINGS:
        raise DocumentError(f"the encoding {encoding!r} is not served; save the document as UTF-8", uri=uri)
    return name


def _decoded(raw: bytes, encoding: str, uri: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode(encoding, "replace")
        raise DocumentError(
            f"byte {error.start} is not {encoding} ({error.reason}); save the document as UTF-8",
            uri=uri,
            line=before.count("\n") + 1,
            column=len(before) - before.rfind("\n"),
        ) from None


def _without_declaration(text: bytes) -> bytes:
    match = _DECLARED.match(text)
    if match is None:
        return text
    return text[: match.start(1)] + b" " * len(match[1]) + text[match.end(1) :]
