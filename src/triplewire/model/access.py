"""Access: who may read a document, and who may change it (P8).

A document without a list is for everybody of its hub. Names in a list are those of accounts, or those that
a program that embeds a hub gives its people; they are compared letter by letter. One of them, EVERY_ACCOUNT, stands for
all accounts of the hub: such a document is for all who belong to it, and for nobody who only passes by.

Another one, FOREIGN, marks a document that came from another hub of the network. It is there for a viewer who looks at
the whole network (`beyond`), and for no other, not even for the operator: what was published here is what the hub has.
If it came from a unit around the hub, the list also names those who look no further than that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from triplewire.model.reach import HEIGHTS, HUB

EVERY_ACCOUNT = "*"
"""In a list: every account of the hub, and every name that a program gives. No account has this name."""

EVERYBODY = ""
"""A viewer whom no list names: it sees what is for everybody. Nobody has this name."""


_LOOKERS = {f"@{reach}": height for reach, height in HEIGHTS.items() if height != HUB}
"""In a list: those who look beyond their hub, by how far. No account has such a name."""

FOREIGN = "@network"
"""The last of these: those who look at the whole network."""

OWN = "@hub"
"""A viewer who sees everything but what came from other hubs, as the operator does."""

EVERYTHING = f"{FOREIGN} {OWN}"
"""A viewer who sees all that is there."""


def beyond(viewer: str | None, reach: str = "network") -> str:
    """Who sees what a viewer sees, and what came from other hubs, as far as a reach goes.

    >>> beyond("maja"), beyond("maja", "cluster"), beyond(None) == EVERYTHING
    ('@network maja', '@cluster maja', True)
    """
    return f"@{reach} {OWN if viewer is None else viewer}"


def looker(viewer: str | None) -> str:
    """How lists name those who look as far beyond their hub as a viewer; "" for one who does not.

    >>> looker("@cluster maja"), looker("maja"), looker(EVERYTHING)
    ('@cluster', '', '@network')
    """
    first, space, _ = ("" if viewer is None else viewer).partition(" ")
    return first if space and first in _LOOKERS else ""


def reach_of(viewer: str | None) -> str:
    """The reach with which a viewer looks.

    >>> reach_of("@cluster maja"), reach_of("maja")
    ('cluster', 'hub')
    """
    return looker(viewer).removeprefix("@") or "hub"


def at_home(viewer: str | None) -> str | None:
    """The viewer who sees of this hub what a viewer sees, and nothing of others.

    >>> at_home("@network maja"), at_home(EVERYTHING), at_home("maja")
    ('maja', None, 'maja')
    """
    found = viewer.removeprefix(f"{looker(viewer)} ") if viewer is not None else None
    return None if found == OWN else found


def sight_among(viewer: str | None, named: Collection[str]) -> str | None:
    """A viewer who sees the same, where lists name these: so that what is done for each is done for few of them.

    None where all is seen.
    """
    home = at_home(viewer)
    sight: str | None
    if home is None or home in named or home == EVERYBODY:
        sight = home
    else:
        sight = EVERY_ACCOUNT if EVERY_ACCOUNT in named else EVERYBODY
    if FOREIGN not in named:
        return sight
    if looker(viewer) in named:
        return beyond(sight, reach_of(viewer))
    return OWN if sight is None else sight


@dataclass(frozen=True, slots=True)
class Access:
    """A document's list: its readers, and its writers, who may read it, publish and retract it, and change the list.

    Who is both is a writer.

    >>> Access(["maja"], ["harbour"]).may_read("harbour"), Access(["maja"]).may_write("maja")
    (True, False)
    """

    readers: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()

    def __init__(self, readers: Iterable[str] = (), writers: Iterable[str] = ()) -> None:
        for name, given in (("readers", readers), ("writers", writers)):
            names = [given] if isinstance(given, str) else list(given)
            if isinstance(given, str) or not all(isinstance(each, str) and each for each in names):
                raise TypeError(f"{name} of an access list are the names of accounts, none of them empty: {names!r}")
            object.__setattr__(self, name, tuple(sorted(set(names))))
        object.__setattr__(self, "readers", tuple(name for name in self.readers if name not in self.writers))

    def may_read(self, viewer: str | None) -> bool:
        """Whether the document is there for a viewer; None is the operator of the hub, who may do everything."""
        if FOREIGN in self.readers:
            return looker(viewer) in self.readers
        home = at_home(viewer)
        return home is None or _has(self.readers, home) or _has(self.writers, home)

    def may_write(self, writer: str | None) -> bool:
        """Whether an account may change the document, or this list."""
        return writer is None or _has(self.writers, writer)

    def __str__(self) -> str:
        return f"read by {', '.join(self.readers) or 'nobody else'}; changed by {', '.join(self.writers) or 'nobody'}"


def foreign_list(distance: int) -> Access:
    """The list of a document that came from a hub so far away: the height of the smallest unit around both.

    >>> foreign_list(2).readers
    ('@network', '@super-cluster', '@super-super-cluster')
    """
    return Access(readers=[name for name, height in _LOOKERS.items() if height >= distance])


def _has(names: Collection[str], account: str) -> bool:
    return account in names or (EVERY_ACCOUNT in names and account != EVERYBODY)
