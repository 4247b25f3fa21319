"""A survey of a journal: what of it can be read, what was acknowledged and is gone, and what is only a torn tail.

It reads all files and decides nothing: `Journal` goes by it when it is opened, and so does a repair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from triplewire.errors import DamagedJournal
from triplewire.intake.journal.entries import (
    Damage,
    FileHead,
    Mark,
    Whole,
    entries_in,
    files_of,
    first_of,
    head_of,
    is_same,
    mark_in,
    pieces_of,
    strangers_in,
)
from triplewire.store import WaitingEntry

_MOST_URIS = 10


class Gap(NamedTuple):
    """Positions from `first` to `last` that were acknowledged and cannot be read, with the uris that can."""

    first: int
    last: int
    uris: tuple[str, ...] = ()

    def __str__(self) -> str:
        several = f"positions {self.first} to {self.last}" if self.last > self.first else f"position {self.first}"
        named = ", ".join(self.uris[:_MOST_URIS]) + (" …" if len(self.uris) > _MOST_URIS else "")
        return f"{several} ({named})" if named else several


class Place(NamedTuple):
    """Where an entry is."""

    position: int
    path: Path
    start: int
    head: FileHead


class _Span(NamedTuple):
    """Where an entry is in its file, and what it says of others; not what is in it, because there may be much."""

    position: int
    before: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What is in a journal after the position that its store has taken.

    `places` are the entries that can be read, in order; `gone` what was acknowledged and cannot; `torn` what was never
    acknowledged: files, each with the byte from which it is cut (0: all of it). `is_in_order` says whether a reader
    gets along with the files as they are. Without its mark (`is_unmarked`) nobody can say whether the last of what was
    acknowledged is here. `strangers` have the names of files, and are none.
    """

    folder: Path
    mark: Mark
    identities: frozenset[bytes]
    places: tuple[Place, ...]
    gone: tuple[Gap, ...]
    torn: tuple[tuple[Path, int], ...]
    is_in_order: bool
    last: int
    is_unmarked: bool = False
    strangers: tuple[Path, ...] = ()

    def entries(self) -> Iterator[WaitingEntry]:
        """What can be read, in order."""
        for place in self.places:
            with place.path.open("rb") as file:
                yield next(entries_in(file, place.head, place.start)).waiting

    def doubts(self) -> Iterator[str]:
        """What is wrong although no entry is known to be gone, in sentences."""
        if self.is_unmarked:
            yield (
                f"its mark is lost or damaged: whether more than position {self.last} was acknowledged, nobody can say"
            )
        for path in self.strangers:
            yield f"{path.name} has the name of one of its files, and is no file"

    def refuse_damage(self) -> None:
        """DamagedJournal if something is gone, or the files must be set right before a reader can use them."""
        if doubts := list(self.doubts()):
            raise DamagedJournal(str(self.folder), [str(gap) for gap in self.gone], reason="; ".join(doubts))
        if self.gone or not self.is_in_order:
            raise DamagedJournal(str(self.folder), [str(gap) for gap in self.gone])


@dataclass(slots=True)
class _File:
    """One file, taken apart."""

    path: Path
    head: FileHead
    is_named: bool
    whole: list[_Span]
    damage: list[Damage]

    @property
    def acknowledged(self) -> int:
        """What was acknowledged as this file says; if its head is damaged, its first entry may have been, too."""
        if self.is_named:
            return self.head.follows
        is_torn = not self.whole and all(each.end <= len(self.head.spelled()) for each in self.damage)
        return 0 if is_torn else self.head.first


def survey(folder: Path, after: int = 0, identity: bytes = b"") -> Survey:
    """Look through a journal whose store has taken what is up to `after`; `identity` helps where a head is damaged."""
    mark = mark_in(folder)
    every = list(_taken_apart(files_of(folder), identity or mark.identity))
    identities = {file.head.identity for file in every if file.is_named and file.head.identity}
    files = every
    if identity in identities | {mark.identity}:  # else it is another's journal altogether, and is looked at as such
        files = [file for file in every if is_same(file.head.identity, identity)]
        identities = {identity} - {b""}
    is_unmarked = not mark.identity and any(_had_a_mark(file) for file in files)
    if is_unmarked and mark_in(folder).identity:  # the journal was begun while we looked
        return survey(folder, after, identity)
    acknowledged = max(
        [mark.last, *(file.acknowledged for file in files)] + [one.before for file in files for one in file.whole]
    )
    places = _kept(files, after, acknowledged)
    never = [(file.head.follows, file.head.first) for file in files if file.is_named]
    gone = list(_gaps([place.position for place in places], never, after, acknowledged))
    uris = {position: uri for file in files for each in file.damage for position, uri in each.uris.items()}
    last = max([acknowledged, *(place.position for place in places), *(one.position for f in files for one in f.whole)])
    return Survey(
        folder,
        mark,
        frozenset(identities),
        tuple(places),
        tuple(Gap(*gap, tuple(uris[p] for p in range(gap[0], gap[1] + 1) if p in uris)) for gap in gone),
        tuple(_torn(files, places, after, acknowledged)),
        len(files) == len(every) and _is_in_order(files, places, after, acknowledged),
        last,
        is_unmarked,
        tuple(strangers_in(folder)),
    )


def _had_a_mark(file: _File) -> bool:
    """Whether a journal wrote it that has a mark: its head says so, or an entry that only such a journal can spell."""
    return bool(file.head.identity) and (file.is_named or bool(file.whole))


def _taken_apart(paths: Iterable[Path], identity: bytes) -> Iterator[_File]:
    for path in paths:
        named = first_of(path)
        try:
            with path.open("rb") as file:
                head = head_of(file, named)
            data = path.read_bytes()
        except FileNotFoundError:  # all of it was applied meanwhile
            continue
        assumed = head or FileHead(identity or bytes(16), named - 1, named)
        found = _File(path, assumed, head is not None, [], [])
        for part in pieces_of(data, assumed):
            if isinstance(part, Whole):
                found.whole.append(_Span(part.position, part.before, part.start, part.end))
            else:
                found.damage.append(part)
        yield found


def _kept(files: Sequence[_File], after: int, acknowledged: int) -> list[Place]:
    """The entries that count: all that were acknowledged, and those that follow them without a gap."""
    found: dict[int, Place] = {}
    for file in files:
        for one in file.whole:
            if one.position > after:
                found.setdefault(one.position, Place(one.position, file.path, one.start, file.head))
    kept: list[Place] = []
    begins = {file.head.first for file in files if file.is_named}
    for position in sorted(found):
        is_next = position in begins or position - 1 in (after, acknowledged) or position - 1 in found
        if position > acknowledged and not is_next:
            break
        kept.append(found[position])
    return kept


def _gaps(
    positions: Sequence[int], never: Sequence[tuple[int, int]], after: int, acknowledged: int
) -> Iterator[tuple[int, int]]:
    """The stretches up to what was acknowledged that are neither here nor were left out on purpose."""
    known = sorted([(p, p) for p in positions] + [(follows + 1, first - 1) for follows, first in never])
    at = after + 1
    for first, last in known:
        if min(first, acknowledged + 1) > at:
            yield at, min(first - 1, acknowledged)
        at = max(at, last + 1)
    if at <= acknowledged:
        yield at, acknowledged


def _torn(files: Sequence[_File], places: Sequence[Place], after: int, acknowledged: int) -> Iterator[tuple[Path, int]]:
    """Where the last files are to be cut: behind the last entry that counts."""
    last = max([after, acknowledged, *(place.position for place in places)])
    for file in files:
        ends = [one.end for one in file.whole if one.position <= last]
        end = max(ends, default=0)
        is_more = any(each.start >= end for each in file.damage) or len(ends) < len(file.whole)
        if is_more or not ends:
            yield file.path, end


def _is_in_order(files: Sequence[_File], places: Sequence[Place], after: int, acknowledged: int) -> bool:
    """Whether the entries that wait lie one behind the other, with nothing but a torn tail between or behind them."""
    last = max([acknowledged, *(place.position for place in places)])
    if last <= after:
        return True
    seen: list[int] = []
    for file in files:
        ends = [one.end for one in file.whole if one.position <= last]
        if not ends:
            continue
        if not file.is_named or any(each.start < max(ends) for each in file.damage):
            return False
        seen += [one.position for one in file.whole if one.position <= last]
    return seen == sorted(set(seen))
