"""Rounds: the feeds that are due are asked, what came is published, and what was learned is kept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import Literal, NamedNode

from triplewire import Feed, Hub, parse
from triplewire.errors import DocumentError
from triplewire.intake.settlement import settle_changes
from triplewire.isolation.parsing import Parsers
from triplewire.model import Document, Event, Publish
from triplewire.polling import roster
from triplewire.polling.fetching import PollingManners, Turns, fetch
from triplewire.polling.schedule import Answer, Failed, Followed, Fresh, Gone, PollPace, answered, due, next_time

AT_ONCE = 32
"""So many feeds are in a round: what they send is in memory together."""

_TITLE = NamedNode("http://purl.org/rss/1.0/title")


@dataclass(frozen=True, slots=True)
class PollResult:
    """What asking a feed gave: what is known of it now, the events, and what is wrong, if anything is.

    `problem` is the feed's; `others` are of publishing it: subscriptions that failed, documents that break the schema.
    """

    feed: Followed
    events: Sequence[Event] = ()
    problem: str = ""
    others: Sequence[Exception] = ()


class Poller:
    """Follows the feeds of a hub. The list and its state are in the hub's store, so another process can go on.

    `clock` gives seconds since 1970. With `parsers` a feed that ends a process ends one of theirs.
    """

    def __init__(
        self,
        hub: Hub,
        *,
        pace: PollPace = PollPace(),  # noqa: B008  # frozen
        manners: PollingManners = PollingManners(),  # noqa: B008  # frozen
        drop_missing: bool = False,
        clock: Callable[[], float] = time.time,
        parsers: Parsers | None = None,
    ) -> None:
        self._parse = parse if parsers is None else parsers.parse
        self._hub, self._pace, self._manners, self._clock = hub, pace, manners, clock
        self._drop_missing = drop_missing
        self._ended: dict[str, float] = {}

    @property
    def feeds(self) -> list[Followed]:
        """The feeds that are followed."""
        return roster.load(self._hub.store)

    def follow(self, feeds: Iterable[Followed | str]) -> int:
        """Add feeds that are not followed yet, by their addresses; gives how many were new."""
        given = [Followed(feed, feed) if isinstance(feed, str) else feed for feed in feeds]
        for feed in given:
            if not feed.url.startswith(("http://", "https://")):
                raise ValueError(f"{feed.url!r} is not the address of a feed; it must begin with http:// or https://")
        return roster.add(self._hub.store, given)

    def forget(self, uri: str) -> bool:
        """Follow a feed no more; its documents stay. False if it was not followed."""
        return roster.remove(self._hub.store, uri)

    def next_time(self) -> float | None:
        """When the next feed is due, in seconds since 1970; None if there is none."""
        return next_time(self.feeds)

    @property
    def due(self) -> list[Followed]:
        """The feeds to be asked now."""
        return due(self.feeds, self._clock())

    def hasten(self) -> None:
        """Let every feed be due now, also one that is said to be gone: what was wrong may have been put right."""
        now = self._clock()
        for feed in self.feeds:
            roster.save(self._hub.store, replace(feed, next_at=now, is_gone=False))

    def round(self) -> Iterator[PollResult]:
        """Ask the feeds that are due, at most AT_ONCE of them, and publish what came, one after the other."""
        wanted = self.due[:AT_ONCE]
        for feed, answer in zip(wanted, asyncio.run(self._fetched(wanted)), strict=True):
            yield self._dealt_with(feed, answer)

    async def _fetched(self, wanted: Sequence[Followed]) -> list[Answer]:
        turns = Turns(self._ended, pause=self._manners.pause, hosts=self._manners.hosts)
        return await asyncio.gather(*(fetch(feed, self._manners, turns) for feed in wanted))

    def _dealt_with(self, feed: Followed, answer: Answer) -> PollResult:
        """Publish first, then remember: after a crash in between, the same is published again, and nothing happens."""
        events: Sequence[Event] = ()
        others: Sequence[Exception] = ()
        if isinstance(answer, Fresh):
            try:
                document = self._parse(answer.body, uri=feed.uri, media_type=answer.media_type or None)
            except DocumentError as error:
                answer = Failed(str(error))
            else:
                (settled,) = settle_changes([Publish(document, self._drop_missing)], self._hub.apply)
                refused = [one.error for one in settled.refused]
                if settled.outcome is None:
                    answer = Failed(str(refused[0]))
                else:
                    events = list(settled.outcome)
                    others = [*refused, *settled.outcome.warnings, *settled.outcome.errors]
                    feed = replace(feed, title=_title(document) or feed.title)
        known = answered(feed, answer, self._clock(), self._pace)
        roster.save(self._hub.store, known)
        return PollResult(known, events, answer.reason if isinstance(answer, Failed | Gone) else "", others)


def _title(document: Document) -> str:
    if not isinstance(document, Feed):
        return ""
    titles = [
        t.object.value for t in document.channel.triples if t.predicate == _TITLE and isinstance(t.object, Literal)
    ]
    return min(titles, key=len, default="").strip()
