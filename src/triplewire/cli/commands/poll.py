"""`triplewire poll`: follow feeds, and publish what they bring."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triplewire.cli import options
from triplewire.cli.hubs import StoreUrl, hub_on
from triplewire.cli.listing import print_records, record_of
from triplewire.cli.problems import Problems, counted, needing, usage, usage_for
from triplewire.cli.signals import ended_by, interrupt
from triplewire.errors import TriplewireError

if TYPE_CHECKING:
    from triplewire.polling import Followed, Poller

_COLUMNS = ("time", "kind", "subscription", "row")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd]?)")
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_LONGEST_SLEEP = 60.0  # so that feeds that another process adds are heard of


def run(
    store: StoreUrl,
    feeds: Annotated[list[str], typer.Argument(metavar="FEED", help="Addresses of feeds to follow from now on.")] = [],
    opml: Annotated[
        Path | None, typer.Option("--opml", metavar="FILE", help="Follow the feeds that an OPML file lists.")
    ] = None,
    export_opml: Annotated[
        bool, typer.Option("--export-opml", help="Print the feeds that are followed as OPML, and ask none.")
    ] = False,
    remove: Annotated[
        list[str], typer.Option("--remove", metavar="FEED", help="Follow a feed no more. Repeatable.")
    ] = [],
    once: Annotated[bool, typer.Option("--once", help="Ask the feeds that are due, and end.")] = False,
    now: Annotated[bool, typer.Option("--now", help="Ask every feed at once, whether it is due or not.")] = False,
    every: Annotated[str, typer.Option("--every", help="How often to ask a feed: 90s, 30m, 2h, 1d.")] = "30m",
    pause: Annotated[float, typer.Option("--pause", min=0, help="Seconds between two questions to one host.")] = 1.0,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds to wait for a whole answer.")] = 30.0,
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Take back the items that a feed had and has no more.")
    ] = False,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Also ask machines of this and other private networks.")
    ] = False,
    prefix: options.Prefixes = [],
    format: options.OutputFormat = None,
    json: options.AsJson = False,
) -> None:
    """Follow feeds: ask for each of them now and then, publish what changed, and print the events.

    The list of feeds, and what is known of each, is kept in the store: name a feed once.
    Feeds are asked conditionally (ETag, Last-Modified), less often while they fail, and one
    at a time for each host. A feed that moved for good is asked where it is now. It ends
    with Ctrl-C, or after one round with --once, then with exit code 1 if a feed failed.

    [bold]Examples[/bold]

    \b
      triplewire poll hub.db https://example.org/news.rss --once
      triplewire poll hub.db --once --now
      triplewire poll hub.db --opml feeds.opml --every 15m
      triplewire poll hub.db --export-opml > feeds.opml
    """
    with needing("polling needs httpx: pip install 'triplewire[poll]'"):
        from triplewire.isolation.parsing import Parsers
        from triplewire.polling import Poller, PollingManners, PollPace
        from triplewire.polling import opml as lists
    problems = Problems()
    with usage_for(ValueError, before=f"--every {every}: "):
        pace = PollPace(every=_seconds(every))
    known = options.prefixes_of(prefix)
    with hub_on(store, create=True) as hub, closing(Parsers(1)) as parsers:
        manners = PollingManners(timeout=timeout, pause=pause, allow_private=allow_private)
        poller = Poller(hub, pace=pace, manners=manners, drop_missing=drop_missing, parsers=parsers)
        _change_list(poller, feeds, opml, remove, problems)
        if export_opml:
            sys.stdout.write(lists.write(poller.feeds, title="Feeds that Triplewire follows").decode())
            raise typer.Exit(problems.exit_code)
        if not poller.feeds:
            usage("no feeds are followed yet; name one, or a list of them with --opml")
        if now:
            poller.hasten()
        elif not poller.due:
            problems.note(_not_due(poller.feeds))
        count = asked = 0
        try:
            with ended_by(interrupt):
                for told in _once(poller, problems) if once else _for_ever(poller, problems):
                    count += print_records(told, _COLUMNS, options.chosen(format, json), known)
                    asked += 1
                    sys.stdout.flush()
        except KeyboardInterrupt:
            problems.note("interrupted; the list and its state are kept")
    problems.note(f"{counted(asked, 'question')}: {counted(count, 'event')}")
    raise typer.Exit(problems.exit_code)


def _change_list(poller: Poller, feeds: list[str], opml: Path | None, remove: list[str], problems: Problems) -> None:
    from triplewire.polling import opml as lists

    listed: list[Followed] = []
    if opml is not None:
        with usage_for(OSError, TriplewireError, before=f"the list {opml} cannot be used: "):
            listed = lists.read(opml.read_bytes(), name=opml.name)
    given: list[Followed | str] = [*feeds, *listed]
    for feed in given:
        try:
            poller.follow([feed])
        except ValueError as error:
            problems.report(feed if isinstance(feed, str) else feed.url, str(error))
    for uri in remove:
        if not poller.forget(uri):
            problems.report(uri, "this feed is not followed")


def _not_due(feeds: list[Followed]) -> str:
    """Why nothing is asked: until when, what was wrong last, and how not to wait."""
    waiting = [feed for feed in feeds if not feed.is_gone]
    if not waiting:
        return "every feed is gone for good; --now asks again"
    first = min(waiting, key=lambda feed: feed.next_at)
    until = datetime.fromtimestamp(first.next_at, UTC)
    wrong = f", because of what was wrong {counted(first.failures, 'time')}: {first.error}" if first.failures else ""
    return (
        f"not due until {until:%Y-%m-%d %H:%M:%S} UTC: {first.url}{wrong}\n"
        f"{counted(len(waiting), 'feed')} waiting; --now asks at once"
    )


def _once(poller: Poller, problems: Problems) -> Iterator[list[dict[str, Any]]]:
    """The events of each feed, until no feed is due: whatever happens to a feed, it is not due again at once."""
    while (at := poller.next_time()) is not None and at <= time.time():
        for asked in poller.round():
            if asked.problem:
                problems.report(asked.feed.url, asked.problem)
            for other in asked.others:
                problems.report(asked.feed.url, other)
            yield [record_of(event) for event in asked.events]


def _for_ever(poller: Poller, problems: Problems) -> Iterator[list[dict[str, Any]]]:
    while True:
        yield from _once(poller, problems)
        at = poller.next_time()
        wait = _LONGEST_SLEEP if at is None else at - time.time()
        time.sleep(min(max(wait, 0.0), _LONGEST_SLEEP))


def _seconds(text: str) -> float:
    found = _DURATION.fullmatch(text.strip().lower())
    if not found:
        raise ValueError("write a number and s, m, h or d, such as 30m")
    return float(found[1]) * _SECONDS[found[2]]
