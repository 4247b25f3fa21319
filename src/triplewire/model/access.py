"""Access: who may read a document, and who may change it (P8).

A document without a list is for everybody of its hub. Names in a list are those of accounts, or those that
a program that embeds a hub gives its people; they are compared letter by letter. One of them, EVERY_ACCOUNT, stands for
all accounts of the hub: such a document is for all who belong to it, and for nobody who only passes by.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

EVERY_ACCOUNT = "*"
"""In a list: every account of the hub, and every name that a program gives. No account has this name."""

EVERYBODY = ""
"""A viewer whom no list names: it sees what is for everybody. Nobody has this name."""


def sight_among(viewer: str, named: Collection[str]) -> str:
    """A viewer who sees the same, where lists name these: so that what is done for each is done for few of them."""
    if viewer in named or viewer == EVERYBODY:
        return viewer
    return EVERY_ACCOUNT if EVERY_ACCOUNT in named else EVERYBODY


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
        return viewer is None or _has(self.readers, viewer) or _has(self.writers, viewer)

    def may_write(self, writer: str | None) -> bool:
        """Whether an account may change the document, or this list."""
        return writer is None or _has(self.writers, writer)

    def __str__(self) -> str:
        return f"read by {', '.join(self.readers) or 'nobody else'}; changed by {', '.join(self.writers) or 'nobody'}"


def _has(names: Collection[str], account: str) -> bool:
    return account in names or (EVERY_ACCOUNT in names and account != EVERYBODY)
