"""Sights: the JSON of what people look at on the page; every list in it is bounded."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from triplewire.engine.inspect.statistics import Load
from triplewire.hub.messages import FindingTold, Message, QueryText, Spelled, TermText
from triplewire.hub.sights.pictures import Alternative
from triplewire.hub.tenancy.quotas import QuotaUse
from triplewire.model import Scope

Narrowing = Annotated[str, Field(max_length=16_000)]
Named = Annotated[str | None, Field(description="What it is called; null where nothing says it.")]


class ClassTold(BaseModel):
    """A class, or a node of the taxonomy; counts end at `counted_to`."""

    iri: Spelled
    name: Named
    instances: int
    uses: int
    used_by: Spelled | None
    parents: list[Spelled]
    resources: Annotated[int, Field(description="How many have it or what is below it; counted up to 1,000.")]


class PlaceTold(BaseModel):
    """Where something stands in the taxonomy: what is one step above it, and one step below."""

    node: ClassTold
    parents: list[ClassTold]
    children: list[ClassTold]


class Classes(BaseModel):
    """The classes that resources are of, and the taxonomy."""

    classes: list[ClassTold]
    counted_to: int
    has_more: bool


class ValueTold(BaseModel):
    """A value, and how many of the resources have it."""

    term: Spelled
    name: Named
    resources: int


class FacetTold(BaseModel):
    """A property of some resources, with its most frequent values of `values_in_all`."""

    property: Spelled
    name: Named
    resources: int
    values: list[ValueTold]
    values_in_all: int


class NamedResource(BaseModel):
    """A resource."""

    term: Spelled
    name: Named


class Facets(BaseModel):
    """Resources that have something in common; with `has_more`, the first ones that were found."""

    resources: list[NamedResource]
    facets: list[FacetTold]
    has_more: bool
    count: Annotated[int, Field(description="How many there are; counted up to 1,000.")]


class HitTold(BaseModel):
    """A resource, and the property and value in which the words are; null where they are in its IRI."""

    resource: Spelled
    name: Named
    property: Spelled | None
    value: Spelled | None


class Hits(BaseModel):
    """What a search found; `next` is the `before` to look on, null where everything was looked at."""

    hits: list[HitTold]
    next: int | None


class AskForNames(Message):
    """Resources whose names are wanted."""

    resources: Annotated[list[TermText], Field(max_length=500)]


class NamesTold(BaseModel):
    """What resources are called, by their terms; those that are called nothing are left out."""

    names: dict[str, str]


class CheckQuery(QueryText):
    """A query that is being written."""

    scope: Scope = "document"


class Picture(BaseModel):
    """The pictures of a query's alternatives, the first ones if there are many."""

    columns: list[str]
    alternatives: list[Alternative]
    has_more: bool


class Mistake(BaseModel):
    """Why a text is no query, and where, if that is known; lines and columns count from 1."""

    reason: str
    line: int | None
    column: int | None
    expected: list[str]
    hint: str | None


class CheckTold(BaseModel):
    """A text that is a query has a picture, one that is none a mistake."""

    mistake: Mistake | None
    picture: Picture | None
    findings: list[FindingTold]


class IntervalTold(BaseModel):
    """What was committed from `start` on."""

    start: Annotated[str, BeforeValidator(lambda time: time.isoformat(timespec="seconds"))]
    batches: int
    documents: int
    events: int


class RequestsTold(BaseModel):
    """How long requests of a kind took since the service began, in seconds: on average, and nine of ten at most."""

    method: str
    route: str
    count: int
    mean: float
    nine_of_ten: float | None


class Totals(BaseModel):
    """What there is now; documents and subscriptions are counted up to `counted_to`."""

    documents: int
    triples: int
    subscriptions: int
    events: int
    counted_to: int


class Lag(BaseModel):
    """What waits: in the memory of this process, and on the intake log, since when; and what was set aside."""

    in_memory: int
    on_the_log: int
    since: str | None
    rejected: int


class Statistics(BaseModel):
    """How much came and was told, what waits, and which subscriptions have the most to do.

    `requests` is there for an admin of the main tenant, because it is of the whole service.
    """

    now: str
    seconds: float
    intervals: list[IntervalTold]
    is_cut: bool
    totals: Totals
    lag: Lag
    busiest: list[Load]
    costliest: list[Load]
    quotas: list[QuotaUse]
    requests: list[RequestsTold] | None
