"""Metadata: resources, taxonomy, schema, and SPARQL over all of it (M9)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Header, Query, Request, Response
from pyoxigraph import NamedNode, Triple
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from triplewire.documents import Limits
from triplewire.documents.formats import essence
from triplewire.engine import Resource
from triplewire.errors import BadRequest, UnsupportedMediaType
from triplewire.hub.bodies import body_of
from triplewire.hub.description import TEXT, body
from triplewire.hub.messages import ResourceTold
from triplewire.hub.negotiation import best
from triplewire.hub.routes.documents import GRAPH_ANSWER, GRAPH_BODY, refuse_unread
from triplewire.hub.routes.subscriptions import term_of
from triplewire.hub.service import Administering, Admission, Reading
from triplewire.hub.sparql.askers import Question
from triplewire.hub.syntaxes import GRAPHS, RESULTS, graph
from triplewire.model import RDF, RDFS, Document
from triplewire.schema import Schema
from triplewire.wire.changes import BatchTold, batch_as_dict

router = APIRouter(prefix="/v1", tags=["metadata"])

Accept = Annotated[str | None, Header()]
_SPARQL, _FORM = "application/sparql-query", "application/x-www-form-urlencoded"
_RESULTS: dict[int | str, dict[str, Any]] = {
    200: {"description": "The answer.", "content": dict.fromkeys([*RESULTS, *GRAPHS], TEXT)}
}
_QUERY = {
    "type": "object",
    "required": ["query"],
    "properties": {
        "query": {"type": "string"},
        "default-graph-uri": {"type": "array", "items": {"type": "string"}},
        "named-graph-uri": {"type": "array", "items": {"type": "string"}},
    },
}
Graphs = Annotated[list[str], Query(max_length=100)]


@router.get("/resource", summary="Look at a resource", response_model=ResourceTold)
def resource(
    access: Reading, iri: Annotated[str, Query(min_length=1, max_length=8_000, description="Its IRI.")]
) -> Resource:
    """What the current metadata says of a resource, who says it, and what refers to it."""
    return access.hub.resource(term_of(iri), viewer=access.viewer)


@router.get("/taxonomy", summary="Read the taxonomy", response_class=Response, responses=GRAPH_ANSWER)
def taxonomy(access: Reading, accept: Accept = None) -> Response:
    """What is-a conditions are tested against: the given taxonomy, and what documents state."""
    media_type = best(accept, [*GRAPHS])
    known = access.hub.taxonomy
    below, kind = NamedNode(f"{RDFS}subClassOf"), NamedNode(f"{RDF}type")
    triples = [Triple(narrow, below, broad) for narrow, broad in known.below()]  # type: ignore[arg-type]  # no literals
    triples += [Triple(each, kind, group) for each, group in known.types()]  # type: ignore[arg-type]  # here either
    return Response(graph(triples, media_type), media_type=media_type, headers={"Vary": "Accept"})


@router.put("/taxonomy", summary="Replace the taxonomy", response_model=BatchTold, openapi_extra=GRAPH_BODY)
async def set_taxonomy(request: Request, access: Administering) -> JSONResponse:
    """Replace the given taxonomy by the RDFS that is sent; rows appear and disappear, with events."""
    document = await _sent(request, access, "urn:triplewire:taxonomy")

    def set_and_tell() -> JSONResponse:
        access.tenant.quotas.check_events()
        outcome = access.hub.set_taxonomy(document)
        events = [event.as_dict(contents=False) for event in outcome]
        return JSONResponse(batch_as_dict(outcome.batch, outcome.warnings, outcome.errors, events))

    told = await run_in_threadpool(set_and_tell)
    access.tenant.bell.ring()
    return told


@router.get("/schema", summary="Read the schema", response_class=Response, responses=GRAPH_ANSWER)
def schema(access: Reading, accept: Accept = None) -> Response:
    """What documents are checked against; nothing if none was set."""
    media_type = best(accept, [*GRAPHS])
    triples = access.hub.schema.triples
    return Response(graph(triples, media_type), media_type=media_type, headers={"Vary": "Accept"})


@router.put("/schema", summary="Replace the schema", status_code=204, openapi_extra=GRAPH_BODY)
async def set_schema(
    request: Request,
    access: Administering,
    on_violation: Annotated[
        str, Query(pattern="^(refuse|warn)$", description="What happens to documents that break it.")
    ] = "refuse",
) -> None:
    """Check documents against the schema that is sent, from now on."""
    document = await _sent(request, access, "urn:triplewire:schema")

    def change() -> None:
        found = Schema.from_triples(document.triples)
        access.hub.set_schema(found, on_violation="warn" if on_violation == "warn" else "refuse")

    await run_in_threadpool(change)
    await access.tenant.intake.refresh()


async def _sent(request: Request, access: Admission, uri: str) -> Document:
    """The graph that is the body of a request."""
    settings = access.service.settings
    media_type = request.headers.get("content-type")
    refuse_unread(media_type)
    data = await body_of(request, most=settings.document_bytes, seconds=settings.request_seconds)
    limits = Limits(bytes=settings.document_bytes)
    return await access.service.tenants.parsers.read(data, uri=uri, media_type=media_type, limits=limits)


# -- SPARQL 1.1 Protocol


@router.get("/sparql", summary="Ask in SPARQL", response_class=Response, responses=_RESULTS)
async def ask(
    access: Reading,
    query: Annotated[str, Query(min_length=1, description="SELECT, ASK, CONSTRUCT or DESCRIBE.")],
    default_graph_uri: Annotated[Graphs, Query(alias="default-graph-uri")] = [],  # noqa: B006 - FastAPI copies it
    named_graph_uri: Annotated[Graphs, Query(alias="named-graph-uri")] = [],  # noqa: B006 - this as well
    accept: Accept = None,
) -> Response:
    """Ask the current metadata: each document is a named graph, and without GRAPH all of them count."""
    return await _asked(access, Question(query, accept, default_graph_uri, named_graph_uri))


@router.post(
    "/sparql",
    summary="Ask in SPARQL, with the query in the body",
    response_class=Response,
    responses=_RESULTS,
    openapi_extra=body(**{_SPARQL: TEXT, _FORM: {"schema": _QUERY}}),
)
async def ask_with_body(
    request: Request,
    access: Reading,
    default_graph_uri: Annotated[Graphs, Query(alias="default-graph-uri")] = [],  # noqa: B006 - FastAPI copies it
    named_graph_uri: Annotated[Graphs, Query(alias="named-graph-uri")] = [],  # noqa: B006 - this as well
    accept: Accept = None,
) -> Response:
    """The same, with the query as the body, or in a form."""
    settings = access.service.settings
    kind = essence(request.headers.get("content-type"))
    if kind not in (_SPARQL, _FORM):
        raise UnsupportedMediaType(f"a query is sent as {_SPARQL} or {_FORM}, and this is {kind!r}")
    data = await body_of(request, most=settings.request_bytes, seconds=settings.request_seconds)
    try:
        text = data.decode()
        fields = (
            [] if kind == _SPARQL else parse_qsl(text, keep_blank_values=True, max_num_fields=1_000, errors="strict")
        )
    except ValueError as error:
        raise BadRequest(f"the body cannot be read: {error}") from None
    if kind == _FORM:
        queries = [value for name, value in fields if name == "query"]
        if len(queries) != 1:
            raise BadRequest(f"a form has one field called query, and this has {len(queries)}")
        text = queries[0]
        default_graph_uri = [value for name, value in fields if name == "default-graph-uri"]
        named_graph_uri = [value for name, value in fields if name == "named-graph-uri"]
    return await _asked(access, Question(text, accept, default_graph_uri, named_graph_uri))


async def _asked(access: Admission, question: Question) -> Response:
    answer = await access.tenant.asker.ask(replace(question, viewer=access.viewer))
    return Response(answer.content, media_type=answer.media_type, headers={"Vary": "Accept"})
