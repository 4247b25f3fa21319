"""Access lists: which documents are not for everybody, and who may read and write these.

A document without a list is for everybody; its first publisher may give it one. What a viewer may read is decided
here, once: as a condition on whatever names a document (`seen`), and for lists that are in memory by `Access` itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from triplewire.model.access import (
    EVERY_ACCOUNT,
    EVERYBODY,
    EVERYTHING,
    FOREIGN,
    OWN,
    Access,
    at_home,
    looker,
    sight_among,
)
from triplewire.store import schema
from triplewire.store.sql import Sql, StorePart

_COUNTER = "access"


def seen(viewer: str | None, document: str) -> tuple[str, tuple[str, ...]]:
    """What to add to a WHERE clause, and its values, so that only documents are left that a viewer may read."""
    if viewer is None or viewer == EVERYTHING:
        return "", ()
    entries = f"SELECT 1 FROM access_entries ae WHERE ae.document = {document} AND ae.account"
    if viewer == OWN:
        return f" AND NOT EXISTS ({entries} = ?)", (FOREIGN,)
    home = at_home(viewer)
    if home is None:
        return f" AND (NOT EXISTS ({entries} = ?) OR EXISTS ({entries} = ?))", (FOREIGN, looker(viewer))
    unlisted = f"NOT EXISTS (SELECT 1 FROM access_lists al WHERE al.document = {document})"
    names = [] if home == EVERYBODY else [home, EVERY_ACCOUNT]
    names += [looker(viewer)] if looker(viewer) else []
    if not names:
        return f" AND {unlisted}", ()
    return f" AND ({unlisted} OR EXISTS ({entries} IN ({', '.join('?' * len(names))})))", tuple(names)


class AccessReader(StorePart):
    """Lists by document; what is asked of every batch is read once in a transaction."""

    def __init__(self, sql: Sql) -> None:
        super().__init__(sql)
        self._has_lists: bool | None = None
        self._named: frozenset[str] | None = None

    def number(self) -> int:
        """Grows with every change of a list; 0 as long as no document ever had one."""
        return self._sql.counter(_COUNTER)

    @property
    def has_lists(self) -> bool:
        """Whether any document has a list."""
        if self._has_lists is None:
            self._has_lists = bool(self._sql.rows("SELECT document FROM access_lists LIMIT 1"))
        return self._has_lists

    def named(self) -> frozenset[str]:
        """Everybody who is named in a list."""
        if self._named is None:
            found = self._sql.rows("SELECT DISTINCT account FROM access_entries") if self.has_lists else ()
            self._named = frozenset(account for (account,) in found)
        return self._named

    def sight_of(self, viewer: str | None) -> str | None:
        """A viewer who sees the same, as `sight_among` has it; None where all is seen."""
        if not self.has_lists:
            return None
        return sight_among(viewer, self.named())

    def of(self, documents: Iterable[int]) -> dict[int, Access]:
        """The lists of those of the documents that have one."""
        listed = [d for (d,) in self._sql.where(schema.access_lists, "document", documents)] if self.has_lists else []
        readers: dict[int, list[str]] = {document: [] for document in listed}
        writers: dict[int, list[str]] = {document: [] for document in listed}
        for document, account, writes in self._sql.where(schema.access_entries, "document", listed):
            (writers if writes else readers)[document].append(account)
        return {document: Access(readers[document], writers[document]) for document in readers}

    def publishers(self, documents: Iterable[int]) -> dict[int, str]:
        """Who published each of the documents first, where that is known."""
        return dict(self._sql.where(schema.publishers, "document", documents))

    def listed(self) -> list[int]:
        """The documents that have a list."""
        found = self._sql.rows("SELECT document FROM access_lists ORDER BY document") if self.has_lists else ()
        return [document for (document,) in found]


class AccessWriter(AccessReader):
    """Lists, and changes of them."""

    def note_publishers(self, publishers: Sequence[tuple[int, str]]) -> None:
        """Who published documents that are new."""
        self._sql.insert(schema.publishers, publishers)

    def set(self, changes: Sequence[tuple[int, Access | None]]) -> None:
        """Other lists for documents; without one, a document is for everybody. Each document is named once.

        Those of documents that come from other hubs do not count as changes: they take nothing from a viewer here.
        """
        if not changes:
            return
        documents = [(document,) for document, _ in changes]
        self._sql.delete(schema.access_lists, ("document",), documents)
        self._sql.delete(schema.access_entries, ("document",), documents)
        lists = [(document, access) for document, access in changes if access is not None]
        self._sql.insert(schema.access_lists, [(document,) for document, _ in lists])
        entries = [(document, account, 1) for document, access in lists for account in access.writers]
        entries += [(document, account, 0) for document, access in lists for account in access.readers]
        self._sql.insert(schema.access_entries, sorted(entries))
        if any(access is None or FOREIGN not in access.readers for _, access in changes):
            self._sql.take(_COUNTER, 1)
        self._has_lists = self._named = None
