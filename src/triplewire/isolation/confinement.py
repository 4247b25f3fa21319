"""Confinement: what a process gives up, for good, before it works on what a stranger sent.

The engine that answers SPARQL is written in Rust and opens connections by itself, so nothing that Python replaces
could keep it from the network. The operating system can, in two ways, of which each is enough:

    no new file      RLIMIT_NOFILE of 0: every call that would give a descriptor fails, a socket's among them. POSIX
                     has it, so this holds on every system that triplewire runs on.
    no such call     a seccomp filter (Linux, x86-64 and arm64) that refuses to make a socket, to connect one, to set
                     up io_uring, which could do both, and to start a program.

What was open before is closed, but for the one pipe that the result goes to. Memory is limited by the size of the
address space (RLIMIT_AS), which Linux counts and macOS does not; processor time by RLIMIT_CPU.

Invariant: a process that has entered its confinement cannot leave it, nor can what it forks. A privileged one
(CAP_SYS_RESOURCE) could raise its limits again, but not take the filter away.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import struct
import sys
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Final

_STDERR: Final = 2
_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
"""prctl's PR_SET_NO_NEW_PRIVS and PR_SET_SECCOMP, and SECCOMP_MODE_FILTER."""
_ARCHITECTURE_AT, _CALL_AT = 4, 0
"""Where the kernel lays them before the filter (struct seccomp_data)."""
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
_OTHER_ABI: Final = 0x40000000
"""Calls from this number on are those of x32, which are the same calls under other numbers."""
_REFUSED: Final = {
    # machine: (AUDIT_ARCH, (socket, connect, execve, execveat, io_uring_setup))
    "x86_64": (0xC000003E, (41, 42, 59, 322, 425)),
    "aarch64": (0xC00000B7, (198, 203, 221, 281, 425)),
}


@dataclass(frozen=True, slots=True)
class Confinement:
    """No network and no files; `memory` more bytes than it has already, and so many seconds of processor time."""

    memory: int | None = None
    seconds: float | None = None

    def enter(self, keep: int) -> None:
        """Give everything up but the descriptor `keep`, and standard error for last words."""
        _close_all_but(keep)
        self.limit()
        _limit(resource.RLIMIT_NOFILE, 0)
        _filter_calls()

    def limit(self) -> None:
        """Give up memory and time alone: for work that has to open files."""
        if self.memory is not None and (taken := _address_space()) is not None:
            _limit(resource.RLIMIT_AS, taken + self.memory)
        if self.seconds is not None:
            _limit(resource.RLIMIT_CPU, ceil(self.seconds) + 1)
        _limit(resource.RLIMIT_CORE, 0)


def _close_all_but(keep: int) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if most == resource.RLIM_INFINITY:
        most = os.sysconf("SC_OPEN_MAX")
    os.closerange(0, min(keep, _STDERR))
    os.closerange(_STDERR + 1, keep)
    os.closerange(max(keep, _STDERR) + 1, most)


def _limit(kind: int, most: int) -> None:
    """Set both limits, so that they cannot be raised again; a lower one that holds already stays."""
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(kind, (most, most))


def _address_space() -> int | None:
    """How many bytes of addresses this process has; None where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except OSError:
        return None


def _filter_calls() -> None:
    """Have the kernel refuse the calls; nothing where it has no such filter, since no new file is enough."""
    known = _REFUSED.get(platform.machine()) if sys.platform == "linux" else None
    if known is None:
        return
    program = _program(*known)
    instructions = ctypes.create_string_buffer(program)
    # struct sock_fprog: a count of instructions, and where they are
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NEW_PRIVILEGES, 1, 0, 0, 0) == 0:
        libc.prctl(_SECCOMP, _FILTER, header, 0, 0)


def _program(architecture: int, calls: tuple[int, ...]) -> bytes:
    """The filter in the kernel's instructions: code, jump if true, jump if false, operand."""
    last = len(calls) + 5  # the instruction that refuses, counted from 0; a jump is from the one that follows
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_IF_EQUAL, 0, last - 2, architecture),
        (_LOAD, 0, 0, _CALL_AT),
        (_IF_AT_LEAST, last - 4, 0, _OTHER_ABI),
        *((_IF_EQUAL, last - 5 - n, 0, call) for n, call in enumerate(calls)),
    ]
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
