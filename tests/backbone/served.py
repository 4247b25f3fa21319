"""Hubs of a backbone that are served, for tests."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from hub.serving import Served, serving


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on now."""
    with ExitStack() as opened:
        sockets = [opened.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def wait_for(condition, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)


@contextmanager
def served_pair(folder) -> Iterator[dict[str, Served]]:
    """Two served hubs of one backbone, harbour and town, each of which knows the other."""
    ports = dict(zip(("harbour", "town"), free_ports(2), strict=True))
    with ExitStack() as opened:
        found = {}
        for name, port in ports.items():
            other = next(each for each in ports if each != name)
            found[name] = opened.enter_context(
                serving(
                    f"sqlite:///{folder}/{name}.db",
                    port=port,
                    backbone=f"http://127.0.0.1:{ports[other]}",
                    backbone_name=name,
                )
            )
        yield found
