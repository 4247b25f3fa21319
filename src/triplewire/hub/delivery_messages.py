"""Messages of deliveries: the JSON that clients send and get, as types."""

from __future__ import annotations

from typing import Annotated, Literal

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


class DeliveryChange(Message):
    """What shall become of a delivery: `paused`, or `active` again, also after it was disabled."""

    state: Literal["active", "paused"]


class GivenSecret(Message):
    """The next secret; one is made if none is given."""

    secret: Annotated[str | None, Field(max_length=200)] = None


class NewSecret(BaseModel):
    """A secret, told this once. For a day messages are signed with the old one as well."""

    secret: str


class Chosen(Message):
    """Which dead letters; all, if none is named."""

    numbers: Numbers | None = None


class Counted(BaseModel):
    """How many dead letters were sent again, or dropped."""

    count: int
