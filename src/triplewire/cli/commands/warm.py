"""`triplewire warm`: compile the matcher before a command waits for it."""

from __future__ import annotations

from triplewire.cli.problems import Problems


def run() -> None:
    """Compile the matcher now, so that the first match need not: once after installing.

    It takes about a minute of processor time; what is compiled is kept on disk, beside the
    package or in your cache folder. Who builds an image for containers runs it there.

    [bold]Example[/bold]

    \b
      triplewire warm
    """
    from triplewire.matching import warm
    from triplewire.matching.kernel import compiled

    warm.once()
    Problems().note("the matcher is compiled" if compiled.has_been() else "the matcher was compiled already")
