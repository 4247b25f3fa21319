"""Messages of deliveries: the JSON that clients send and get, as types."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from triplewire.hub.messages import Cursor, Message

Url = Annotated[str, Field(min_length=1, max_length=2_000, description="Where to send: http or https.")]
Numbers = Annotated[list[Annotated[int, Field(ge=1, le=2**60)]], Field(max_length=1_000)]


class NewDelivery(Message):
    """Where the events of a subscription shall be sent, and how.

    `webhook`: each event as a signed CloudEvent. `digest`: what an hour or a day came to, signed as well. `ldn`: each
    event as a Linked Data Notification to an inbox, or to the inbox of whatever is at the url.
    """

    kind: Literal["webhook", "digest", "ldn"] = "webhook"
    url: Url
    every: Annotated[Literal["hourly", "daily"] | None, Field(description="Of a digest.")] = None
    contents: Annotated[bool, Field(description="Of a webhook: with the content before and after.")] = False
    after: Annotated[
        Cursor | Literal["now"], Field(description="The cursor that it begins after; `now`: only what happens next.")
    ] = 0
    secret: Annotated[
        str | None, Field(max_length=200, description="To sign with: whsec_ and base64; one is made if none is given.")
    ] = None


class DeliveryTold(BaseModel):
    """A delivery and how it is.

    `active` works; `waiting` failed and tries again at `next_at`; `paused` was paused by somebody; `disabled` was given
    up for the `reason`; `verifying` is a WebSub subscription whose receiver has not confirmed it yet. `lag` counts the
    events that wait, up to 1,000, and `lag_seconds` is how long the first of them has.
    """

    id: str
    subscription: str
    kind: Literal["webhook", "digest", "ldn", "websub"]
    url: str
    every: Literal["hourly", "daily"] | None
    contents: bool
    topic: str | None
    state: Literal["active", "waiting", "paused", "disabled", "verifying"]
    reason: str | None
    next_at: str | None
    expires: str | None
    cursor: int
    lag: int
    lag_seconds: float
    delivered: int
    failed: int
    dead: int
    failures_in_a_row: int
    last_error: str | None
    last_delivered: str | None
    created: str


class DeliveryMade(DeliveryTold):
    """A new delivery; its secret is told this once."""

    secret: str | None


class DeliveriesTold(BaseModel):
    """The deliveries of a subscription."""

    deliveries: list[DeliveryTold]


class DeliveryPage(BaseModel):
    """A page of deliveries; `next` is the `after` of the next one, null on the last."""

    deliveries: list[DeliveryTold]
    next: str | None


class DeliveryChange(Message):
    """What shall become of a delivery: `paused`, or `active` again, also after it was disabled."""

    state: Literal["active", "paused"]


class GivenSecret(Message):
    """The next secret; one is made if none is given."""

    secret: Annotated[str | None, Field(max_length=200)] = None


class NewSecret(BaseModel):
    """A secret, told this once. For a day messages are signed with the old one as well."""

    secret: str


class Pinged(BaseModel):
    """What a receiver said to a test: its status, or why there is none."""

    arrived: bool
    status: int | None
    detail: str
    seconds: float


class DeadLetterTold(BaseModel):
    """A message that was given up: what it says, why, after how many attempts, and whether it will be tried again."""

    number: int
    id: str
    cursor: int
    reason: str
    attempts: int
    died: str
    replay: bool
    message: Any


class DeadLetters(BaseModel):
    """Some dead letters; `next` is the `after` of those that follow, null on the last."""

    dead: list[DeadLetterTold]
    next: int | None


class Chosen(Message):
    """Which dead letters; all, if none is named."""

    numbers: Numbers | None = None


class Counted(BaseModel):
    """How many it were."""

    count: int
