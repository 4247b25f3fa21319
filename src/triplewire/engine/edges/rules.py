"""The rules of edges, at the hub: each is a subscription, whose id begins with the name of its edge.

So edges that follow the same rule, and see the same, share a query with its rows and events, as all subscribers do.
"""

from __future__ import annotations

from collections.abc import Sequence

from triplewire.algebra.pattern import Pattern
from triplewire.engine.standing import GRAPH, Standing
from triplewire.engine.subscriptions import registrations
from triplewire.errors import TriplewireError, UnsupportedQuery
from triplewire.model import Scope, Subscription
from triplewire.store import Reader, SubscriptionRecord, Writer
from triplewire.wire.edges import EdgeRule

_BETWEEN = ":"


def rules_of(reader: Reader, edge: str) -> dict[str, SubscriptionRecord]:
    """The rules that an edge follows here, by the names that it has for them."""
    space = edge + _BETWEEN
    return {record.id.removeprefix(space): record for record in reader.subscriptions.beginning_with(space)}


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
