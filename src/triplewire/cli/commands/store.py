"""`triplewire store`: looking after a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triplewire.cli import options
from triplewire.cli.hubs import StoreUrl, hub_on, store_at, store_class, url_of
from triplewire.cli.problems import SOME_BAD, Problems, counted
from triplewire.cli.progress import Bar
from triplewire.cli.terminal import print_json, print_text
from triplewire.errors import TriplewireError

if TYPE_CHECKING:
    from triplewire.store import Store

app = options.group("Look after the store of a hub.")


@app.command()
def info(store: StoreUrl, json: options.AsJson = False) -> None:
    """Say what a store holds.

    [bold]Example[/bold]

    \b
      triplewire store info hub.db
    """
    with store_at(store) as opened:
        facts = _facts_of(opened)
    if json:
        print_json(facts)
    else:
        print_text("\n".join(f"{name:14}{value:,}" for name, value in facts.items()))


def _facts_of(store: Store) -> dict[str, int]:
    with store.reading() as reader:
        return {
            "documents": reader.documents.count(),
            "statements": reader.triples.count(),
            "terms": reader.terms.count(),
            "subscriptions": reader.subscriptions.count(),
            "queries": reader.queries.count(),
            "batches": reader.batches.last(),
            "last cursor": reader.log.last_cursor(),
        }


@app.command()
def check(
    store: StoreUrl,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, metavar="N", help="Answer only N queries again, chosen by chance.")
    ] = None,
) -> None:
    """Verify a store: its invariants, its journal, and that the rows on record are what the queries mean.

    Every query is answered again from scratch, which takes long on a large store;
    --sample takes some of them. Others may go on working meanwhile. The exit code is 1
    if anything is wrong.

    [bold]Examples[/bold]

    \b
      triplewire store check hub.db
      triplewire store check postgresql://me@host/hub --sample 1000
    """
    problems = Problems()
    with store_at(store) as opened:
        from triplewire.intake.pairs import problems as problems_of_journal

        for problem in problems_of_journal(opened):
            problems.report(store, problem)
    with hub_on(store) as hub, Bar("checking", problems.console) as bar:
        for problem in hub.check(sample=sample, progress=bar.show):
            problems.report(store, problem)
    if not problems.count:
        problems.note("the store is well")
    raise typer.Exit(problems.exit_code)


@app.command()
def repair(store: StoreUrl) -> None:
    """Go on after the journal beside a store was damaged or lost: save what can be read, accept what is gone.

    A service that finds its journal damaged, missing, or beside another store does not
    start, and says what is gone. If the files cannot be brought back, this moves every
    change that can be read into the store, where the service applies it, and keeps the
    files in a folder inside the journal's. A journal of another store is set aside whole.
    Stop the service first.

    [bold]Example[/bold]

    \b
      triplewire store repair hub.db
    """
    from triplewire.intake.pairs import repair as repaired

    problems = Problems()
    with store_at(store) as opened:
        done = repaired(opened)
    for text in done.wrong:
        problems.note(f"accepted: {text}")
    problems.note(f"{counted(done.saved, 'change')} that waited saved")
    if done.aside is not None:
        problems.note(f"the files as they were are in {done.aside}")


@app.command()
def compact(
    store: StoreUrl,
    keep_versions: Annotated[
        int | None, typer.Option("--keep-versions", min=1, metavar="N", help="Keep so many versions of a document.")
    ] = None,
    keep_events_after: Annotated[
        int | None, typer.Option("--keep-events-after", min=0, metavar="CURSOR", help="Drop events up to this cursor.")
    ] = None,
) -> None:
    """Drop what nothing refers to, and give the room back; old versions and events only if you say so.

    [bold]Examples[/bold]

    \b
      triplewire store compact hub.db
      triplewire store compact hub.db --keep-versions 5 --keep-events-after 100000
    """
    from triplewire.engine.subscriptions.absences import trim_all

    problems = Problems()
    with store_at(store) as opened, problems.console.status("compacting"):
        with opened.writing() as writer:
            trim_all(writer)
        done = opened.compact(keep_versions=keep_versions, keep_events_after=keep_events_after)
    print_text(
        f"dropped {counted(done.terms, 'term')}, {counted(done.versions, 'version')}, {counted(done.events, 'event')}"
    )


@app.command()
def backup(store: StoreUrl, path: Annotated[Path, typer.Argument(metavar="FILE", help="The backup to write.")]) -> None:
    """Write one state of a live store, of either kind, into one SQLite file.

    What a service has acknowledged and not yet applied is in it: it waits there.

    [bold]Example[/bold]

    \b
      triplewire store backup postgresql://me@host/hub monday.backup
    """
    from triplewire.intake.logs import back_up

    problems = Problems()
    with store_at(store) as opened, problems.console.status("backing up"):
        waiting = back_up(opened, path)
    waits = f", {counted(waiting, 'change')} waiting in it" if waiting else ""
    problems.note(f"{path}: {counted(path.stat().st_size, 'byte')}{waits}")


@app.command()
def restore(store: StoreUrl, path: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")]) -> None:
    """Fill a new or empty store, of either kind, with what a backup holds.

    [bold]Example[/bold]

    \b
      triplewire store restore sqlite:///hub.db monday.backup
    """
    problems = Problems()
    kind = store_class()
    try:
        with problems.console.status("restoring"), kind.restore(path, url_of(store)) as restored:
            facts = _facts_of(restored)
    except TriplewireError as error:
        problems.report(str(path), error)
        raise typer.Exit(SOME_BAD) from None
    problems.note(f"{counted(facts['documents'], 'document')}, {counted(facts['subscriptions'], 'subscription')}")
