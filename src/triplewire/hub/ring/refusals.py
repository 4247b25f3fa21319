"""Refusals: what a hub does and a ring cannot, each with what to do instead."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from triplewire.hub.answers import answer
from triplewire.wire import problems

_HUB = "use a hub for this: `triplewire serve`"

_REASONS = {
    "sparql": "no peer of a ring has all documents, so there is none that could be asked SPARQL over all of them: "
    "subscribe to the query and read its events, or use a hub",
    "changes": "a ring applies each document by itself, and has no batches: publish and retract one after the other",
    "upload": "a ring applies each document by itself: publish one after the other",
    "document": "a ring has no access lists and keeps the last version of a document alone: what is published on it is "
    f"for all its peers; {_HUB}",
    "documents": f"no peer of a ring has a list of all documents; {_HUB}",
    "taxonomy": f"a ring has no taxonomy: is-a means what a query says; {_HUB}",
    "subscriptions": "a subscription on a ring can be made, read, followed and ended, not edited, paused, explained "
    f"or delivered: unsubscribe and subscribe anew, or follow its events; {_HUB} where that will not do",
    "inbox": f"a peer has no inbox: read the events of each subscription; {_HUB}",
    "edges": f"a peer of a ring has no edges; {_HUB}",
    "network": "a ring has nobody who decides, moves clients or traces events: status, map and leave are what there is",
}


def refusal(path: str) -> str:
    """Why a ring cannot do what an address of a hub asks for, and what to do."""
    part = path.removeprefix("/v1/").split("/")[0]
    return _REASONS.get(part, f"a peer of a ring does not do this; {_HUB}; /v1/openapi.json tells what there is")


async def refuse(request: Request) -> Response:
    """Answer what only a hub can do."""
    return answer(problems.problem(501, "Not part of a ring", refusal(request.url.path)))
