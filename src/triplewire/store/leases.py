"""Leases: something that one process at a time does for a store, any of several.

The operating system, or the database server, gives a lease back when its holder dies: nobody waits for a time to pass.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from time import monotonic

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from triplewire.errors import StoreUnavailable

_ASK_AGAIN = 1.0
"""Seconds after which a holder asks the server whether it still is."""


class Lease(ABC):
    """A process that wants to be the one."""

    @abstractmethod
    def hold(self) -> bool:
        """Whether this is the holder now; it becomes it, if nobody else is."""

    @abstractmethod
    def release(self) -> None:
        """Let others have it."""

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for it, and give it back at the end: for writers by turns, where the database knows no queue."""
        yield


class NoOthers(Lease):
    """The lease of a store in memory, which no other process sees."""

    def hold(self) -> bool:
        return True

    def release(self) -> None:
        return


class FileLease(Lease):
    """The lease of a store that is a file: a lock on another file beside it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def hold(self) -> bool:
        if self._file is None:
            self._file = self._locked(waits=False)
        return self._file is not None

    @contextmanager
    def turn(self) -> Iterator[None]:
        file = self._locked(waits=True)
        try:
            yield
        finally:
            if file is not None:
                os.close(file)

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _locked(self, *, waits: bool) -> int | None:
        import fcntl  # not on every system, and not everybody needs it

        try:
            file = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreUnavailable(f"{self._path} cannot be opened: {error.strerror}") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except OSError:
            os.close(file)
            return None
        return file


class ServerLease(Lease):
    """Of a store in a server: an advisory lock of a connection, which is lost when the connection is."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._key = int.from_bytes(blake2b(f"triplewire {name}".encode(), digest_size=8).digest(), signed=True)
        self._connection: Connection | None = None
        self._asked = 0.0

    def hold(self) -> bool:
        try:
            if self._connection is None:
                return self._acquired()
            if monotonic() - self._asked > _ASK_AGAIN:
                self._connection.exec_driver_sql("SELECT 1").close()
                self._asked = monotonic()
        except DBAPIError as error:
            self.release()
            raise StoreUnavailable(f"the server cannot be used: {error.orig}") from None
        return True

    def _acquired(self) -> bool:
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            (is_ours,) = connection.exec_driver_sql("SELECT pg_try_advisory_lock(%s)", (self._key,)).one()
        except BaseException:
            connection.invalidate()
            connection.close()
            raise
        if is_ours:
            self._connection, self._asked = connection, monotonic()
        else:
            connection.close()
        return bool(is_ours)

    def release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        with suppress(DBAPIError):
            if not connection.invalidated:  # with the server's session its locks have ended
                connection.exec_driver_sql("SELECT pg_advisory_unlock(%s)", (self._key,)).close()
        with suppress(DBAPIError):
            connection.invalidate()  # a lock that is not given back ends with the server's session
            connection.close()
