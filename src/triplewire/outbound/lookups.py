"""Lookups: the addresses of a name, without a thread that others need.

The system's resolver cannot be interrupted, and a name whose servers do not answer holds a thread for half a minute.
An event loop would take its threads for it, which are few, and which the store is read with too. So each lookup has a
thread of its own, up to a number that the deliveries of one account cannot use up (`deliver.lanes`).
"""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import suppress
from typing import Any

Addresses = list[tuple[Any, ...]]
"""As socket.getaddrinfo gives them."""

_MOST = 512
_running = threading.BoundedSemaphore(_MOST)


async def looked_up(host: str, port: int) -> Addresses:
    """What the resolver says; OSError or UnicodeError if it knows none, or if too many lookups hang already."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Addresses] = loop.create_future()

    def tell(found: Addresses | Exception) -> None:
        if answer.done():  # nobody waits any more
            return
        if isinstance(found, Exception):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    def look() -> None:
        found: Addresses | Exception
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            found = error
        finally:
            _running.release()
        with suppress(RuntimeError):  # the loop is closed meanwhile
            loop.call_soon_threadsafe(tell, found)

    if not _running.acquire(blocking=False):
        raise OSError("too many names are being looked up; try again later")
    threading.Thread(target=look, name="triplewire lookup", daemon=True).start()
    return await answer
