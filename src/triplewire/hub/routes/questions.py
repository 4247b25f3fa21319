"""Questions about queries that do not stand yet: preview, explain, lint."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from triplewire.algebra.lint import lint
from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.algebra.wording import readable
from triplewire.engine.subscriptions.registrations import compiled
from triplewire.errors import QueryError
from triplewire.hub.messages import Explained, Findings, FindingTold, PreviewQuery, QueryText
from triplewire.hub.service import Admission, BoundedRoute, Reading
from triplewire.languages import LANGUAGES, render
from triplewire.matching import Index
from triplewire.wire.insights import insight_as_dict

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["queries"])


@router.post("/preview", summary="Look before you subscribe")
def preview(access: Reading, query: PreviewQuery) -> dict[str, Any]:
    """What a subscription would get and cost; nothing is registered."""
    found = access.tenant.hub.preview(
        query.text,
        language=query.language,
        scope=query.scope,
        start=query.start,
        limit=query.limit,
        prefixes=query.prefixes,
        viewer=access.viewer,
    )
    most = access.tenant.settings.query_cost
    return insight_as_dict(found) | ({} if most is None else {"cost_allowed": most})


@router.post("/explain", summary="Explain a query", response_model=Explained)
def explain(access: Reading, query: QueryText) -> Explained:
    """How a query would be matched, and what it is in the other languages."""
    return explained("query", _pattern(access, query), access.tenant.hub.taxonomy)


@router.post("/lint", summary="Look for mistakes in a query", response_model=Findings)
def findings(access: Reading, query: QueryText) -> Findings:
    """What is wrong with a query before any document has come."""
    return Findings(findings=found_in(_pattern(access, query), access.tenant.hub.taxonomy))


def found_in(pattern: Pattern, taxonomy: Taxonomy) -> list[FindingTold]:
    """What lint finds in a pattern."""
    return [FindingTold.model_validate(asdict(each)) for each in lint(readable(pattern), taxonomy=taxonomy)]


def explained(id: str, pattern: Pattern, taxonomy: Taxonomy) -> Explained:
    """A pattern, explained as if it stood alone."""
    index = Index(taxonomy=taxonomy)
    index.add(id, pattern)
    return Explained(explanation=str(index.explain(id)), languages=_renderings(pattern))


def _renderings(pattern: Pattern) -> dict[str, str]:
    found = {}
    for language in LANGUAGES:
        try:
            found[language] = render(readable(pattern), language=language)
        except QueryError:  # a language that has no words for it
            continue
    return found


def _pattern(access: Admission, query: QueryText) -> Pattern:
    with access.tenant.hub.store.reading() as reader:
        return compiled(reader, query.text, query.language, query.prefixes)
