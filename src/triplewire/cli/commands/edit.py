"""`triplewire subscriptions`, `edit`, `pause`, `resume` and `duplicate`: what stands in a hub, and changes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from triplewire.cli import options
from triplewire.cli.commands.answers import SubscriptionId
from triplewire.cli.counts import counted
from triplewire.cli.hubs import HubUrl, hub_at
from triplewire.cli.listing import print_records
from triplewire.cli.problems import Problems, usage
from triplewire.cli.sources import meant
from triplewire.cli.terminal import print_text
from triplewire.errors import TriplewireError

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

    with hub_at(store) as hub:
        try:
            count = print_records(listed(), _COLUMNS, options.chosen(format, json), {})
        except ValueError as error:
            usage(str(error))
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
    query: dict[str, Any] = {}
    if source is not None:
        found = meant(source, language, known)
        query = {"text": found.text, "language": found.language, "prefixes": found.prefixes}
    elif language is not None:
        usage("--language is that of a new text: give it, too")
    with hub_at(store) as hub:
        hub.edit(
            id,
            scope=scope,
            start=start,
            title=title,
            description=description,
            **query,
        )
    Problems().note(f"{id} is changed")


def pause(store: HubUrl, ids: Ids) -> None:
    """Tell nothing of subscriptions until they are resumed; nothing is lost meanwhile.

    [bold]Example[/bold]

    \b
      triplewire pause hub.db maja
    """
    _each(store, ids, paused=True)


def resume(store: HubUrl, ids: Ids) -> None:
    """Tell of subscriptions again: first what came while they were paused.

    [bold]Example[/bold]

    \b
      triplewire resume hub.db maja
    """
    _each(store, ids, paused=False)


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


def _each(store: str, ids: list[str], *, paused: bool) -> None:
    problems = Problems()
    with hub_at(store) as hub:
        for id in ids:
            try:
                hub.edit(id, paused=paused)
            except TriplewireError as error:
                problems.report(id, error)
    done = "paused" if paused else "resumed"
    problems.note(f"{counted(len(ids) - problems.count, 'subscription')} {done}")
    raise typer.Exit(problems.exit_code)
