"""A landing folder: files that are dropped into it become entries of the intake log.

    NAME.ttl (.nt .nq .trig .rdf .owl .xml .jsonld .json)   publish it; its uri is the file's, as `triplewire publish`
    NAME.ttl.retract                                        take the document of NAME.ttl back
    NAME.manifest.jsonl                                     a line for each change, all of them one batch:
        {"publish": "path", "uri": "http://...", "media_type": "text/turtle"}     (uri and media type may be left out)
        {"retract": "http://..."}

Paths are those of files in the folder: not absolute, not with `..`, and not by a link that leads out of it. A process
that may write into the folder publishes as the operator of the stream, and reads nothing else of the machine by it.

A file that is written again is published again. What begins with a dot or an underscore, a folder too, is not looked
at: write there, then rename. The log has only the path of a file; the worker that parses it reads it.

Invariant: whatever is wrong with a file, a line or a folder below, it is set aside alone, and the others are taken.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from triplewire.documents.formats import SUFFIXES
from triplewire.store import FILE, RETRACT, NewEntry, NewRejection, Store, Writer, is_storable

RETRACTED, MANIFEST = ".retract", ".manifest.jsonl"
_MOST_REASON = 1_000
"""Characters of a reason: it may quote a line of a manifest, which may be long."""
_TAKEN = (*(f".{suffix}" for suffix in SUFFIXES), RETRACTED, MANIFEST)


class _Seen(NamedTuple):
    changed: int
    path: str
    version: str
    wrong: str = ""
    """Why it cannot be looked at, if it cannot."""


class Landing:
    """A folder that is looked at now and then, by one process at a time: what was seen is read from the store once."""

    def __init__(self, folder: Path, store: Store) -> None:
        self._folder, self._store = folder.resolve(), store
        self._known: dict[str, str] | None = None

    def look(self) -> int:
        """Put what is new on the log, in the order in which it was written; gives how many files."""
        there = {seen.path: seen for seen in _files(self._folder)}
        known = self._known if self._known is not None else self._read()
        fresh = sorted(seen for path, seen in there.items() if known.get(path) != seen.version)
        gone = [path for path in known if path not in there]
        if fresh or gone:
            with self._store.writing() as writer:
                _put(writer, self._folder, fresh)
                writer.intake.land({seen.path: seen.version for seen in fresh})
                writer.intake.forget_landed(gone)
        self._known = {path: seen.version for path, seen in there.items()}
        return len(fresh)

    def _read(self) -> dict[str, str]:
        prefix = f"{self._folder}{os.sep}"
        with self._store.reading() as reader:
            return {path: version for path, version in reader.intake.landed().items() if path.startswith(prefix)}


def _files(top: Path) -> Iterator[_Seen]:
    """What is in a folder and below, however deep; OSError only if the folder itself cannot be read."""
    folders = [str(top)]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as found:
                entries = [entry for entry in found if not entry.name.startswith((".", "_"))]
        except FileNotFoundError:
            if folder == str(top):
                raise
            continue  # it went while we looked
        except OSError as error:
            if folder == str(top):
                raise
            if is_storable(folder):
                yield _unseen(folder, error)
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif is_storable(entry.path) and entry.name.lower().endswith(_TAKEN):
                try:
                    about = entry.stat()
                except FileNotFoundError:
                    continue  # it went while we looked
                except OSError as error:
                    yield _unseen(entry.path, error)
                else:
                    version = f"{about.st_mtime_ns}-{about.st_size}-{about.st_ino}"
                    yield _Seen(about.st_mtime_ns, entry.path, version)


def _unseen(path: str, error: OSError) -> _Seen:
    """Its version is what is wrong with it: it is set aside once, and taken when it is well."""
    return _Seen(0, path, f"error {error.errno}", f"{path}: {error.strerror}")


def uri_of(path: Path) -> str:
    """The uri of a file's document."""
    return path.resolve().as_uri()


def inside(folder: Path, path: Path) -> Path:
    """The file that is meant, if it is a plain file inside of a folder; ValueError if it leads elsewhere."""
    found = path.resolve()
    if not found.is_relative_to(folder.resolve()):
        raise ValueError(f"{path} leads out of the folder")
    if found.exists() and not found.is_file():
        raise ValueError(f"{path} is no plain file")
    return found


class _Asked(NamedTuple):
    """What a file asks for, and what of it is no change, with the reasons; a manifest's entries are one submission."""

    entries: list[NewEntry]
    rejected: list[NewRejection]
    is_one: bool = False


def _put(writer: Writer, folder: Path, fresh: Sequence[_Seen]) -> None:
    alone: list[NewEntry] = []
    for seen in fresh:
        asked = _asked(seen, folder)
        if asked.is_one:
            writer.intake.append_each(alone)
            alone = []
            if asked.entries:
                writer.intake.append(asked.entries)
        else:
            alone += asked.entries
        writer.intake.reject(asked.rejected)
    writer.intake.append_each(alone)


def _asked(seen: _Seen, folder: Path) -> _Asked:
    """What one file asks for. It touches no store, so whatever fails here is the file's fault, and ends nothing."""
    path = Path(seen.path)
    if seen.wrong:
        return _Asked([], [_set_aside(path, seen.wrong)])
    try:
        real = inside(folder, path)
        if path.name.lower().endswith(MANIFEST):
            return _Asked(*read_manifest(path, folder), is_one=True)
        if path.name.lower().endswith(RETRACTED):
            return _Asked([NewEntry(RETRACT, uri_of(path.with_name(path.name[: -len(RETRACTED)])))], [])
        return _Asked([NewEntry(FILE, uri_of(path), None, str(real).encode())], [])
    except ValueError as error:
        return _Asked([], [_set_aside(path, str(error))])
    except Exception as error:  # links that go round, names that are too long, and what nobody has thought of
        return _Asked([], [_set_aside(path, f"{path}: {error}")])


def _set_aside(path: Path, reason: str) -> NewRejection:
    told = reason if len(reason) <= _MOST_REASON else f"{reason[:_MOST_REASON]} …"
    return NewRejection(NewEntry(FILE, path.as_uri(), None, str(path).encode()), told)


def read_manifest(path: Path, folder: Path) -> tuple[list[NewEntry], list[NewRejection]]:
    """The changes that a manifest in a folder asks for, and the lines that are none, each with the reason."""
    entries: list[NewEntry] = []
    rejected: list[NewRejection] = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        return [], [_set_aside(path, f"{path}: {error}")]
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                entries.append(_change(path, folder, json.loads(line)))
            except Exception as error:  # nested too deep, a name that is too long, links that go round, and so on
                rejected.append(_set_aside(path, f"{path}, line {number}: {error}"))
    return entries, rejected


def _change(manifest: Path, folder: Path, line: Any) -> NewEntry:
    """What one line asks for; ValueError says what is wrong with it."""
    if not isinstance(line, Mapping) or ("publish" in line) == ("retract" in line):
        raise ValueError('a line is {"publish": path, "uri": ..., "media_type": ...} or {"retract": uri}')
    known = {"publish", "uri", "media_type"} if "publish" in line else {"retract"}
    if unknown := sorted(line.keys() - known):
        raise ValueError(f"{unknown[0]!r} is not known; a line may have {', '.join(sorted(known))}")
    if any(not isinstance(value, str) or not is_storable(value) for value in line.values()):
        raise ValueError("every value is a text without NUL")
    if "retract" in line:
        return NewEntry(RETRACT, line["retract"])
    named = Path(line["publish"])
    if named.is_absolute() or ".." in named.parts:
        raise ValueError(f"{line['publish']!r} is not a path below the manifest's folder")
    path = inside(folder, manifest.parent / named)
    return NewEntry(FILE, line.get("uri") or uri_of(path), line.get("media_type"), str(path).encode())
