"""A server in a thread of its own, with an event loop of its own: for what a benchmark listens with."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class Server(ABC):
    """Listens on a free port of a host until it is stopped; `serve` has a connection each."""

    def __init__(self, host: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self.do(asyncio.start_server(self.serve, host, 0, backlog=512))
        self.port: int = self._server.sockets[0].getsockname()[1]

    @abstractmethod
    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Have a connection."""

    def do(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What something gives that runs in the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        """End all connections, and the thread."""
        self.do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
