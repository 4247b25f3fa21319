"""Repeats: requests that came with a key of their client's, so that one that comes again is known.

Of each the account, the key, a digest of what was asked, the batch that it became, and what the client was told.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

from triplewire.store import schema
from triplewire.store.sql import StorePart, is_storable


@dataclass(frozen=True, slots=True)
class Repeat:
    """A request that was applied, when (in milliseconds since 1970), and its answer, as the service spells it."""

    account: str
    key: str
    digest: bytes
    batch: str
    kept: int
    answer: bytes


class RepeatReader(StorePart):
    """Requests by account and key."""

    def find(self, account: str, key: str, since: int) -> Repeat | None:
        """The request of an account with this key, if it is not from before a time."""
        if not is_storable(key):
            return None
        found = self._sql.select(schema.repeats, "WHERE account = ? AND key = ? AND kept >= ?", account, key, since)
        return Repeat(*found[0]) if found else None


class RepeatWriter(RepeatReader):
    """Requests, and new ones."""

    def add(self, repeat: Repeat, *, since: int, most: int) -> None:
        """Keep a request; away with those from before a time, and with the oldest of its account over so many."""
        self._sql.run("DELETE FROM repeats WHERE kept < ?", since)
        self._sql.replace(schema.repeats, [astuple(repeat)])
        self._sql.run(
            "DELETE FROM repeats WHERE account = ? AND kept < (SELECT kept FROM repeats WHERE account = ?"
            " ORDER BY kept DESC LIMIT 1 OFFSET ?)",
            repeat.account,
            repeat.account,
            most - 1,
        )
