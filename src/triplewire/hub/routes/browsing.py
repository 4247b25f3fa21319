"""Browsing: classes, facets, search, names, for people who do not know yet what to ask for (M9)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pyoxigraph import NamedNode

from triplewire.engine.inspect import surveys
from triplewire.engine.inspect.surveys import FacetChoice
from triplewire.errors import BadRequest
from triplewire.hub.messages import NO_NUL
from triplewire.hub.reception import BoundedRoute
from triplewire.hub.routes.subscriptions import term_of
from triplewire.hub.service import Admission, Reading
from triplewire.hub.sights.messages import AskForNames, Classes, Facets, Hits, NamesTold, Narrowing, PlaceTold
from triplewire.model import Term
from triplewire.store import Reader

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["browsing"])

_NARROWING = re.compile(r"(<[^<>\s]+>)\s+(isa\s+)?(\S.*)", re.DOTALL)
_WHERE = (
    "A property and a value, as in N-Triples: `<property> <value>`; `<property> isa <class>` takes what is below, too."
)


@router.get("/classes", summary="See what there is", response_model=Classes)
def classes(access: Reading) -> dict[str, Any]:
    """The classes that resources are of, with how many there are, and how they stand in the taxonomy."""
    taxonomy = access.hub.taxonomy
    with _seen(access) as reader:
        found, has_more = surveys.classes(reader, taxonomy)
        names = _names(access, reader, (each.iri for each in found))
    told = [_named(each, each.iri, names) for each in found]
    return {"classes": told, "counted_to": surveys.MOST_COUNTED, "has_more": has_more}


@router.get("/place", summary="See where something stands in the taxonomy", response_model=PlaceTold)
def place(
    access: Reading, iri: Annotated[str, Query(min_length=1, max_length=8_000, description="The node.")]
) -> dict[str, Any]:
    """A class or theme with what is one step above and below it, and how many resources each leads to."""
    taxonomy = access.hub.taxonomy
    with _seen(access) as reader:
        found = surveys.place(reader, taxonomy, term_of(iri))
        names = _names(access, reader, (each.iri for each in (found.node, *found.parents, *found.children)))
    above, below = ([_named(each, each.iri, names) for each in some] for some in (found.parents, found.children))
    return {"node": _named(found.node, found.node.iri, names), "parents": above, "children": below}


@router.get("/facets", summary="Narrow down", response_model=Facets)
def facets(
    access: Reading,
    where: Annotated[list[Narrowing], Query(min_length=1, max_length=20, description=_WHERE)],
    limit: Annotated[int, Query(ge=1, le=surveys.MOST_RESOURCES)] = 50,
) -> dict[str, Any]:
    """The resources that have all of these properties, and by which others they can be told apart."""
    taxonomy, wanted = access.hub.taxonomy, [_wanted(text) for text in where]
    with _seen(access) as reader:
        found = surveys.select(reader, taxonomy, wanted, limit=limit)
        values = (value for facet in found.facets for value, _ in facet.values)
        names = _names(access, reader, (*found.resources, *(facet.property for facet in found.facets), *values))
    resources = [{"term": term, "name": names.get(str(term))} for term in found.resources]
    told = [_named(facet, facet.property, names) | {"values": _values(facet, names)} for facet in found.facets]
    return {"resources": resources, "facets": told, "has_more": found.has_more, "count": found.count}


@router.get("/search", summary="Search for words", response_model=Hits)
def search(
    access: Reading,
    q: Annotated[str, Query(min_length=1, max_length=200, pattern=NO_NUL, description="Words that all must be there.")],
    before: Annotated[int | None, Query(ge=1, le=2**60, description="Where to look on: `next` of the answer.")] = None,
) -> dict[str, Any]:
    """Resources with all words in their IRI or in one of their values, whatever the case, the newest words first.

    One question looks at a part of a large store, and `next` says where the following one goes on.
    """
    taxonomy = access.hub.taxonomy
    with _seen(access) as reader:
        found, further = surveys.search(reader, taxonomy, access.hub.called, q, before=before)
        names = _names(access, reader, (hit.resource for hit in found))
    return {"hits": [_named(hit, hit.resource, names) for hit in found], "next": further}


@router.post("/names", summary="What are they called?")
def names_of(access: Reading, asked: AskForNames) -> NamesTold:
    """What resources are called: their title, label or name."""
    terms = list(dict.fromkeys(str(term_of(text)) for text in asked.resources))
    with _seen(access) as reader:
        return NamesTold(names=surveys.names(reader, access.hub.called, terms))


def _named(
    found: surveys.ClassFound | surveys.Facet | surveys.TextHit, about: Term, names: Mapping[str, str]
) -> dict[str, Any]:
    return asdict(found) | {"name": names.get(str(about))}


def _values(facet: surveys.Facet, names: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"term": term, "name": names.get(str(term)), "resources": count} for term, count in facet.values]


@contextmanager
def _seen(access: Admission) -> Iterator[Reader]:
    """The store, with the documents that the caller may read."""
    with access.hub.store.reading() as reader:
        yield reader.seen_by(access.viewer)


def _names(access: Admission, reader: Reader, terms: Iterable[Term]) -> dict[str, str]:
    spelled = list(dict.fromkeys(str(term) for term in terms if isinstance(term, NamedNode)))
    return surveys.names(reader, access.hub.called, spelled)


def _wanted(text: str) -> FacetChoice:
    found = _NARROWING.fullmatch(text.strip())
    if found is None:
        raise BadRequest(
            f"{text!r} is no narrowing: write a property and a value, <urn:p> <urn:o> or <urn:p> isa <urn:c>"
        )
    return FacetChoice(str(term_of(found[1])), str(term_of(found[3])), found[2] is not None)
