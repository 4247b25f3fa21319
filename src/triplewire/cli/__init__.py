"""The `triplewire` command.

What comes in: paths of documents and subscriptions, and options. What goes out: a table for people or JSON lines for
programs on standard output, what went wrong on standard error, and an exit code: 0 all fine, 1 some inputs were bad,
2 the command was called wrongly. One bad input never stops the rest. It never matches anything itself: it calls the
library. Importing it loads nothing; each command imports what it needs when it runs, so that `--help` is instant.

`app` puts the `commands` together, which the `catalogue` lists; `options` are those that several of them share. What a
person types is read by `paths`, `documents`, `feeds`, `sources` and `subscriptions`; `hubs` opens stores and
services, `batches` uses Spark. A person sees `tables`, `listing`, `terms`, `patterns`, `progress`, `streams`, `notices`
and `problems`, on a `terminal`; `files` are written whole, and `signals` end a long command.
"""


def main() -> None:
    """Run the command that the process's arguments name."""
    from triplewire.cli.app import app

    app(prog_name="triplewire")
