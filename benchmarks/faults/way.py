"""The way between clients and a service: a relay on loopback that can be cut and delayed."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from benchmarks.servers import Server


class Way(Server):
    """Passes bytes on to a port; whoever it is cut for gets no answer."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.delay = 0.0
        """Seconds that each piece takes."""
        self._writers: set[asyncio.StreamWriter] = set()
        super().__init__("127.0.0.1")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """See `Server.serve`."""
        try:
            there, onward = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.close()
            return
        self._writers |= {writer, onward}
        try:
            await asyncio.gather(self._pass(reader, onward), self._pass(there, writer))
        finally:
            self._writers -= {writer, onward}

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                if self.delay:
                    await asyncio.sleep(self.delay)
                writer.write(data)
                await writer.drain()
        writer.close()

    def cut(self) -> int:
        """Cut all connections that are open now, in the middle of whatever they do; how many that were."""
        return self.do(self._cut())

    async def _cut(self) -> int:
        writers = list(self._writers)
        for writer in writers:
            writer.transport.abort()
        return len(writers) // 2
