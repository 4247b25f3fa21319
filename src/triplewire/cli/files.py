"""Files that rows and events are written into: in a format of `triplewire.tables`, whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from triplewire.cli.problems import usage, usage_for
from triplewire.cli.terminal import VisibleBytes

if TYPE_CHECKING:
    from triplewire.tables import Layout

_BY_SUFFIX = {".csv": "csv", ".xlsx": "xlsx", ".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_BINARY = ("xlsx", "parquet")


def chosen(format: str | None, json: bool, out: Path | None) -> str:
    """The format that was asked for, or the one that fits where the output goes."""
    if format is not None or json:
        wanted = format or "jsonl"
    elif out is None:
        wanted = "table" if sys.stdout.isatty() else "jsonl"
    elif out.suffix.lower() in _BY_SUFFIX:
        wanted = _BY_SUFFIX[out.suffix.lower()]
    else:
        usage(f"--out {out}: say the format with --format; the suffix is none of {', '.join(_BY_SUFFIX)}")
    if out is not None and wanted == "table":
        usage("a table is for the terminal; leave --out or --format table out")
    if out is None and wanted in _BINARY and sys.stdout.isatty():
        usage(f"{wanted} is nothing that a terminal shows; name a file with --out")
    return wanted


def write(out: Path | None, format: str, layout: Layout[Any], items: Iterable[Any]) -> int:
    """Write all items into the file, or to standard output; gives how many they were."""
    from triplewire.tables import writers

    with usage_for(ImportError), opened(out) as file:
        return writers.write(file, format, layout, items)


@contextmanager
def opened(out: Path | None) -> Iterator[BinaryIO]:
    """The file to write into. What was there is replaced at the end, and stays if something goes wrong before."""
    if out is None:
        yield cast("BinaryIO", VisibleBytes()) if sys.stdout.isatty() else sys.stdout.buffer
        sys.stdout.flush()
        return
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(out)
    except OSError as error:
        usage(f"--out {out}: this cannot be written: {error.strerror or error}")
    finally:
        part.unlink(missing_ok=True)
