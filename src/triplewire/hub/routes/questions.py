"""Questions about queries that do not stand yet: preview, explain, lint, and a check while one is written."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from triplewire.algebra.lint import lint
from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.algebra.wording import readable
from triplewire.engine.inspect.suggestions import Unheard, unheard
from triplewire.engine.subscriptions.registrations import compiled, read_for_person, refuse_unserved
from triplewire.errors import QueryError
from triplewire.hub.messages import Explained, Findings, FindingTold, PreviewQuery, QueryText
from triplewire.hub.reception import BoundedRoute
from triplewire.hub.service import Admission, Reading
from triplewire.hub.sights.messages import CheckQuery, CheckTold, Mistake, Picture
from triplewire.hub.sights.pictures import picture
from triplewire.languages import LANGUAGES, render
from triplewire.matching import Index
from triplewire.wire.insights import insight_as_dict

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["queries"])

_MOST_ALTERNATIVES = 8


@router.post("/preview", summary="Look before you subscribe")
def preview(access: Reading, query: PreviewQuery) -> dict[str, Any]:
    """What a subscription would get and cost; nothing is registered."""
    found = access.hub.preview(**query.model_dump(), viewer=access.viewer)
    most = access.tenant.settings.query_cost
    return insight_as_dict(found) | ({} if most is None else {"cost_allowed": most})


@router.post("/explain", summary="Explain a query")
def explain(access: Reading, query: QueryText) -> Explained:
    """How a query would be matched, and what it is in the other languages."""
    return explained("query", _pattern(access, query), access.hub.taxonomy)


@router.post("/lint", summary="Look for mistakes in a query")
def findings(access: Reading, query: QueryText) -> Findings:
    """What is wrong with a query before any document has come."""
    return Findings(findings=found_in(_pattern(access, query), access.hub.taxonomy))


@router.post("/check", summary="Check a query while it is written")
def check(access: Reading, query: CheckQuery) -> CheckTold:
    """The picture of a text that is a query, with what lint finds; of another one, what is wrong with it and where."""
    try:
        with access.hub.store.reading() as reader:
            pattern, written = read_for_person(reader, query.text, query.language, query.prefixes)
            missing = unheard(reader.seen_by(access.viewer), access.hub.taxonomy, pattern)
        refuse_unserved(pattern, query.scope, query.language)
    except QueryError as error:
        mistake = Mistake.model_validate(error, from_attributes=True)
        return CheckTold(mistake=mistake, picture=None, findings=[])
    findings = found_in(written, access.hub.taxonomy)
    never = [each for each in (*findings, *found_in(pattern, access.hub.taxonomy)) if each.severity == "error"]
    if never:  # also by alternatives that only the normal form takes apart; what else there is does not matter then
        return CheckTold(mistake=None, picture=drawn(written), findings=never[:1])
    return CheckTold(mistake=None, picture=drawn(written), findings=[*map(_told, missing), *findings])


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
    with access.hub.store.reading() as reader:
        return compiled(reader, query.text, query.language, query.prefixes)


def _told(missing: Unheard) -> FindingTold:
    return FindingTold(
        kind="unheard",
        severity="warning",
        message=missing.message,
        branch=None,
        others=[],
        term=str(missing.term),
        suggestions=[*map(str, missing.suggestions)],
    )


def drawn(pattern: Pattern) -> Picture:
    """The picture of a pattern."""
    alternatives = picture(pattern)
    has_more, told = len(alternatives) > _MOST_ALTERNATIVES, alternatives[:_MOST_ALTERNATIVES]
    return Picture(columns=list(pattern.answer), alternatives=told, has_more=has_more)
