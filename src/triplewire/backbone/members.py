"""What a hub of a backbone remembers: a few values in its store, written with what they say is there."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from uuid import uuid4

from triplewire.backbone.status import HomeConflict
from triplewire.engine import taxonomies
from triplewire.engine.batch import policies
from triplewire.engine.names import BACKBONE
from triplewire.store import Reader, Writer
from triplewire.wire.backbones import NEVER, MemberQuestion, Stamp
from triplewire.wire.edges import digest_of

_MOST_CONFLICTS = 1_000


@dataclass(frozen=True)
class MemberState:
    """The name of a hub among the others, and how far it is with each of them.

    Invariant: a position is written in the transaction that takes over the batches up to it.
    """

    name: str
    positions: dict[str, int] = field(default_factory=dict)
    stamps: dict[str, Stamp] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)
    """The digests of the schema and the taxonomy that the stamps are of."""
    conflicts: tuple[HomeConflict, ...] = ()

    @classmethod
    def read(cls, reader: Reader) -> MemberState | None:
        """What the store has; None if it never was part of a backbone."""
        kept: dict[str, Any] | None = reader.settings.get(BACKBONE)
        if kept is None:
            return None
        conflicts = tuple(HomeConflict(**each) for each in kept["conflicts"])
        stamps = {name: (number, hub) for name, (number, hub) in kept["stamps"].items()}
        return cls(**kept | {"conflicts": conflicts, "stamps": stamps})

    def write(self, writer: Writer) -> None:
        """Keep it."""
        writer.settings.set(BACKBONE, asdict(self))

    def stamp(self, kind: str) -> Stamp:
        """Which schema or taxonomy it has."""
        return self.stamps.get(kind, NEVER)

    def reached(self, positions: dict[str, int]) -> MemberState:
        """Further on with homes; never back."""
        further = {home: number for home, number in positions.items() if number > self.positions.get(home, 0)}
        return replace(self, positions=self.positions | further) if further else self

    def decided(self, conflicts: tuple[HomeConflict, ...]) -> MemberState:
        """With conflicts that were decided; of many, the last ones."""
        every = tuple(dict.fromkeys((*self.conflicts, *conflicts)))
        return replace(self, conflicts=every[-_MOST_CONFLICTS:])

    def stamped(self, reader: Reader) -> MemberState:
        """With new stamps, if the schema or the taxonomy was replaced here since."""
        found = self
        for kind, nothing in _NOTHING.items():
            digest = _digest(_stored(kind, reader))
            if digest != found.seen.get(kind, nothing):
                stamp = found.stamp(kind)[0] + 1, self.name
                found = replace(found, stamps=found.stamps | {kind: stamp}, seen=found.seen | {kind: digest})
        return found

    def took(self, kind: str, stamp: Stamp, reader: Reader) -> MemberState:
        """With the schema or taxonomy of another hub."""
        digest = _digest(_stored(kind, reader))
        return replace(self, stamps=self.stamps | {kind: stamp}, seen=self.seen | {kind: digest})

    def question(self, *, wait: float = 0.0) -> MemberQuestion:
        """What is to be asked now."""
        return MemberQuestion(self.name, self.positions, self.stamp("schema"), self.stamp("taxonomy"), wait=wait)


def _stored(kind: str, reader: Reader) -> tuple[Any, ...]:
    return policies.stored(reader) if kind == "schema" else taxonomies.stored(reader)


def _digest(value: tuple[Any, ...]) -> str:
    return digest_of([json.dumps(value, sort_keys=True)])


_NOTHING = {"schema": _digest(("refuse", [])), "taxonomy": _digest(([], {}))}
"""The digests where none was ever given."""


def new_state(name: str) -> MemberState:
    """That of a hub which joins a backbone, under a name that no other has: a store that is lost is another hub."""
    return MemberState(f"{name}-{uuid4().hex[:8]}" if name else f"hub-{uuid4().hex[:8]}")
