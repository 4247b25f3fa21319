"""Access: who may read a document, and who may change it (P8).

A document without a list is for everybody of its hub. Names in a list are those of accounts, or those that
a program that embeds a hub gives its people; they are compared letter by letter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


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
        return viewer is None or viewer in self.readers or viewer in self.writers

    def may_write(self, writer: str | None) -> bool:
        """Whether an account may change the document, or this list."""
        return writer is None or writer in self.writers

    def __str__(self) -> str:
        return f"read by {', '.join(self.readers) or 'nobody else'}; changed by {', '.join(self.writers) or 'nobody'}"
