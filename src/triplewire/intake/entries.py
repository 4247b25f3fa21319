"""The intake: changes as entries of its log and back, and what a batch has done with them."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import Any

from triplewire.documents import Limits, parse
from triplewire.documents.limits import DEFAULT_LIMITS
from triplewire.errors import AccessDenied, DocumentError, DocumentTooLarge, StoreError
from triplewire.model import Access, Change, Document, Feed, Publish, Restrict, Retract, Unread
from triplewire.store import FILE, READ, RESTRICT, RETRACT, UNREAD, NewEntry, NewRejection, Reader, Writer

APPLIER = "applier"
"""The lease of the process that applies what waits on the logs of a store."""
_LENGTH = Struct("<q")
_NO_SURPRISES = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Neither a link in the place of a file, nor a pipe that nobody writes to."""


@dataclass(frozen=True, slots=True)
class Handled:
    """What a batch takes off the log (its entries are from `first` to `until`), and what of it could not be applied.

    Without an `until`, the changes did not come from the log.
    """

    until: int = 0
    rejected: Sequence[NewRejection] = ()
    first: int = 0

    def still_waits(self, reader: Reader) -> bool:
        """Whether something of it is on the log: then no batch has applied it, whatever the batch's name says."""
        return self.until >= max(1, self.first) and reader.intake.first() <= self.until

    def note(self, writer: Writer) -> None:
        """Write it, in the transaction of the batch; StoreError if another applier has taken the entries."""
        if self.first and writer.intake.first() > self.first:
            raise StoreError("another stream has taken these changes off the intake log; let one run, not two")
        if self.until:
            writer.intake.take(self.until)
        writer.intake.reject(self.rejected)

    def set_aside(self, writer: Writer, refused: Sequence[tuple[Change, AccessDenied]]) -> None:
        """Keep the items of feeds that were refused alone, with the reason: who sent the feed does not wait for it."""
        writer.intake.reject([NewRejection(entry_of(change), str(reason)) for change, reason in refused])


def entry_of(change: Change | Unread) -> NewEntry:
    """A change as the log keeps it."""
    if isinstance(change, Unread):
        return NewEntry(UNREAD, change.uri, change.media_type, change.content)
    if isinstance(change, Publish):
        return NewEntry(READ, change.uri, None, packed(change))
    if isinstance(change, Restrict):
        return NewEntry(RESTRICT, change.uri, None, json.dumps(_permitted(change)).encode())
    return NewEntry(RETRACT, change.uri, None, None if change.by is None else json.dumps({"by": change.by}).encode())


def change_of(entry: NewEntry, limits: Limits = DEFAULT_LIMITS) -> Change:
    """The change that an entry means; DocumentError says why there is none."""
    content = entry.content or b""
    if entry.kind == RETRACT:
        return Retract(entry.uri, json.loads(content)["by"] if content else None)
    if entry.kind == RESTRICT:
        head = json.loads(content)
        return Restrict(entry.uri, _access_in(head), head["by"])
    if entry.kind == READ:
        return unpacked(entry.uri, content)
    if entry.kind == FILE:
        content = _in_file(Path(content.decode()), entry.uri, limits)
    return Publish(parse(content, uri=entry.uri, media_type=entry.media_type, limits=limits))


def _in_file(path: Path, uri: str, limits: Limits) -> bytes:
    """The bytes of a file, which is looked at before it is read: it may be far too large, or no plain file by now.

    The log has the path without links. If there is one now, it was put there after the file was looked at.
    """
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | _NO_SURPRISES), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or path.resolve() != path:
                raise DocumentError(f"{path} is no plain file, or leads elsewhere by a link", uri=uri)
            if about.st_size > limits.bytes:
                reason = (
                    f"{about.st_size} bytes are over the limit of {limits.bytes}; split it, or raise Limits(bytes=...)"
                )
                raise DocumentTooLarge(reason, uri=uri)
            return file.read()
    except OSError as error:
        raise DocumentError(f"{path} cannot be read: {error.strerror or error}", uri=uri) from None


def packed(change: Publish) -> bytes:
    """A document that was read, as bytes: the lengths of what follows, then triples and XML of it and of its parts.

    A document that is no feed has no parts but itself.
    """
    document = change.document
    parts = document.parts if isinstance(document, Feed) else ()
    every = (document, *parts)
    head = {
        "drop_missing": change.drop_missing,
        "parts": [part.uri for part in parts],
        "lengths": [(len(each.ntriples), len(each.xml)) for each in every],
        **({} if change.access is None and change.by is None else _permitted(change)),
        **({} if change.reach is None else {"reach": change.reach}),
    }
    spelled = json.dumps(head).encode()
    return b"".join(
        [_LENGTH.pack(len(spelled)), spelled, *(piece for each in every for piece in (each.ntriples, each.xml))]
    )


def unpacked(uri: str, content: bytes) -> Publish:
    """The change that `packed` was given."""
    (length,) = _LENGTH.unpack_from(content)
    at = _LENGTH.size + length
    head = json.loads(content[_LENGTH.size : at])
    pieces: list[tuple[bytes, bytes]] = []
    for triples, xml in head["lengths"]:
        pieces.append((content[at : at + triples], content[at + triples : at + triples + xml]))
        at += triples + xml
    parts = [Document(part, *piece) for part, piece in zip(head["parts"], pieces[1:], strict=True)]
    document = Document(uri, *pieces[0])
    if parts:
        document = Feed(uri, *pieces[0], channel=parts[0], items=tuple(parts[1:]))
    return Publish(document, head["drop_missing"], _access_in(head), head.get("by"), head.get("reach"))


def _permitted(change: Publish | Restrict) -> dict[str, object]:
    listed = change.access
    return {"by": change.by, "access": None if listed is None else [listed.readers, listed.writers]}


def _access_in(head: Mapping[str, Any]) -> Access | None:
    found = head.get("access")
    return None if found is None else Access(*found)
