"""`triplewire publish` and `triplewire retract`: documents into a hub, and out of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from triplewire.cli import documents, feeds, options
from triplewire.cli.commands.access import Readers, Writers, list_of
from triplewire.cli.hubs import HubUrl, hub_at, hub_on, is_address
from triplewire.cli.listing import print_records, record_of
from triplewire.cli.problems import Problems, counted, usage, usage_for
from triplewire.cli.progress import tracked
from triplewire.errors import TriplewireError

if TYPE_CHECKING:
    from triplewire import Event, Outcome
    from triplewire.model import Access, Change, NetworkReach, Publish, Unread
    from triplewire.wire.hubs import AnyHub

_AT_ONCE = 1_000
_COLUMNS = ("time", "kind", "subscription", "row")

BatchId = Annotated[
    str | None,
    typer.Option("--batch", metavar="ID", help="An id for the batch: given again, it changes nothing twice."),
]
Queue = Annotated[bool, typer.Option("--queue", help="Only put it on the intake log, for triplewire run to apply.")]


def publish(
    store: HubUrl,
    paths: Annotated[list[str], typer.Argument(metavar="DOCUMENT", help="Files, folders or globs: RDF, feeds or XML.")],
    uri: Annotated[
        str | None, typer.Option("--uri", help="The uri of the one document; otherwise each file's own.")
    ] = None,
    batch: BatchId = None,
    queue: Queue = False,
    create: Annotated[bool, typer.Option("--create", help="Make the store, if there is none.")] = False,
    taxonomy: options.TaxonomyFile = None,
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Take back the items that a feed had and has no more.")
    ] = False,
    register: Annotated[
        bool, typer.Option("--subscriptions", help="Register the items of feeds that are subscriptions (title: GQL).")
    ] = False,
    reader: Readers = [],
    writer: Writers = [],
    reach: options.DocumentReach = None,
    prefix: options.Prefixes = [],
    format: options.OutputFormat = None,
    json: options.AsJson = False,
) -> None:
    """Publish documents, or new versions of them, and print the events that this causes.

    A document that is published again is updated. Files go in batches of 1,000; a bad one
    is left out and named. With --batch all of them are one batch, which is not published
    if one of them is bad. To a hub at an address they go one by one. With --taxonomy, the
    hub's taxonomy is replaced first. A store that is not there is made with --create only.

    Of a feed, each item is a document. Items that are in it no more stay, unless you
    say --drop-missing. With --reader or --writer, the documents are for these accounts only,
    from the first moment on (see triplewire access). With --reach, they go so far in the
    network of the hub, and no further: to the hubs of its cluster, say.

    [bold]Examples[/bold]

    \b
      triplewire publish hub.db catalogue/
      triplewire publish hub.db parking.ttl --uri http://example.org/parking
      triplewire publish hub.db news.rss --uri https://example.org/news.rss
      triplewire publish http://127.0.0.1:8080 catalogue/
      triplewire publish postgresql://me@host/hub 'feed/**/*.jsonld' --batch monday --json
      triplewire publish hub.db catalogue/ --queue
    """
    problems, given = Problems(), list_of(reader, writer)
    files = documents.find(paths, problems)
    if uri is not None and len(files) != 1:
        usage(f"--uri names one document, and these are {len(files)}")
    if not files:
        raise typer.Exit(problems.exit_code)
    if queue:
        if batch is not None or taxonomy is not None:
            usage("--queue only puts documents on the log: leave --batch and --taxonomy out")
        if given is not None or reach is not None:
            usage("--queue puts documents on the log as they are: leave it out, or --reader, --writer and --reach")
        _submitted(store, _unread(files, uri, problems), problems, create=create)
    known, missing = options.prefixes_of(prefix), problems.count
    _refuse_batch(store, batch, len(files))
    with hub_at(store, create=create) as hub:
        if is_address(store):
            if drop_missing or register:
                usage("--drop-missing and --subscriptions are for a store, not for an address")
            events = _sent(hub, files, uri, batch, given, reach, problems)
        else:
            changes = _changes(hub, files, uri, drop_missing, known if register else None, problems)
            listed = (replace(change, access=given, reach=reach) for change in changes)
            events = _published(hub, listed, batch, problems)
        told = chain(_taxonomy_set(hub, taxonomy), events)
        count = print_records(map(record_of, told), _COLUMNS, options.chosen(format, json), known)
    problems.note(f"{counted(len(files) + missing - problems.count, 'document')}: {counted(count, 'event')}")
    raise typer.Exit(problems.exit_code)


def retract(
    store: HubUrl,
    uris: Annotated[list[str], typer.Argument(metavar="URI", help="Uris of documents, or the files they came from.")],
    batch: BatchId = None,
    queue: Queue = False,
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
    wanted = [Path(uri).resolve().as_uri() if Path(uri).is_file() else uri for uri in uris]
    if queue:
        from triplewire.model import Retract

        if batch is not None:
            usage("--queue only puts retractions on the log: leave --batch out")
        _submitted(store, [Retract(uri) for uri in wanted], problems)
    _refuse_batch(store, batch, len(uris))
    with hub_at(store) as hub:
        there = [uri for uri in wanted if hub.document(uri) is not None or batch is not None]
        for uri in [uri for uri in wanted if uri not in there]:
            problems.report(uri, "there is no document with this uri")
        told = _retracted(hub, there, batch, at_once=1 if is_address(store) else len(there) or 1)
        count = print_records(map(record_of, told), _COLUMNS, options.chosen(format, json), known)
    problems.note(f"{counted(len(there), 'document')}: {counted(count, 'event')}")
    raise typer.Exit(problems.exit_code)


def _unread(files: Iterable[Path], uri: str | None, problems: Problems) -> Iterator[Unread]:
    """The files as they are; the batch that applies them parses them."""
    from triplewire.documents.formats import media_type_of
    from triplewire.model import Unread

    for path in files:
        try:
            yield Unread(uri or path.resolve().as_uri(), path.read_bytes(), media_type_of(path.name))
        except OSError as error:
            problems.report(str(path), error)


def _submitted(store: str, changes: Iterable[Change | Unread], problems: Problems, *, create: bool = False) -> NoReturn:
    """Put changes on the intake log, say so, and end the command."""
    left, count = iter(changes), 0
    with hub_on(store, create=create) as hub:
        while some := list(islice(left, _AT_ONCE)):
            hub.submit(some)
            count += len(some)
    problems.note(f"{counted(count, 'change')} on the intake log, for triplewire run")
    raise typer.Exit(problems.exit_code)


def _sent(
    hub: AnyHub,
    files: Sequence[Path],
    uri: str | None,
    batch: str | None,
    given: Access | None,
    reach: NetworkReach | None,
    problems: Problems,
) -> Iterator[Event]:
    """The events, document after document; the hub at the other end parses them."""
    for each in _unread(tracked(files, "publishing", problems.console), uri, problems):
        try:
            sent = hub.publish(
                each.content, uri=each.uri, media_type=each.media_type, batch=batch, access=given, reach=reach
            )
        except TriplewireError as error:
            problems.report(each.uri, error)
        else:
            yield from _warned(sent, problems)


def _refuse_batch(store: str, batch: str | None, count: int) -> None:
    if batch is not None and not is_address(store):
        from triplewire.engine.names import refuse_own_name

        with usage_for(ValueError, before="--batch: "):
            refuse_own_name(batch)
    elif batch is not None and count > 1:
        usage(f"--batch: over HTTP a batch is one document, and these are {count}; send them one by one")


def _retracted(hub: AnyHub, uris: Sequence[str], batch: str | None, at_once: int) -> Iterator[Event]:
    from triplewire.model import Retract

    for start in range(0, len(uris), at_once):
        yield from hub.apply([Retract(uri) for uri in uris[start : start + at_once]], batch=batch)


def _taxonomy_set(hub: AnyHub, path: Path | None) -> Sequence[Event]:
    """The events of another taxonomy; a bad one ends the command before anything is published."""
    if path is None:
        return ()
    with usage_for(OSError, TriplewireError, before=f"the taxonomy {path} cannot be used: "):
        return hub.set_taxonomy(documents.read(path))


def _changes(
    hub: AnyHub,
    files: Sequence[Path],
    uri: str | None,
    drop_missing: bool,
    prefixes: Mapping[str, str] | None,
    problems: Problems,
) -> Iterator[Publish]:
    """What the files say, one after the other; with prefixes, the subscriptions in feeds are registered on the way."""
    from triplewire.model import Publish

    for path in tracked(files, "publishing", problems.console):
        found = documents.try_to_read(path, problems, uri)
        if found is not None:
            kept = found if prefixes is None else feeds.registered(hub, found, prefixes, problems)
            yield Publish(kept, drop_missing)


def _published(hub: AnyHub, coming: Iterable[Change], batch: str | None, problems: Problems) -> Iterator[Event]:
    """The events, batch after batch; what cannot be read, or is refused, is reported and left out."""
    changes: list[Change] = []
    before = problems.count
    for change in coming:
        changes.append(change)
        if len(changes) >= _AT_ONCE and batch is None:
            yield from _applied(hub, changes, None, problems)
            changes = []
    if batch is not None and problems.count > before:
        for change in changes:
            problems.report(change.uri, f"not published, because batch {batch!r} is whole or not at all")
    elif changes:
        yield from _applied(hub, changes, batch, problems)


def _applied(hub: AnyHub, changes: Sequence[Change], batch: str | None, problems: Problems) -> Iterator[Event]:
    """The events; without a batch's id, one bad document is refused alone."""
    from triplewire.intake.settlement import settle_changes

    if batch is not None:
        try:
            yield from _warned(hub.apply(changes, batch=batch), problems)
        except TriplewireError as error:
            for change in changes:
                problems.report(change.uri, error)
        return
    for settled in settle_changes(changes, hub.apply):
        for refused in settled.refused:
            problems.report(refused.origin.uri, refused.error)
        yield from _warned(settled.outcome, problems) if settled.outcome is not None else ()


def _warned(outcome: Outcome, problems: Problems) -> Outcome:
    for warning in outcome.warnings:
        problems.note(f"warning: {warning}")
    for error in outcome.errors:
        problems.report(error.subscription, error)
    return outcome
