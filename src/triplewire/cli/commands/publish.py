"""`triplewire publish` and `triplewire retract`: documents into a hub, and out of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triplewire.cli import documents, options
from triplewire.cli.counts import counted
from triplewire.cli.hubs import HubUrl, hub_at, is_address
from triplewire.cli.listing import print_records
from triplewire.cli.problems import Problems, usage
from triplewire.cli.progress import tracked
from triplewire.errors import SchemaViolation, TriplewireError

if TYPE_CHECKING:
    from triplewire import Event, Hub, Outcome
    from triplewire.client import Client
    from triplewire.model import Change

_AT_ONCE = 1_000
_COLUMNS = ("kind", "subscription", "row")

BatchId = Annotated[
    str | None,
    typer.Option("--batch", metavar="ID", help="An id for the batch: given again, it changes nothing twice."),
]


def publish(
    store: HubUrl,
    paths: Annotated[list[str], typer.Argument(metavar="DOCUMENT", help="Files, folders or globs, in any RDF syntax.")],
    uri: Annotated[
        str | None, typer.Option("--uri", help="The uri of the one document; otherwise each file's own.")
    ] = None,
    batch: BatchId = None,
    taxonomy: options.TaxonomyFile = None,
    prefix: options.Prefixes = [],
    format: options.OutputFormat = None,
    json: options.AsJson = False,
) -> None:
    """Publish documents, or new versions of them, and print the events that this causes.

    A document that is published again is updated. Files go in batches of 1,000, each
    whole or not at all; with --batch all of them are one batch, which is not published if
    one of them is bad. To a hub at an address they go one by one. With --taxonomy, the
    hub's taxonomy is replaced first.

    [bold]Examples[/bold]

    \b
      triplewire publish hub.db catalogue/
      triplewire publish hub.db parking.ttl --uri http://example.org/parking
      triplewire publish http://127.0.0.1:8080 catalogue/
      triplewire publish postgresql://me@host/hub 'feed/**/*.jsonld' --batch monday --json
    """
    problems = Problems()
    files = documents.find(paths, problems)
    if uri is not None and len(files) != 1:
        usage(f"--uri names one document, and these are {len(files)}")
    if not files:
        raise typer.Exit(problems.exit_code)
    known, missing = options.prefixes_of(prefix), problems.count
    _refuse_batch_of_several(store, batch, len(files))
    at_once = 1 if is_address(store) else _AT_ONCE
    with hub_at(store, create=True) as hub:
        told = chain(_taxonomy_set(hub, taxonomy), _published(hub, files, uri, batch, problems, at_once))
        count = print_records(map(_record, told), _COLUMNS, options.chosen(format, json), known)
    problems.note(f"{counted(len(files) + missing - problems.count, 'document')}: {counted(count, 'event')}")
    raise typer.Exit(problems.exit_code)


def retract(
    store: HubUrl,
    uris: Annotated[list[str], typer.Argument(metavar="URI", help="Uris of documents, or the files they came from.")],
    batch: BatchId = None,
    prefix: options.Prefixes = [],
    format: options.OutputFormat = None,
    json: options.AsJson = False,
) -> None:
    """Take documents back, all in one batch (one by one at an address), and print the events that this causes.

    [bold]Examples[/bold]

    \b
      triplewire retract hub.db http://example.org/parking
      triplewire retract hub.db catalogue/parking.ttl --json
    """
    problems = Problems()
    known = options.prefixes_of(prefix)
    _refuse_batch_of_several(store, batch, len(uris))
    with hub_at(store) as hub:
        wanted = [Path(uri).resolve().as_uri() if Path(uri).is_file() else uri for uri in uris]
        there = [uri for uri in wanted if hub.document(uri) is not None or batch is not None]
        for uri in [uri for uri in wanted if uri not in there]:
            problems.report(uri, "there is no document with this uri")
        told = _retracted(hub, there, batch, at_once=1 if is_address(store) else len(there) or 1)
        count = print_records(map(_record, told), _COLUMNS, options.chosen(format, json), known)
    problems.note(f"{counted(len(there), 'document')}: {counted(count, 'event')}")
    raise typer.Exit(problems.exit_code)


def _refuse_batch_of_several(store: str, batch: str | None, count: int) -> None:
    if batch is not None and is_address(store) and count > 1:
        usage(f"--batch: over HTTP a batch is one document, and these are {count}; send them one by one")


def _retracted(hub: Hub | Client, uris: Sequence[str], batch: str | None, at_once: int) -> Iterator[Event]:
    from triplewire.model import Retract

    for start in range(0, len(uris), at_once):
        yield from hub.apply([Retract(uri) for uri in uris[start : start + at_once]], batch=batch)


def _taxonomy_set(hub: Hub | Client, path: Path | None) -> Sequence[Event]:
    """The events of another taxonomy; a bad one ends the command before anything is published."""
    if path is None:
        return ()
    try:
        return hub.set_taxonomy(documents.read(path))
    except (OSError, TriplewireError) as error:
        usage(f"the taxonomy {path} cannot be used: {error}")


def _published(
    hub: Hub | Client, files: Sequence[Path], uri: str | None, batch: str | None, problems: Problems, at_once: int
) -> Iterator[Event]:
    """The events, batch after batch; what cannot be read, or is refused, is reported and left out."""
    from triplewire.model import Document, Publish

    changes: list[Change] = []
    before = problems.count
    for path in tracked(files, "publishing", problems.console):
        found = documents.try_to_read(path, problems)
        if found is not None:
            changes.append(Publish(found if uri is None else Document(uri, found.ntriples)))
        if len(changes) >= at_once and batch is None:
            yield from _applied(hub, changes, None, problems)
            changes = []
    if batch is not None and problems.count > before:
        for change in changes:
            problems.report(change.uri, f"not published, because batch {batch!r} is whole or not at all")
    elif changes:
        yield from _applied(hub, changes, batch, problems)


def _applied(hub: Hub | Client, changes: Sequence[Change], batch: str | None, problems: Problems) -> Sequence[Event]:
    left = list(changes)
    while left:
        try:
            return _warned(hub.apply(left, batch=batch), problems)
        except SchemaViolation as error:
            problems.report(error.uri, error)
            left = [change for change in left if change.uri != error.uri and batch is None]
        except TriplewireError as error:
            for change in left:
                problems.report(change.uri, error)
            return ()
    return ()


def _warned(outcome: Outcome, problems: Problems) -> Outcome:
    for warning in outcome.warnings:
        problems.note(f"warning: {warning}")
    for error in outcome.errors:
        problems.report(error.subscription, error)
    return outcome


def _record(event: Event) -> Mapping[str, Any]:
    return event.as_dict(contents=False)
