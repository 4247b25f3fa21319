"""Messages: the JSON that clients send and get, as types, so that the OpenAPI description tells the truth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from triplewire.engine import Source
from triplewire.languages import LANGUAGES
from triplewire.model import NetworkReach, Scope, Start
from triplewire.wire.events import RowTerms

Language = Literal["sparql", "rules", "gql", "qel", "conjunctive", "xpath"]
assert set(LANGUAGES) == set(Language.__args__)  # type: ignore[attr-defined]  # the names that a Literal allows

Cursor = Annotated[int, Field(ge=0, le=2**60)]


def _refuse_what_fits_no_path(name: str) -> str:
    found = next(
        (character for character in name if character == "/" or ord(character) < 32 or character == "\x7f"), None
    )
    if found is not None:
        what = "a slash" if found == "/" else "a control character"
        raise ValueError(f"a name is a part of addresses, and must not have {what} in it")
    return name


Name = Annotated[
    str,
    Field(min_length=1, max_length=200, json_schema_extra={"pattern": r"^[^/\x00-\x1f\x7f]+$"}),
    AfterValidator(_refuse_what_fits_no_path),
]
"""The id of a subscription: anything that fits into a path."""

NO_NUL = r"^[^\x00]*$"
"""What a name must look like to be looked for in every store."""

Spelled = Annotated[str, BeforeValidator(str)]
"""A term or a triple, as in N-Triples."""

TermText = Annotated[str, Field(description="A term as in N-Triples; an IRI may be without its brackets.")]


class Message(BaseModel):
    """What a client sends; names that mean nothing are refused."""

    model_config = ConfigDict(extra="forbid")


class QueryText(Message):
    """A text in one of the languages."""

    text: Annotated[str, Field(min_length=1)]
    language: Language = "sparql"
    prefixes: dict[str, str] = {}


Title = Annotated[str | None, Field(max_length=200, description="What people call it.")]
Description = Annotated[str | None, Field(max_length=10_000, description="What it is for, in words.")]


class NewSubscription(QueryText):
    """A query that shall stand."""

    id: Name | None = None
    scope: Scope = "document"
    start: Start = "now"
    sees: Annotated[
        Literal["mine", "everybody"],
        Field(description="The documents that the caller may read; or those that everybody may read."),
    ] = "mine"
    reach: Annotated[
        NetworkReach,
        Field(
            description="Whose documents count: this hub's, also those of a unit around it, or of its whole network."
        ),
    ] = "hub"
    title: Title = None
    description: Description = None


class EditSubscription(Message):
    """What shall be otherwise; what is left out stays. A title or a description that is null goes."""

    text: Annotated[str, Field(min_length=1)] | None = None
    language: Language | None = None
    prefixes: dict[str, str] = {}
    scope: Scope | None = None
    start: Start | None = None
    title: Title = None
    description: Description = None
    paused: Annotated[
        bool | None,
        Field(description="Whether nothing of it is told; nothing is lost meanwhile, unless it is bounded."),
    ] = None
    keep_events: Annotated[
        int | None, Field(ge=0, le=2**40, description="While it is paused, so many events wait: the last ones.")
    ] = None
    keep_seconds: Annotated[
        float | None,
        Field(gt=0, le=10**10, allow_inf_nan=False, description="So long they wait; if it is paused longer, none do."),
    ] = None

    @property
    def asks(self) -> bool:
        """Whether it may change what is asked."""
        return any(each is not None for each in (self.text, self.language, self.scope, self.start))


class NewDuplicate(Message):
    """The id and the title of a copy; an id is made if none is given, and the title is that of the original."""

    id: Name | None = None
    title: Title = None


class NewRule(Message):
    """A rule for an edge to follow; an id is made if none is given."""

    text: Annotated[str, Field(min_length=1)]
    language: Language = "rules"
    id: Name | None = None


class PreviewQuery(QueryText):
    """A query to look ahead with."""

    scope: Scope = "document"
    start: Start = "now"
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100


class FindQuery(QueryText):
    """A query for documents that are there."""

    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    reach: Annotated[NetworkReach, Field(description="How far away other hubs of the hierarchy may be.")] = "hub"
    wait: Annotated[float, Field(gt=0, le=60, allow_inf_nan=False, description="Seconds to wait for other hubs.")] = (
        10.0
    )


class WhyRow(Message):
    """A row to explain: its terms by variable."""

    row: dict[str, TermText]


class WhyNotResource(Message):
    """A resource that is missing among the rows."""

    resource: TermText


class VersionTold(BaseModel):
    """A version of a document; not present means retracted."""

    uri: str
    version: int
    batch: str
    time: str
    present: bool


class Documents(BaseModel):
    """A page of documents; `next` is the `after` of the next one, null on the last."""

    documents: list[VersionTold]
    next: str | None


class Versions(BaseModel):
    """The versions of a document that are kept, oldest first."""

    versions: list[VersionTold]


class InboxMark(Message):
    """Up to where an account has looked."""

    cursor: Cursor


class NewFeedAddress(BaseModel):
    """The secret address of a feed: a client that knows it may read the feed. It is told this once."""

    address: str


Accounts = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=1_000)]


class NewAccess(Message):
    """Accounts that may read a document, and those that may change it as well; by id, or by a name of one alone."""

    readers: Accounts = []
    writers: Accounts = []


Uri = Annotated[str, Field(min_length=1, max_length=8_000)]


class PublishWanted(Message):
    """A document to publish, as one of several changes."""

    uri: Uri
    content: str
    media_type: str | None = None
    access: NewAccess | None = None
    reach: Annotated[NetworkReach | None, Field(description="How far it goes in the network of the hub.")] = None
    if_match: str | None = None
    if_none_match: str | None = None


class RetractWanted(Message):
    """A document to retract, as one of several changes."""

    uri: Uri
    retract: Literal[True]
    if_match: str | None = None
    if_none_match: str | None = None


class RestrictWanted(Message):
    """An access list for a document, as one of several changes; null: it is for everybody."""

    uri: Uri
    access: NewAccess | None


class ChangesWanted(Message):
    """Changes that are whole or not at all."""

    changes: Annotated[list[PublishWanted | RetractWanted | RestrictWanted], Field(min_length=1, max_length=10_000)]


class UploadProblem(BaseModel):
    """A document of an upload that was refused."""

    line: int
    uri: str | None
    problem: dict[str, Any]


class Uploaded(BaseModel):
    """What became of an upload: how many documents were published, retracted and refused; the first refused ones."""

    published: int
    retracted: int
    unchanged: int
    refused: int
    problems: list[UploadProblem]


class FindingTold(BaseModel):
    """Something that lint found."""

    kind: str
    severity: Literal["error", "warning", "note"]
    message: str
    branch: int | None
    others: list[str]
    term: Annotated[str | None, Field(description="The property or class that nothing here has.")] = None
    suggestions: Annotated[list[str], Field(description="Those in use that are spelled like it.")] = []


class Findings(BaseModel):
    """What lint found, the worst first."""

    findings: list[FindingTold]


class Explained(BaseModel):
    """How a query is matched, and the same query in the other languages that can say it."""

    explanation: str
    languages: dict[str, str]


class Stated(BaseModel):
    """A triple and the documents that state it."""

    triple: str
    documents: list[Source]


class WhyTold(BaseModel):
    """Why a row is an answer."""

    subscription: str
    row: RowTerms
    triples: list[Stated]
    conditions: list[str]
    text: str


def _uris(stated: Mapping[object, Iterable[Source]]) -> dict[str, list[str]]:
    return {str(triple): [source.uri for source in sources] for triple, sources in stated.items()}


class ResourceTold(BaseModel):
    """What is known of a resource."""

    iri: Spelled
    triples: list[Spelled]
    content: list[Spelled]
    documents: list[Source]
    referenced_by: list[Spelled]
    references: int
    has_more: bool
    stated_by: Annotated[
        dict[str, list[str]],
        BeforeValidator(_uris),
        Field(description="The documents that state each of `triples` and `referenced_by`."),
    ]


class Health(BaseModel):
    """How the service is: whether it lives, whether it is ready for work, and what is not as it should be."""

    status: Literal["ok", "failing", "stopping"]
    version: str
    identity: bool
    live: bool
    ready: bool
    reasons: list[str]


class AskForChallenge(Message):
    """Whose key shall be proved."""

    account: Annotated[str, Field(min_length=1, max_length=100)]


class AskToMove(Message):
    """From which hub of the network, and with which public key (none, where the old hub does not ask who one is)."""

    hub: Annotated[str, Field(min_length=1, max_length=100, description="The name of the old hub.")]
    key: Annotated[str, Field(max_length=64, description="In hexadecimal.")] = ""


class WantedMove(AskToMove):
    """A move, signed by the owner of the key: see `triplewire.wire.keys.move_text`."""

    generation: Annotated[int, Field(ge=1, le=2**60)]
    nonce: Annotated[str, Field(max_length=1_000)]
    signature: Annotated[str, Field(max_length=200)] = ""
    subscriptions: Annotated[list[Name], Field(max_length=1_000, description="Which ones; all, if none is named.")] = []
    after: Annotated[dict[Name, Cursor], Field(description="How far each was read at the old hub, by id.")] = {}


class Challenge(BaseModel):
    """What to sign: the bytes of `text`, in UTF-8."""

    challenge: str
    text: str


class Signed(Message):
    """A challenge with the signature of its text, in hexadecimal."""

    challenge: Annotated[str, Field(max_length=1_000)]
    signature: Annotated[str, Field(max_length=200)]


class Session(BaseModel):
    """A token that is valid for a while."""

    token: str
    seconds: float


class Whoami(BaseModel):
    """The account of the caller."""

    id: str
    name: str
    role: Literal["reader", "publisher", "admin"]
    tenant: str
    is_edge: Annotated[bool, Field(description="Whether this hub is an edge of another one.")] = False
    is_networked: Annotated[bool, Field(description="Whether this hub is of a network.")] = False
    is_in_backbone: Annotated[bool, Field(description="Whether this hub is of a backbone.")] = False


# -- deliveries

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
