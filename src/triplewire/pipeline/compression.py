"""Compressed documents, made plain in a worker, never beyond a limit; and documents as Spark has them."""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow

from triplewire.documents.formats import media_type_of

COMPRESSED = (".gz", ".bz2")
"""The suffixes of what is read through."""

_MOST_STREAMS = 1_000
"""After each of them what is left is copied, so that many empty ones would take quadratic time."""
SCHEMA = "uri string, content binary, media_type string, problem string"
"""The schema of documents; `problem` is what kept one from being read."""
_TYPES = {
    "uri": pyarrow.string(),
    "content": pyarrow.binary(),
    "media_type": pyarrow.string(),
    "problem": pyarrow.string(),
}


class Plain(NamedTuple):
    """What was in a compressed file, or what is wrong with it."""

    content: bytes | None
    problem: str | None = None


@dataclass(frozen=True)
class Decompressing:
    """The function that Spark maps over batches of `uri` and `content`; it adds the media type of the name inside."""

    limit: int

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            uris = batch.column("uri").to_pylist()
            for uri, packed in zip(uris, batch.column("content"), strict=True):  # one by one: they may be large
                plain = decompressed(packed.as_py(), uri, self.limit)
                yield batch_of([(uri, plain.content, media_type_of(uri.rpartition(".")[0]), plain.problem)])


def batch_of(documents: Sequence[tuple[str, bytes | None, str | None, str | None]]) -> pyarrow.RecordBatch:
    """Documents in the order of the `SCHEMA`, as a batch of records."""
    columns = zip(zip(*documents, strict=True), _TYPES.values(), strict=True)
    return pyarrow.RecordBatch.from_arrays([pyarrow.array(values, kind) for values, kind in columns], list(_TYPES))


def decompressed(packed: bytes, uri: str, limit: int) -> Plain:
    """The bytes inside, of one stream or of several after each other; a little more than the limit at the most."""
    is_gzip = uri.lower().endswith(".gz")
    start: Callable[[], Any] = (lambda: zlib.decompressobj(wbits=31)) if is_gzip else bz2.BZ2Decompressor
    content = bytearray()
    try:
        streams = 0
        while packed and len(content) <= limit:
            streams += 1
            if streams > _MOST_STREAMS:
                return Plain(None, f"it has more than {_MOST_STREAMS} compressed parts; compress it as one")
            stream = start()
            content += stream.decompress(packed, limit + 1 - len(content))
            if not stream.eof and len(content) <= limit:
                return Plain(None, "the compressed file is cut short")
            packed = stream.unused_data
    except (zlib.error, OSError) as error:
        return Plain(None, f"not a {'gzip' if is_gzip else 'bzip2'} file: {error}")
    if len(content) > limit:
        return Plain(None, f"it is over the limit of {limit} bytes when it is decompressed; split it")
    return Plain(bytes(content))
