"""Documents from where they are, as a DataFrame: `uri`, `content`, `media_type`, and `problem`, what kept one from
being read.

A path is a file, a folder, a glob, or a URL that Spark knows. What it means is told by its name: `.parquet` is a table
with a column of contents, `.nt` and `.nq` are dumps if they are to be split, anything else is one document to a file.
`.gz` and `.bz2` after any of these are read through. Spark passes over names that begin with `_` or `.` in folders.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from glob import glob, has_magic
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from triplewire.documents import Limits
from triplewire.documents.formats import SUFFIXES
from triplewire.errors import PipelineError
from triplewire.pipeline.compression import COMPRESSED, SCHEMA, Decompressing
from triplewire.pipeline.dumps import split_dumps

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession


Split = Literal["subject", "graph"]
Kind = Literal["plain", "packed", "dump", "table"]
KINDS: tuple[Kind, ...] = ("plain", "packed", "dump", "table")

_DUMPS = ("nt", "nq")
_NOT_DOCUMENTS = "prefixes.json"
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_GLOBBED = re.compile(r"([\\{}\[\]*?])")


@dataclass(frozen=True, slots=True)
class InputSource:
    """What Spark reads in one way: a path as Spark spells it, its kind, and whether files in it are chosen by name."""

    path: str
    kind: Kind
    is_folder: bool
    largest: int | None = None
    """The bytes of the largest file, where that is known."""


def documents(
    spark: SparkSession,
    paths: Iterable[str],
    *,
    split: Split | None = None,
    content_column: str | None = None,
    uri_column: str = "uri",
    limits: Limits | None = None,
) -> DataFrame:
    """The documents that paths mean; `PipelineError` for a path that means none.

    With `split`, every N-Triples or N-Quads file is a dump: a document for each subject, or for each graph.
    With `content_column`, every path is a Parquet table.
    """
    limits = limits or Limits()
    given = [paths] if isinstance(paths, str) else list(paths)
    is_table = content_column is not None
    found = list(dict.fromkeys(source for path in given for source in sources(path, split, is_table=is_table)))
    if not found:
        raise PipelineError("there are no documents: name files, folders, globs or URLs")
    frames = []
    for kind, is_folder in product(KINDS, (True, False)):
        group = [source for source in found if source.kind == kind and source.is_folder is is_folder]
        if group and kind == "table":
            frames += [_table(spark, source.path, content_column or "content", uri_column) for source in group]
        elif group and kind == "dump":
            frames.append(_dumps(spark, group, split or "subject", limits))
        elif group:
            frames += _files(spark, group, split, limits)
    return reduce(lambda one, other: one.unionByName(other), frames)


# -- what paths mean


def sources(given: str, split: Split | None = None, *, is_table: bool = False) -> list[InputSource]:
    """The sources that one argument names: a url, a file, a folder or a glob."""
    if _URL.match(given):
        return _remote(given, split, is_table)
    found = []
    for path in _meant(given):
        if not path.is_dir():
            _expect_readable(path)
            found.append(InputSource(local_glob(path), _kind(path.name, split, is_table), False, path.stat().st_size))
        elif is_table:
            found.append(InputSource(local_glob(path), "table", True))
        else:
            found += _inside(path, split)
    return found


def _meant(given: str) -> list[Path]:
    path = Path(given)
    if path.exists():
        return [path.resolve()]
    names = sorted(glob(given, recursive=True)) if has_magic(given) else []
    if not names:
        raise PipelineError(f"{given}: there is no such file or folder")
    files = [Path(name).resolve() for name in names if not Path(name).is_dir()]
    if not files:
        raise PipelineError(f"{given}: only folders are called so; name them one by one, or the files in them")
    return files


def _inside(folder: Path, split: Split | None) -> list[InputSource]:
    """The kinds of files that are in a folder, each to be read by Spark in one go."""
    largest: dict[Kind, int] = {}
    for place, _, names in os.walk(folder, followlinks=True):
        for name in names:
            if _is_known(name):
                kind = _kind(name, split, is_table=False)
                _expect_readable(Path(place, name))
                largest[kind] = max(largest.get(kind, 0), Path(place, name).stat().st_size)
    if not largest:
        known = " ".join(f".{suffix}" for suffix in (*SUFFIXES, "parquet"))
        raise PipelineError(f"{folder}: there is no document in this folder; known file types: {known}")
    return [InputSource(local_glob(folder), kind, True, size) for kind, size in largest.items()]


def _expect_readable(path: Path) -> None:
    """Spark gives up all of a job at a file that it may not read."""
    if not path.exists():
        raise PipelineError(f"{path}: this is a link to nothing; remove it, or put there what it should lead to")
    if not os.access(path, os.R_OK):
        raise PipelineError(f"{path}: this file may not be read; give yourself the right to, or leave it out")


def _remote(given: str, split: Split | None, is_table: bool) -> list[InputSource]:
    """A URL that names a file by its suffix, or else a folder that may hold anything."""
    if is_table or _is_known(given.rstrip("/")):
        return [InputSource(given, _kind(given.rstrip("/"), split, is_table), False)]
    kinds: list[Kind] = ["plain", "packed"] if split is None else ["plain", "packed", "dump"]
    return [InputSource(given, kind, True) for kind in kinds]


def _kind(name: str, split: Split | None, is_table: bool) -> Kind:
    plain, is_packed = _unpacked(name)
    if is_table or plain.endswith(".parquet"):
        return "table"
    if split is not None and plain.endswith(tuple(f".{suffix}" for suffix in _DUMPS)):
        return "dump"
    return "packed" if is_packed else "plain"


def _is_known(name: str) -> bool:
    known = tuple(f".{suffix}" for suffix in (*SUFFIXES, "parquet"))
    base = name.rpartition("/")[2]
    return _unpacked(base)[0].endswith(known) and base != _NOT_DOCUMENTS and not base.startswith(("_", "."))


def _unpacked(name: str) -> tuple[str, bool]:
    lower = name.lower()
    plain = next((lower.removesuffix(suffix) for suffix in COMPRESSED if lower.endswith(suffix)), lower)
    return plain, plain != lower


def local_glob(path: Path) -> str:
    """A local path for Spark, which takes every path for a glob."""
    return "file://" + _GLOBBED.sub(r"\\\1", str(path))


# -- how Spark reads them


def _files(spark: SparkSession, group: Sequence[InputSource], split: Split | None, limits: Limits) -> list[DataFrame]:
    """One document to a file. What is too large is not even read; what is compressed is made plain by a worker."""
    from pyspark.sql import functions as f

    suffixes = [suffix for suffix in SUFFIXES if split is None or suffix not in _DUMPS]
    is_packed = group[0].kind == "packed"
    if is_packed:
        suffixes = [f"{suffix}{packed}" for suffix in suffixes for packed in COMPRESSED]
    reader = _reader(spark.read.format("binaryFile"), group, suffixes)
    files = reader.load([source.path for source in group]).where(~f.col("path").endswith(f"/{_NOT_DOCUMENTS}"))
    uri, no_text = uri_of(f.col("path")).alias("uri"), f.lit(None).cast("string")
    small = files.where(f.col("length") <= limits.bytes)
    if is_packed:
        frames = [small.select(uri, "content").mapInArrow(Decompressing(limits.bytes), SCHEMA)]
    else:
        frames = [small.select(uri, "content", no_text.alias("media_type"), no_text.alias("problem"))]
    if any(source.largest is None or source.largest > limits.bytes for source in group):
        advice = f" bytes are over the limit of {limits.bytes}; split it (N-Triples and N-Quads: --split subject)"
        reason = f.concat(f.col("length").cast("string"), f.lit(advice))
        nothing = f.lit(None).cast("binary").alias("content")
        large = files.where(f.col("length") > limits.bytes)
        frames.append(large.select(uri, nothing, no_text.alias("media_type"), reason.alias("problem")))
    return frames


def _dumps(spark: SparkSession, group: Sequence[InputSource], split: Split, limits: Limits) -> DataFrame:
    from pyspark.sql import functions as f

    suffixes = [f"{suffix}{packed}" for suffix in _DUMPS for packed in ("", *COMPRESSED)]
    reader = _reader(spark.read.format("text"), group, suffixes)
    lines = reader.load([source.path for source in group])
    named = lines.select(
        uri_of(f.col("_metadata.file_path"), is_encoded=True).alias("dump"), f.col("value").alias("line")
    )
    return split_dumps(named, split, limits)


def _reader(reader: DataFrameReader, group: Sequence[InputSource], suffixes: Iterable[str]) -> DataFrameReader:
    reader = reader.option("recursiveFileLookup", "true")
    if not group[0].is_folder:
        return reader
    patterns = ("".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in suffix) for suffix in suffixes)
    return reader.option("pathGlobFilter", f"*.{{{','.join(patterns)}}}")


def uri_of(path: Column, *, is_encoded: bool = False) -> Column:
    """The uri of what Spark has read from a path: what `Path.as_uri` gives, where it is local.

    Spark's paths of files are as the file system has them, those in metadata are percent-encoded already.
    """
    from pyspark.sql import functions as f

    uri = path
    if not is_encoded:
        scheme, rest = f.regexp_extract(path, "^([^:/]+:/+)?(.*)$", 1), f.regexp_extract(path, "^([^:/]+:/+)?(.*)$", 2)
        encoded = f.url_encode(rest)
        for java, plain in (("+", "%20"), ("%2F", "/"), ("*", "%2A"), ("%7E", "~")):
            encoded = f.replace(encoded, f.lit(java), f.lit(plain))
        uri = f.concat(scheme, encoded)
    return f.regexp_replace(uri, "^file:/+", "file:///")


def _table(spark: SparkSession, path: str, content_column: str, uri_column: str) -> DataFrame:
    from pyspark.sql import functions as f

    table = spark.read.parquet(path)
    for column in (content_column, uri_column):
        if column not in table.columns:
            option = "--content-column" if column == content_column else "--uri-column"
            raise PipelineError(
                f"{path}: the table has no column {column!r}; it has {', '.join(table.columns)}: choose with {option}"
            )
    kind = table.schema[content_column].dataType.simpleString()
    if kind not in ("binary", "string"):
        raise PipelineError(
            f"{path}: the column {content_column!r} has {kind} in it, not contents of documents (binary or string); "
            "choose with --content-column"
        )
    media_type = f.col("media_type") if "media_type" in table.columns else f.lit(None)
    return table.select(
        f.col(uri_column).cast("string").alias("uri"),
        f.col(content_column).cast("binary").alias("content"),
        media_type.cast("string").alias("media_type"),
        f.lit(None).cast("string").alias("problem"),
    )
