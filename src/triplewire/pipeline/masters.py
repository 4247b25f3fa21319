"""Where Spark may run, looked at before it is started: a master that cannot be takes Java a minute to say so."""

from __future__ import annotations

import re
import socket

from triplewire.errors import PipelineError

_KNOWN = re.compile(r"local(\[(\d+|\*)(,\s*\d+)?\])?$|local-cluster\[.+\]$|spark://.+|k8s://.+|yarn$")
_PATIENCE = 5.0
"""Seconds for a master to take a connection."""


def check_master(master: str) -> None:
    """`PipelineError` if no Spark can run there.

    >>> check_master("local[2]")
    >>> check_master("loca[2]")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    triplewire.errors.PipelineError: 'loca[2]' is no place where Spark runs: write local[2] ...
    """
    if not _KNOWN.match(master):
        raise PipelineError(
            f"{master!r} is no place where Spark runs: write local[2] (two cores of this machine), local[*], "
            "spark://HOST:PORT, yarn or k8s://https://HOST:PORT"
        )
    if master.startswith("spark://"):
        failures = [_failure(address) for address in master.removeprefix("spark://").split(",")]
        if all(failures):
            raise PipelineError(
                f"no Spark master answers: {'; '.join(filter(None, failures))}; start it, or correct --master"
            )


def _failure(address: str) -> str | None:
    """Why an address takes no connection; None if it does."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        return f"{address} is not HOST:PORT"
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
    except (OSError, OverflowError) as error:
        return f"{address} ({error.strerror if isinstance(error, OSError) and error.strerror else error})"
    return None
