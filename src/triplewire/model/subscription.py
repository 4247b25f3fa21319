"""A subscription: what a person or a program registers; and its summary, as a list shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, get_args

from triplewire.errors import SubscriptionError
from triplewire.model.access import beyond
from triplewire.model.reach import NetworkReach

Scope = Literal["document", "graph"]
"""Where the triples of one answer come from: one document, or all of them together, whenever they arrived."""

Start = Literal["now", "ever"]
"""What counts: only triples published since the subscription was made (S4), or what was there before as well."""

Sort = Literal[
    "id", "-id", "title", "-title", "created", "-created", "answers", "-answers", "last_event", "-last_event"
]
"""By what summaries are sorted, and with a minus the other way round."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A query that stands: its text and language, where it looks, since when, and who asked.

    `viewer` is on whose behalf it looks: it sees the documents that this one may read. None sees everything, and ""
    what is for everybody. `reach` says how far away other hubs may be whose documents for everybody it also sees.
    `stale_since` says since when its rows may be out of date, because finding them took more than a limit allows; they
    are found again as soon as that can be done. None: they are what they should be.
    `title` and `description` are for people; feeds, digests and lists call it by its title.
    `paused_since` says since when nothing of it is told; None: it is told. `revision` is another one after each change.
    `pattern` is what the text compiles to, a `triplewire.Pattern`; the model does not know the algebra. It does not
    count in comparisons, because the text, its language and the vocabulary it was compiled with decide it.
    """

    id: str
    text: str
    language: str
    scope: Scope = "document"
    start: Start = "now"
    owner: str | None = None
    pattern: Any = field(default=None, repr=False, compare=False)
    viewer: str | None = None
    stale_since: datetime | None = field(default=None, compare=False)
    title: str | None = None
    description: str | None = None
    paused_since: datetime | None = field(default=None, compare=False)
    revision: str | None = field(default=None, compare=False)
    reach: NetworkReach = "hub"

    def __post_init__(self) -> None:
        self._check("scope", self.scope, get_args(Scope))
        self._check("start", self.start, get_args(Start))
        self._check("reach", self.reach, get_args(NetworkReach))

    @property
    def sight(self) -> str | None:
        """The viewer whose documents it sees, beyond its hub if it reaches further."""
        return self.viewer if self.reach == "hub" else beyond(self.viewer, self.reach)

    @property
    def name(self) -> str:
        """What people call it: its title, or its id."""
        return self.title or self.id

    def _check(self, name: str, value: str, allowed: tuple[str, ...]) -> None:
        if value not in allowed:
            choices = " or ".join(map(repr, allowed))
            raise SubscriptionError(f"{name} is {value!r}; it must be {choices}", subscription=self.id)

    def __str__(self) -> str:
        owner = f" of {self.owner}" if self.owner else ""
        return (
            f"{self.id}{owner} ({self.language}, scope {self.scope}, start {self.start}): {' '.join(self.text.split())}"
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """A subscription (without its pattern), its columns, its answers and the time of its last event.

    `answers` is counted up to 1,000; None, as the time is, for a viewer who may not see them.
    """

    subscription: Subscription
    columns: tuple[str, ...]
    answers: int | None
    last_event: datetime | None


class SummaryPage(NamedTuple):
    """Some summaries; `next` is the `after` of the next page, None on the last."""

    summaries: list[Summary]
    next: str | None
