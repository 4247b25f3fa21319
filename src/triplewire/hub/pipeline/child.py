"""The pipeline as a child of the service: started, watched, started again, ended with it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

from triplewire.hub.changes.applier import GRACE
from triplewire.hub.changes.group_commit import ended
from triplewire.hub.pipeline.process import ALIVE, APPLIED, READY
from triplewire.hub.settings import Settings

log = logging.getLogger("triplewire.hub")

_SILENCE = 30.0
"""Seconds without a sign of life of the process, after which it is ended: it may be frozen."""
_PATIENCE = (1.0, 2.0, 5.0, 15.0, 60.0)
"""Seconds before it is started again, each time it has ended by itself; the last of them again and again."""


class Child:
    """A process that applies what waits.

    `ready` is called when it is there, and `gone` when it is not any more, both in a thread; `applied` after each of
    its batches, with the name of the tenant. It reads the service's end as the end of its input: however the service
    ends, it does not stay behind.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        ready: Callable[[], object],
        gone: Callable[[], object],
        applied: Callable[[str], object],
    ) -> None:
        self._settings, self._ready, self._gone, self._applied = settings, ready, gone, applied
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_closing = False
        self.is_ready = False
        self.trouble: str | None = None
        """Why it is not there, after it has failed."""

    @property
    def pid(self) -> int | None:
        """The process's id, while there is one."""
        return None if self._process is None else self._process.pid

    def look(self) -> None:
        """There is a tenant that it may not know yet; should the process have ended, the next one looks anyway."""
        process = self._process
        if process is not None and process.stdin is not None and not process.stdin.is_closing():
            process.stdin.write(b"look\n")

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._stay(), name="triplewire pipeline")

    async def close(self) -> None:
        """Let it finish, and wait for its end."""
        self._is_closing, process = True, self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()
            try:
                async with asyncio.timeout(3 * GRACE):
                    await process.wait()
            except TimeoutError:
                _end(process)
                await process.wait()
        if self._task is not None:
            await ended(self._task)

    async def _stay(self) -> None:
        failures = 0
        while True:
            was_ready = await self._until_it_ends()
            if self._is_closing:
                return
            await asyncio.to_thread(self._gone)
            self.trouble = self.trouble or "the pipeline has ended"
            failures = 1 if was_ready else failures + 1
            pause = _PATIENCE[min(failures, len(_PATIENCE)) - 1]
            log.warning("the pipeline has ended; this process applies changes, and starts it again in %g s", pause)
            await asyncio.sleep(pause)

    async def _until_it_ends(self) -> bool:
        """Run it; whether it was ready once."""
        # In a session of its own, so that Ctrl-C is a matter of the service alone.
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "triplewire.hub.pipeline.process",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(ConnectionError):
            process.stdin.write(json.dumps(self._settings.plain()).encode() + b"\n")
            await process.stdin.drain()
        was_ready = False
        while (line := await self._line(process)) is not None:
            if line == READY:
                was_ready, self.is_ready, self.trouble = True, True, None
                await asyncio.to_thread(self._ready)
            elif line != ALIVE:
                self._applied(line.removeprefix(f"{APPLIED} "))
        await process.wait()
        self.is_ready = False
        return was_ready

    async def _line(self, process: asyncio.subprocess.Process) -> str | None:
        """What it says next; None when it has ended. One that gives no sign of life is ended."""
        assert process.stdout is not None
        try:
            async with asyncio.timeout(_SILENCE):
                line = await process.stdout.readline()
        except TimeoutError:
            self.trouble = f"the pipeline gave no sign of life for {_SILENCE:g} seconds, and was ended"
            log.error("%s", self.trouble)
            _end(process)
            return None
        return line.decode().strip() if line else None


def _end(process: asyncio.subprocess.Process) -> None:
    """With all that it has started: Java would stay behind, and go on with a session that nobody has."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # it has a session of its own
