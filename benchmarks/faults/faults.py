"""The faults: each does something to a world that is at work, and mends it; what it did is a sentence."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.faults.disks import fill

from benchmarks.faults.world import World, signalled

Fault = Callable[[World, Random], None]
_FROZEN = 4.0
"""Seconds for which something stands still, or is away."""


def kill_the_service(world: World, chance: Random) -> None:
    """SIGKILL to the service, in the middle of whatever it does."""
    world.restart()


def kill_the_pipeline(world: World, chance: Random) -> None:
    """SIGKILL to the process with Spark that applies; the service starts another one."""
    for process in world.pipelines():
        signalled(process, signal.SIGKILL)


def freeze_the_pipeline(world: World, chance: Random) -> None:
    """SIGSTOP to the process that applies, for a while."""
    frozen = world.pipelines()
    for process in frozen:
        signalled(process, signal.SIGSTOP)
    time.sleep(_FROZEN)
    for process in frozen:
        signalled(process, signal.SIGCONT)


def freeze_the_service(world: World, chance: Random) -> None:
    """SIGSTOP to the service, for a while."""
    assert world.service is not None
    signalled(world.service.pid, signal.SIGSTOP)
    time.sleep(_FROZEN)
    signalled(world.service.pid, signal.SIGCONT)


def cut_all_connections(world: World, chance: Random) -> None:
    """The way between clients and service is cut, several times."""
    for _ in range(5):
        world.way.cut()
        time.sleep(chance.random())


def delay_everything(world: World, chance: Random) -> None:
    """Each piece of a request or an answer takes long."""
    world.way.delay = 0.3
    time.sleep(_FROZEN)
    world.way.delay = 0.0


def restart_the_receiver(world: World, chance: Random) -> None:
    """Who receives web hooks is away for a while."""
    world.receiver.go_away()
    time.sleep(_FROZEN)
    world.receiver.come_back()


def fill_the_disk(world: World, chance: Random) -> None:
    """The disk of store and journal is full for a while."""
    assert world.disk is not None
    filler = fill(world.disk)
    time.sleep(_FROZEN)
    filler.unlink()
    world.wait_until_ready()


def tear_the_journal(world: World, chance: Random) -> None:
    """Killed while it wrote: half an entry, or zeros, are at the end of the journal."""
    world.kill()
    files = sorted(world.journal.glob("*.log"))
    if files:
        with files[-1].open("ab") as file:
            file.write(bytes(chance.choice([16, 4096])) if chance.random() < 0.5 else chance.randbytes(11))
    world.restarts += 1
    world.start()


def kill_the_database(world: World, chance: Random) -> None:
    """PostgreSQL is ended at once, and started again after a while."""
    assert world.postgres is not None
    world.postgres.stop("immediate")
    time.sleep(_FROZEN / 2)
    world.postgres.start()
    world.wait_until_ready()


def freeze_the_database(world: World, chance: Random) -> None:
    """SIGSTOP to all processes of PostgreSQL, for a while."""
    assert world.postgres is not None
    processes = world.postgres.processes()
    for process in processes:
        signalled(process, signal.SIGSTOP)
    time.sleep(_FROZEN)
    for process in processes:
        signalled(process, signal.SIGCONT)
    world.wait_until_ready()


_ALWAYS: tuple[Fault, ...] = (
    kill_the_service,
    freeze_the_service,
    cut_all_connections,
    delay_everything,
    restart_the_receiver,
)


def of(world: World) -> list[Fault]:
    """The faults that this world can have."""
    found = list(_ALWAYS)
    if world.pipeline == "spark":
        found += [kill_the_pipeline, freeze_the_pipeline]
    if world.postgres is not None:
        found += [kill_the_database, freeze_the_database]
    else:
        found.append(tear_the_journal)
        if world.disk is not None and os.path.ismount(Path(world.disk)):
            found.append(fill_the_disk)
    return found


def name_of(fault: Fault) -> str:
    """Its name, for people."""
    return fault.__name__.replace("_", " ")
