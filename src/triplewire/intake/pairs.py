"""Pairs: a store that is a file, and the journal beside it; how each knows that the other is the right one, and whole.

The store notes the identity of its journal, the position that it has taken of it, and, when a service has ended in
peace, the last position that was acknowledged. The journal's mark has the identity, that last position, and the last
batch that the store was seen to have. So neither of them can be lost, emptied, exchanged or set back unnoticed.

A copy that `back_up` makes has no journal: what waited is on its own log. It is another store, which begins another
journal. A store that is copied as a file, without its journal, is well if nothing waited when its service ended.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from secrets import token_bytes

from triplewire.errors import DamagedJournal, StoreError
from triplewire.intake.journal import Gap, Journal, Survey
from triplewire.intake.journal.entries import MARK, files_of, strangers_in
from triplewire.intake.journal.journal import held
from triplewire.intake.journal.survey import survey
from triplewire.store import Reader, Store, WaitingEntry, Writer, sync_folder
from triplewire.store.files import private_folder

log = logging.getLogger("triplewire.hub")

_POSITION, _MOVED, _KNOWN = "hub.journal", "hub.journal.moved", "hub.journal.known"
_AT_ONCE = 1_000


def folder_of(url: str) -> Path | None:
    """Where the journal of a store is; None if it has none."""
    path = url.removeprefix("sqlite:///")
    return None if path in (url, "", ":memory:") else Path(f"{path}.journal")


# -- what the store notes


def position_of(reader: Reader) -> int:
    """Up to where the journal is taken: applied, or moved to the store's own log."""
    return int(reader.settings.get(_POSITION, 0))


def taken_of(reader: Reader) -> tuple[int, bytes]:
    """The same position, and whose journal it is; without an identity, the store has none."""
    return position_of(reader), bytes.fromhex(reader.settings.get(_KNOWN, {"identity": ""})["identity"])


def applied_of(reader: Reader) -> int:
    """Up to where the journal is applied: not what was moved, as long as some of it waits there."""
    before, moved = reader.settings.get(_MOVED, [0, 0])
    return int(before) if reader.intake.first() <= moved else position_of(reader)


def note(writer: Writer, position: int) -> None:
    """From now on, the journal is taken up to this position."""
    writer.settings.set(_POSITION, position)


def move(writer: Writer, waiting: Iterable[WaitingEntry]) -> None:
    """Entries of the journal, to the store's own log."""
    entries = iter(waiting)
    before = applied_of(writer)
    while some := list(islice(entries, _AT_ONCE)):
        moved = writer.intake.append_each([one.entry for one in some])
        note(writer, some[-1].position)
        writer.settings.set(_MOVED, [before, moved])


def part(writer: Writer) -> None:
    """This store has no journal from now on; a service gives it another one."""
    writer.settings.remove(_KNOWN)


@dataclass(frozen=True, slots=True)
class _Side:
    """What a store knows of its journal; without an identity, it has none. `last` is there after an end in peace."""

    identity: bytes
    last: int | None
    position: int
    batch: int

    @classmethod
    def of(cls, reader: Reader) -> _Side:
        known = reader.settings.get(_KNOWN, {"identity": "", "last": None})
        return cls(bytes.fromhex(known["identity"]), known["last"], position_of(reader), reader.batches.last())


def _know(store: Store, identity: bytes, last: int | None) -> None:
    with store.writing() as writer:
        writer.settings.set(_KNOWN, {"identity": identity.hex(), "last": last})


# -- whether they belong together


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with a pair, in sentences; what is gone by that; and whether the journal is another store's."""

    wrong: tuple[str, ...] = ()
    gone: tuple[Gap, ...] = ()
    is_of_another: bool = False

    def refuse(self, folder: Path) -> None:
        """DamagedJournal, if anything is wrong."""
        if self.wrong:
            raise DamagedJournal(str(folder), [str(gap) for gap in self.gone], reason="; ".join(self.wrong))


def judge(side: _Side, found: Survey) -> Verdict:
    """Whether a store and a journal belong together, and nothing is missing."""
    identities = found.identities | ({found.mark.identity} - {b""})
    if identities - {side.identity}:
        return _of_another(side, found)
    if side.identity and not identities and not found.places:
        return _missing(side, found)
    wrong = [f"changes were acknowledged, and cannot be read: {gap}" for gap in found.gone]
    wrong += found.doubts()
    if found.mark.batch > side.batch:
        wrong.append(
            f"the store is older than its journal: it had batch {found.mark.batch}, and its last one is {side.batch}; "
            "its write-ahead log is lost, or an old copy was put in its place"
        )
    return Verdict(tuple(wrong), found.gone)


def _of_another(side: _Side, found: Survey) -> Verdict:
    waiting = max(0, found.last - found.mark.applied)
    if not waiting and not side.identity:  # a new store was made here, and nothing in this journal is lost
        return Verdict(is_of_another=True)
    what = f"up to {waiting} changes wait in it" if waiting else "nothing waits in it"
    return Verdict((f"this journal belongs to another store than the one beside it, and {what}",), is_of_another=True)


def _missing(side: _Side, found: Survey) -> Verdict:
    """The store has a journal, and nothing of it is here."""
    if side.last is None:
        return Verdict(
            (
                f"the journal of this store is missing; what was acknowledged and not applied by then (after position "
                f"{side.position}) is gone with it",
            )
        )
    if side.position >= side.last:
        return Verdict(tuple(found.doubts()))
    gap = Gap(side.position + 1, side.last)
    return Verdict((f"the journal of this store is missing, and with it what waited: {gap}",), (gap,))


def problems(store: Store) -> Iterator[str]:
    """What is wrong with the journal of a store, or between the two; while a service works, too."""
    folder = folder_of(store.url)
    if folder is None:
        return
    verdict, found = _looked_at(store, folder)
    yield from (f"{folder.name}: {text}" for text in verdict.wrong)
    if not found.gone and not found.is_in_order:
        yield f"{folder.name}: its files are out of order; nothing is gone: a service sets them right when it starts"


def refuse_damage(store: Store) -> None:
    """DamagedJournal if a service must not start on a store before an operator has decided."""
    folder = folder_of(store.url)
    if folder is not None:
        _looked_at(store, folder)[0].refuse(folder)


def _looked_at(store: Store, folder: Path) -> tuple[Verdict, Survey]:
    with store.reading() as reader:
        before = _Side.of(reader)
    found = survey(folder, before.position, before.identity)
    with store.reading() as reader:
        side = _Side.of(reader)  # what was dropped from the journal meanwhile, the store has by now
    found = replace(found, gone=tuple(gap for gap in found.gone if gap.last > side.position))
    return judge(side, found), found


# -- opening, closing, repairing


def open_journal(store: Store) -> Journal:
    """The journal of a store, begun if it has none; DamagedJournal if they do not fit, StoreBusy if it is in use.

    What is out of order without anything missing is set right.
    """
    folder = folder_of(store.url)
    assert folder is not None
    with held(folder), store.reading() as reader:
        side = _Side.of(reader)
        found = survey(folder, side.position, side.identity)
    verdict = judge(side, found)
    verdict.refuse(folder)
    if verdict.is_of_another or not found.is_in_order:
        log.warning("%s: it is set right; its files are kept in %s", folder, repair(store).aside)
        return open_journal(store)
    identity = side.identity
    if not identity:  # known to both before anything is added, in steps that may be cut off anywhere
        identity = token_bytes(16)
        _know(store, identity, side.position)
    journal = Journal(folder, after=side.position, identity=identity)
    try:
        _know(store, journal.identity, None)
    except BaseException:
        journal.close()
        raise
    return journal


def close_journal(store: Store, journal: Journal) -> None:
    """Let go of a journal; the store notes how far it went, so that it can be told later whether all of it is there."""
    with suppress(StoreError):  # it is no harm if it cannot
        _know(store, journal.identity, journal.acknowledged)
    journal.close()


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was done: how many changes were saved, what is gone, and where the files are that were there."""

    saved: int
    wrong: tuple[str, ...]
    aside: Path | None


def repair(store: Store) -> Repaired:
    """Save what can be read of a journal into the store's own log, keep its files aside, and accept what is gone.

    StoreBusy while a service adds to it. A journal of another store is only set aside: nothing of it is applied.
    """
    folder = folder_of(store.url)
    if folder is None:
        return Repaired(0, (), None)
    with held(folder):
        with store.writing() as writer:
            side = _Side.of(writer)
            found = survey(folder, side.position, side.identity)
            verdict = judge(side, found)
            if not verdict.is_of_another:
                move(writer, found.entries())
                note(writer, max(side.position, found.last, side.last or 0))
            part(writer)
        aside = _set_aside(folder, "of-another-store" if verdict.is_of_another else "repaired")
    return Repaired(0 if verdict.is_of_another else len(found.places), verdict.wrong, aside)


def _set_aside(folder: Path, why: str) -> Path | None:
    """All files of a journal, in a folder of their own inside it; it is whole again if this is cut off and repeated."""
    paths = [*files_of(folder), *strangers_in(folder), *(path for path in [folder / MARK] if os.path.lexists(path))]
    if not paths:
        return None
    aside = folder / f"{why}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    private_folder(aside)
    for path in paths:
        path.rename(aside / path.name)
    sync_folder(aside)
    sync_folder(folder)
    return aside
