"""What a hub of a backbone says of itself and of the others."""

from __future__ import annotations

from dataclasses import dataclass, field

from triplewire.network.channels.status import UplinkStatus


@dataclass(frozen=True)
class HomeConflict:
    """A document that was registered at two hubs while they did not know of each other: `home` counts, `other` not."""

    uri: str
    home: str
    other: str


@dataclass(frozen=True)
class Replicated:
    """What a sync has brought: batches and documents of other homes, and hubs that could not be asked, with the reason.

    `repaired` are documents that differed although nothing was missing; `passed` changes that had waited for their
    home.
    """

    batches: int = 0
    documents: int = 0
    passed: int = 0
    repaired: tuple[str, ...] = ()
    away: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MemberStatus:
    """Another hub of the backbone, as this one sees it: its name, once that is known, and its address.

    `problem` says why it could not be asked the last time; `link` what the channel to it does, None where it is of this
    process, or asked over HTTP.
    """

    name: str
    url: str
    problem: str = ""
    link: UplinkStatus | None = None


@dataclass(frozen=True)
class BackboneStatus:
    """A hub of a backbone: its name, how far it is with each home, what is away or waits, and what was decided.

    `homes` has how many documents that are here belong to each home.
    """

    name: str
    positions: dict[str, int]
    away: dict[str, str]
    waiting: int
    conflicts: tuple[HomeConflict, ...]
    homes: dict[str, int] = field(default_factory=dict)
    members: tuple[MemberStatus, ...] = ()
