"""`triplewire subscriptions`, `edit`, `pause`, `resume`, `duplicate`, `unsubscribe`: what stands, and changes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triplewire.cli import options
from triplewire.cli.commands.answers import SubscriptionId
from triplewire.cli.hubs import HubUrl, hub_at
from triplewire.cli.listing import print_records
from triplewire.cli.problems import Problems, counted, usage, usage_for
from triplewire.cli.sources import meant
from triplewire.cli.terminal import print_text
from triplewire.errors import TriplewireError

if TYPE_CHECKING:
    from triplewire.wire.hubs import AnyHub

_COLUMNS = ("id", "title", "owner", "answers", "last event", "paused since")
Ids = Annotated[list[str], typer.Argument(metavar="ID", help="Ids of subscriptions.")]


def subscriptions(
    store: HubUrl,
    words: Annotated[
        str, typer.Option("--search", "-q", help="Only those with these words in id, title, text or owner.")
    ] = "",
    owner: Annotated[str | None, typer.Option("--owner", help="Only those of this owner.")] = None,
    sort: Annotated[
        str,
        typer.Option("--sort", help="id, title, created, answers or last_event; with a minus, the other way round."),
    ] = "id",
    format: options.OutputFormat = None,
    json: options.AsJson = False,
) -> None:
    """List the subscriptions of a hub: title, owner, answers (counted up to 1,000), last event, paused or not.

    [bold]Examples[/bold]

    \b
      triplewire subscriptions hub.db
      triplewire subscriptions hub.db --search water --sort -last_event
    """

    def listed() -> Iterator[dict[str, Any]]:
        after: str | None = ""
        while after is not None:
            page = hub.summaries(owner=owner, words=words, sort=sort, after=after, limit=1_000)  # type: ignore[arg-type]  # as typed
            for one in page.summaries:
                about = one.subscription
                yield {
                    "id": about.id,
                    "title": about.title,
                    "owner": about.owner,
                    "answers": one.answers,
                    "last event": one.last_event,
                    "paused since": about.paused_since,
                    "language": about.language,
                    "text": about.text,
                }
            after = page.next

    with hub_at(store) as hub, usage_for(ValueError):
        count = print_records(listed(), _COLUMNS, options.chosen(format, json), {})
    Problems().note(counted(count, "subscription"))


def edit(
    store: HubUrl,
    id: SubscriptionId,
    source: Annotated[
        str | None,
        typer.Argument(metavar="[PATH|TEXT]", help="A file with the new query, or its text with --language."),
    ] = None,
    language: options.Language = None,
    scope: Annotated[options.ScopeName | None, typer.Option("--scope", help="Where its triples may come from.")] = None,
    start: Annotated[options.StartName | None, typer.Option("--start", help="What counts, from now on.")] = None,
    title: Annotated[str | None, typer.Option("--title", help="What people call it; '' for nothing.")] = None,
    description: Annotated[str | None, typer.Option("--description", help="What it is for; '' for nothing.")] = None,
    prefix: options.Prefixes = [],
) -> None:
    """Change a subscription; what is not given stays.

    It keeps its id, its deliveries and its events. With another query, its next events say
    which rows begin and which end by that.

    [bold]Examples[/bold]

    \b
      triplewire edit hub.db maja maja.rq
      triplewire edit hub.db maja -l sparql 'SELECT ?d { ?d a <http://www.w3.org/ns/dcat#Dataset> }'
      triplewire edit hub.db maja --title 'Where to swim'
    """
    known = options.prefixes_of(prefix)
    if source is None and language is not None:
        usage("--language is that of a new text: give it, too")
    query = {} if source is None else meant(source, language, known).query
    with hub_at(store) as hub:
        hub.edit(id, **query, scope=scope, start=start, title=title, description=description)
    Problems().note(f"{id} is changed")


def pause(
    store: HubUrl,
    ids: Ids,
    keep_events: Annotated[
        int | None,
        typer.Option("--keep-events", min=0, metavar="N", help="Let the last N events wait; all, if not said."),
    ] = None,
    keep_hours: Annotated[
        float | None,
        typer.Option("--keep-hours", min=0.001, metavar="HOURS", help="Let nothing wait that is away for longer."),
    ] = None,
) -> None:
    """Tell nothing of subscriptions until they are resumed; nothing is lost meanwhile, unless you bound what waits.

    [bold]Examples[/bold]

    \b
      triplewire pause hub.db maja
      triplewire pause hub.db maja --keep-events 1000 --keep-hours 48
    """
    seconds = None if keep_hours is None else keep_hours * 3600
    _each(store, ids, lambda hub, id: hub.pause(id, keep_events=keep_events, keep_seconds=seconds), "paused")


def resume(store: HubUrl, ids: Ids) -> None:
    """Tell of subscriptions again: first what came while they were paused.

    What was missed, now or before, is printed.

    [bold]Example[/bold]

    \b
      triplewire resume hub.db maja
    """
    _each(store, ids, _resumed, "resumed")


def _resumed(hub: AnyHub, id: str) -> None:
    hub.resume(id)
    for each in hub.missed(id):
        print_text(f"{id}: events after {each.after} up to {each.until} are missed: {each.reason}")


def duplicate(
    store: HubUrl,
    id: SubscriptionId,
    new_id: Annotated[str | None, typer.Argument(metavar="[NEW_ID]", help="The id of the copy.")] = None,
    title: Annotated[str | None, typer.Option("--title", help="What people call the copy.")] = None,
) -> None:
    """Register what a subscription asks once more, from now on, and print the id.

    [bold]Example[/bold]

    \b
      triplewire duplicate hub.db maja maja-2
    """
    with hub_at(store) as hub:
        print_text(hub.duplicate(id, new_id=new_id, title=title).id)


def unsubscribe(store: HubUrl, ids: Ids) -> None:
    """Forget subscriptions, with their rows and events.

    [bold]Example[/bold]

    \b
      triplewire unsubscribe hub.db maja jonas
    """
    _each(store, ids, lambda hub, id: hub.unsubscribe(id), "forgotten")


def _each(store: str, ids: list[str], change: Callable[[AnyHub, str], object], done: str) -> None:
    problems = Problems()
    with hub_at(store) as hub:
        for id in ids:
            try:
                change(hub, id)
            except TriplewireError as error:
                problems.report(id, error)
    problems.note(f"{counted(len(ids) - problems.count, 'subscription')} {done}")
    raise typer.Exit(problems.exit_code)
