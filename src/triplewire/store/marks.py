"""Marks: up to where each account has looked at the events of its subscriptions."""

from __future__ import annotations

from triplewire.store import schema
from triplewire.store.sql import StorePart


class MarkReader(StorePart):
    """Marks by account; nobody has the empty name."""

    def of(self, account: str) -> int:
        """The cursor up to which an account has looked; 0 if it never did."""
        return self._sql.number("SELECT cursor FROM marks WHERE account = ?", account)


class MarkWriter(MarkReader):
    """Marks, and new ones."""

    def set(self, account: str, cursor: int) -> None:
        """An account has looked up to here."""
        self._sql.replace(schema.marks, [(account, cursor)])
