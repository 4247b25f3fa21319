"""The rules of edges, at the hub: each is a subscription, whose id begins with the name of its edge.

So edges that follow the same rule, and see the same, share a query with its rows and events, as all subscribers do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from triplewire.algebra.pattern import Pattern
from triplewire.engine.standing import GRAPH, Standing
from triplewire.engine.subscriptions import registrations
from triplewire.errors import BadRequest, NotAllowed, TriplewireError, UnsupportedQuery
from triplewire.model import Scope, Subscription
from triplewire.store import Reader, SubscriptionRecord, Writer
from triplewire.wire.edges import EdgeRule

_BETWEEN = ":"
_NAME = re.compile(r"edge-[0-9a-z]{1,64}")


def rules_of(reader: Reader, edge: str) -> dict[str, SubscriptionRecord]:
    """The rules that an edge follows here, by the names that it has for them."""
    space = edge + _BETWEEN
    return {record.id.removeprefix(space): record for record in reader.subscriptions.beginning_with(space)}


def seen_alike(reader: Reader, rules: Mapping[str, SubscriptionRecord], viewer: str | None) -> set[str]:
    """Those of the rules that look on behalf of a viewer; an account may see less now than when it followed them."""
    queries = reader.queries.by_ids([record.query for record in rules.values()])
    return {id for id, query in zip(rules, queries, strict=True) if query is not None and query.viewer == viewer}


def refuse_stranger(reader: Reader, edge: str, owner: str | None) -> None:
    """NotAllowed if the rules of an edge are another owner's; BadRequest if no edge can have this name."""
    if not _NAME.fullmatch(edge):
        raise BadRequest(f"{edge!r} is no name of an edge")
    if any(record.owner != owner for record in rules_of(reader, edge).values()):
        raise NotAllowed("this edge is another account's; an edge asks as the account with which it began")


def scope_of(pattern: Pattern, language: str) -> Scope:
    """The graph of all documents, for what can be asked of that; XPath asks one document."""
    try:
        registrations.refuse_unserved(pattern, GRAPH, language)
    except UnsupportedQuery:
        return "document"
    return "graph"


def follow(
    writer: Writer,
    standing: Standing,
    edge: str,
    rules: Sequence[EdgeRule],
    *,
    owner: str | None,
    viewer: str | None,
    later: bool,
) -> dict[str, str]:
    """Let rules stand; those that an edge has already in these words stay. Gives the refused ones, with the reasons."""
    space, refused = edge + _BETWEEN, {}
    known = rules_of(writer, edge)
    for rule in rules:
        if rule.id in known and _is_same(writer, known[rule.id], rule, owner, viewer):
            continue
        try:
            pattern = registrations.compiled(writer, rule.text, rule.language, None, space=space)
        except TriplewireError as error:
            refused[rule.id] = str(error)
            continue
        if rule.id in known:
            registrations.unregister(writer, known[rule.id].id)
        scope = scope_of(pattern, rule.language)
        wanted = Subscription(space + rule.id, rule.text, rule.language, scope, "ever", owner, pattern, viewer)
        registration = registrations.Registration(writer, standing, later=later)
        registration.add([wanted])
        registration.tell()
    return refused


def unfollow(writer: Writer, edge: str, rules: Sequence[str]) -> None:
    """Let go of rules; of one that is not there, nothing."""
    known = rules_of(writer, edge)
    for rule in rules:
        if rule in known:
            registrations.unregister(writer, known[rule].id)


def _is_same(reader: Reader, record: SubscriptionRecord, rule: EdgeRule, owner: str | None, viewer: str | None) -> bool:
    (query,) = reader.queries.by_ids([record.query])
    asked = record.text, record.language, record.owner, query and query.viewer
    return asked == (rule.text, rule.language, owner, viewer)
