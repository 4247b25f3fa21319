"""What a confined process cannot do any more; each way to keep it from the network is enough by itself."""

import os
import socket
import subprocess
import sys

import pytest

from triplewire.isolation import Confinement, Died, confinement, in_child

is_linux = pytest.mark.skipif(sys.platform != "linux", reason="seccomp and RLIMIT_AS as Linux has them")


def tried(work):
    """What a confined child says that became of some work."""

    def attempt(_):
        try:
            return work()
        except OSError as error:
            return type(error).__name__, error.errno

    return in_child(attempt, None, confinement=Confinement(memory=64 << 20, seconds=30), seconds=30)


def test_confined_process_has_no_network_no_files_and_no_programs():
    for work in (socket.socket, lambda: os.open("/etc/passwd", os.O_RDONLY), lambda: subprocess.run(["true"])):
        name, _ = tried(work)
        assert name in ("OSError", "PermissionError")


def test_confined_process_still_computes():
    assert tried(lambda: sum(range(10))) == 45


@is_linux
def test_seccomp_alone_keeps_it_from_the_network(monkeypatch):
    monkeypatch.setattr(confinement, "_limit", lambda kind, most: None)
    assert tried(socket.socket)[0] == "PermissionError"


def test_no_new_file_alone_keeps_it_from_the_network(monkeypatch):
    monkeypatch.setattr(confinement, "_filter_calls", lambda: None)
    assert tried(socket.socket)[0] == "OSError"


FORKING = """
import os, resource, socket
from triplewire.isolation import Confinement, in_child

def leave():
    try:  # a privileged process may do this; the filter of calls stays
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    except (ValueError, OSError):
        pass
    try:
        socket.socket()
    except OSError:
        return "confined"
    return "out"

def both(_):
    child = os.fork()
    if child == 0:
        os._exit(7 if leave() == "confined" else 0)
    return leave(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

print(*in_child(both, None, confinement=Confinement(), seconds=30))
"""


@is_linux
def test_neither_a_confined_process_nor_what_it_forks_gets_out():
    """Invariant of `isolation.confinement`: a process cannot leave its confinement, nor can what it forks.

    In a process of its own: with what other tests have loaded, what is forked twice may abort by itself.
    """
    told = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, check=True)
    assert told.stdout == "confined 7\n"


@is_linux
def test_memory_over_the_limit_is_refused():
    def much():
        try:
            return len(b"x" * (256 << 20))
        except MemoryError:
            return "refused"

    assert tried(much) == "refused"


def test_endless_work_is_ended():
    def endless(_):
        while True:
            pass

    died = in_child(endless, None, confinement=Confinement(seconds=0.5), seconds=30)
    assert isinstance(died, Died)
    assert not died.is_late, "the limit on processor time ends it first"
