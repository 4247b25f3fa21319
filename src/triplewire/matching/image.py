"""The image: the arrays that the index consists of, and the file that holds them.

A file is a line of identification, a JSON header that says where each array lies, and the arrays, each at a multiple
of 64 bytes. It is opened by mapping it into memory, privately: nothing is read before it is needed, nothing is
unpickled, and changes stay in this process.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from triplewire.algebra.taxonomy import Taxonomy
from triplewire.errors import IndexFileError
from triplewire.matching.kernel.compiled import Array
from triplewire.matching.layout import COUNTED, ENTRY_COLUMNS, FAMILY_COLUMNS, RECORD_COLUMNS
from triplewire.matching.strings import Strings, grown
from triplewire.model import Term, parse_term

_MAGIC = b"triplewire index 3\n"
_ALIGN = 64
_TABLES = ("terms", "programs", "ids", "expressions")


class Counts:
    """What is counted of the tables, by name: Python's view of the array in which the kernel counts."""

    _PLACES: ClassVar = {name: place for place, name in enumerate(COUNTED)}

    def __init__(self) -> None:
        self.array = np.zeros(len(COUNTED), dtype=np.int64)

    def __getitem__(self, name: str) -> int:
        return int(self.array[self._PLACES[name]])

    def __setitem__(self, name: str, count: int) -> None:
        self.array[self._PLACES[name]] = count

    def of(self, name: str) -> Array:
        """The place of one count in the array."""
        return self.array[self._PLACES[name] : self._PLACES[name] + 1]

    def as_dict(self) -> dict[str, int]:
        return dict(zip(COUNTED, self.array.tolist(), strict=True))


class Image:
    """All that an index knows, in flat arrays; `used` counts the rows in use of those that grow."""

    def __init__(self) -> None:
        self.used = Counts()
        self.terms, self.programs, self.ids, self.expressions = (Strings(self.used.of(name)) for name in _TABLES)
        self.arrays: dict[str, Array] = {
            "numbers": np.zeros(32, dtype=np.float64),
            "flags": np.zeros(32, dtype=np.int32),
            "keys": np.zeros((64, 2), dtype=np.int64),
            "bits": np.zeros(128, dtype=np.uint8),
            "grams": np.zeros(1 << 7, dtype=np.uint64),
            "popularity": np.zeros(1 << 14, dtype=np.int32),
            "records": np.zeros((16, RECORD_COLUMNS), dtype=np.int32),
            "record_slots": np.zeros(64, dtype=np.int64),
            "constants": np.zeros(64, dtype=np.int32),
            "families": np.zeros((4, FAMILY_COLUMNS), dtype=np.int32),
            "thresholds": np.zeros(16, dtype=np.float64),
            "members": np.zeros(16, dtype=np.int32),
            "entries": np.zeros((16, ENTRY_COLUMNS), dtype=np.int32),
            "subscriptions": np.zeros(16, dtype=np.int32),
            "paths": np.zeros(16, dtype=np.int32),
            "parent_starts": np.zeros(1, dtype=np.int32),
            "parents": np.zeros(1, dtype=np.int32),
        }

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def reserve(self, name: str, needed: int) -> Array:
        """The array, with room for this many rows."""
        array = self.arrays[name] = grown(self.arrays[name], needed)
        return array

    @property
    def size(self) -> int:
        """How many bytes the arrays in use take."""
        return sum(array.nbytes for array in self._trimmed().values())

    def _trimmed(self) -> dict[str, Array]:
        """Every array under its name, without the room to grow; hash tables keep theirs."""
        trimmed: dict[str, Array] = {}
        for name in _TABLES:
            table: Strings = getattr(self, name)
            trimmed[f"{name}.slots"] = table.slots
            trimmed[f"{name}.starts"] = table.starts[: table.count + 1]
            trimmed[f"{name}.text"] = table.text[: int(table.starts[table.count])]
        lengths = self.used.as_dict() | {"members": self.used["thresholds"]}
        lengths |= {"numbers": self.terms.count, "flags": self.terms.count}
        for name, array in self.arrays.items():
            whole = name not in lengths or name == "keys"
            trimmed[name] = array if whole else array[: lengths[name]]
        return trimmed

    def save(self, path: Path) -> None:
        """Write the image to a file, whole or not at all."""
        arrays = {name: np.ascontiguousarray(array) for name, array in self._trimmed().items()}
        places, at, checksum = {}, 0, 0
        for name, array in arrays.items():
            places[name] = [array.dtype.str, list(array.shape), at]
            at += -(-array.nbytes // _ALIGN) * _ALIGN
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            with temporary.open("wb") as file:
                for array in arrays.values():
                    checksum = zlib.crc32(array.data, checksum)
                header = {"arrays": places, "used": self.used.as_dict(), "bytes": at, "checksum": checksum}
                file.write(_head(header))
                for array in arrays.values():
                    file.write(array.tobytes())
                    file.write(b"\0" * (-array.nbytes % _ALIGN))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: Path, verify: bool = False) -> Image:
        """Open a file that `save` wrote; with `verify`, read all of it once to see that nothing is damaged."""
        header, data = _open(path)
        try:
            image = cls._mapped(header, data)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise IndexFileError(f"{path}: the index's header makes no sense ({error!r}); build it anew") from None
        if verify:
            _verify(path, header, image)
        return image

    @classmethod
    def _mapped(cls, header: dict[str, Any], data: mmap.mmap) -> Image:
        """An image whose arrays lie in the file; each must be of the kind that a new image has."""
        image = cls()
        expected = {name: array[:0] for name, array in image._trimmed().items()}
        arrays = {}
        for name, like in expected.items():
            kind, shape, at = header["arrays"][name]
            size = int(np.prod(shape))
            if np.dtype(kind) != like.dtype or tuple(shape[1:]) != like.shape[1:] or min(shape) < 0 or at < 0:
                raise ValueError(name)
            whole = np.frombuffer(data, like.dtype, size, header["start"] + at) if size else np.zeros(0, like.dtype)
            arrays[name] = whole.reshape(shape)
        for name in COUNTED:
            image.used[name] = header["used"][name]
        for name in _TABLES:
            slots, starts, text = (arrays.pop(f"{name}.{part}") for part in ("slots", "starts", "text"))
            if not 0 <= image.used[name] < len(starts):
                raise ValueError(name)
            setattr(image, name, Strings(image.used.of(name), (slots, starts, text)))
        image.arrays = arrays
        for name in ("records", "constants", "families", "thresholds", "entries", "subscriptions"):
            if not 0 <= image.used[name] <= len(arrays[name]):
                raise ValueError(name)
        for name in ("records", "entries"):
            if not 0 <= image.used[f"free_{name}"] <= image.used[name]:
                raise ValueError(name)
        return image


def _head(header: dict[str, object]) -> bytes:
    """Identification, the checksum and length of the header, the header, padded so that the arrays are aligned."""
    text = json.dumps(header).encode()
    line = _MAGIC + b"%08x %012d\n" % (zlib.crc32(text), len(text))
    return line + text + b" " * (-(len(line) + len(text)) % _ALIGN)


def _open(path: Path) -> tuple[dict[str, Any], mmap.mmap]:
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except FileNotFoundError:
        raise IndexFileError(f"{path}: there is no such file; save an index there first") from None
    except (OSError, ValueError) as error:
        raise IndexFileError(f"{path}: cannot be opened: {error}") from error
    size = len(_MAGIC) + 22
    head = data[:size]
    if not head.startswith(_MAGIC) or len(head) < size:
        raise IndexFileError(f"{path}: this is not an index of this version of Triplewire; build it anew")
    try:
        checksum, length = int(head[len(_MAGIC) :][:8], 16), int(head[len(_MAGIC) + 9 :][:12])
        text = data[size : size + length]
        if zlib.crc32(text) != checksum:
            raise ValueError
        header = json.loads(text)
        if not isinstance(header, dict) or not isinstance(header.get("bytes"), int):
            raise ValueError
    except (ValueError, RecursionError):
        raise IndexFileError(f"{path}: the index's header is damaged; build it anew") from None
    header["start"] = -(-(size + length) // _ALIGN) * _ALIGN
    if len(data) < header["start"] + header["bytes"]:
        raise IndexFileError(f"{path}: the index is cut short; build it anew")
    return header, data


def _verify(path: Path, header: dict[str, Any], image: Image) -> None:
    checksum = 0
    for array in image._trimmed().values():
        checksum = zlib.crc32(np.ascontiguousarray(array).data, checksum)
    if checksum != header["checksum"]:
        raise IndexFileError(f"{path}: the index is damaged; build it anew")


def install_taxonomy(image: Image, taxonomy: Taxonomy) -> None:
    """Enter the taxonomy's nodes as terms, and for each the nodes above it.

    A class that a term is an instance of is written as its complement, so that the kinds of steps are told apart.
    """
    below, types = list(taxonomy.below()), list(taxonomy.types())
    nodes = list(dict.fromkeys(node for pair in (*below, *types) for node in pair))
    numbers = dict(zip(nodes, image.terms.intern([str(node).encode() for node in nodes]).tolist(), strict=True))
    image.reserve("numbers", image.terms.count)
    image.reserve("flags", image.terms.count)
    pairs = [(numbers[c], ~numbers[p]) for c, p in types] + [(numbers[c], numbers[p]) for c, p in below]
    count = max(numbers.values(), default=-1) + 1
    children = np.array([child for child, _ in pairs], dtype=np.int32)
    order = np.argsort(children, kind="stable")
    starts = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(np.bincount(children, minlength=count) if pairs else np.zeros(count, dtype=np.int64), out=starts[1:])
    image.arrays["parent_starts"] = starts
    image.arrays["parents"] = np.array([parent for _, parent in pairs], dtype=np.int32)[order]


def read_taxonomy(image: Image) -> Taxonomy:
    """The taxonomy of an image."""
    starts, parents = image["parent_starts"], image["parents"].tolist()
    below: list[tuple[Term, Term]] = []
    types: list[tuple[Term, Term]] = []

    def term(number: int) -> Term:
        return parse_term(image.terms.get(number).decode())

    for child in np.flatnonzero(np.diff(starts)).tolist():
        for i in range(int(starts[child]), int(starts[child + 1])):
            pairs = types if parents[i] < 0 else below
            pairs.append((term(child), term(max(parents[i], ~parents[i]))))
    return Taxonomy(below, types)
