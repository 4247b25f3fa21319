"""Notices: what the library tells its log and a person at a terminal should know."""

from __future__ import annotations

import logging
import sys

_LOG = "triplewire.matching"


class _Notices(logging.Handler):
    """Prints each line on standard error, where it does not disturb the output."""

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler.emit`."""
        from triplewire.cli.terminal import visible

        print(visible(record.getMessage()), file=sys.stderr, flush=True)


def announce_compiling() -> None:
    """Print a line when the matcher must be compiled first: a minute of silence looks like a mistake."""
    log = logging.getLogger(_LOG)
    if not any(isinstance(handler, _Notices) for handler in log.handlers):
        log.addHandler(_Notices())
        log.setLevel(logging.INFO)
