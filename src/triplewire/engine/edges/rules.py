"""The rules of edges, at the hub: each is a subscription, whose id begins with the name of its edge.

So edges that follow the same rule, and see the same, share a query with its rows and events, as all subscribers do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from triplewire.algebra.pattern import Pattern
from triplewire.engine.standing import GRAPH, Standing
from triplewire.engine.subscriptions import registrations
from triplewire.errors import BadRequest, NotAllowed, TriplewireError, UnsupportedQuery
from triplewire.model import Scope, Subscription
from triplewire.store import Reader, SubscriptionRecord, Writer
from triplewire.wire.edges import EdgeQuestion, EdgeRule, digest_of_rules, tag_of_rule

_BETWEEN = ":"
_ANOTHERS = "this edge is another account's; an edge asks as the account with which it began"
_MOST_NODES, _MOST_RULES = 10_000, 1_000
_WORD = re.compile(r"[\w.-]+")
_NAME = re.compile(r"edge-[0-9a-z]{1,64}")


def rules_of(reader: Reader, edge: str) -> dict[str, SubscriptionRecord]:
    """The rules that an edge follows here, by the names that it has for them."""
    space = edge + _BETWEEN
    return {record.id.removeprefix(space): record for record in reader.subscriptions.beginning_with(space)}


class KnownRules:
    """The rules of an edge that look on behalf of a viewer, as they are at one number of the registry.

    An account may see less now than when it followed some; these are not among them, and are followed anew.
    """

    def __init__(self, reader: Reader, edge: str, viewer: str | None, told: int = -1) -> None:
        self.number = reader.subscriptions.last_change()
        found = rules_of(reader, edge)
        queries = reader.queries.by_ids([record.query for record in found.values()])
        alike = {id for id, query in zip(found, queries, strict=True) if query is not None and query.viewer == viewer}
        self.owners = {record.owner for record in found.values()}
        self.records = {id: record for id, record in found.items() if id in alike}
        self.tags = {id: _tag_of(record) for id, record in self.records.items()}
        self.digest = digest_of_rules(self.tags)
        self.by_query: dict[int, list[str]] = {}
        for id, record in self.records.items():
            self.by_query.setdefault(record.query, []).append(id)
        self.told = told
        """The batch until which the edge was told what these register, as far as is known: it asks from there next."""

    def digest_without(self, rules: Sequence[str]) -> str:
        """The digest of the others."""
        if not rules:
            return self.digest
        return digest_of_rules({id: tag for id, tag in self.tags.items() if id not in rules})

    def refuse_stranger(self, owner: str | None) -> None:
        """NotAllowed if the rules are another owner's."""
        if self.owners - {owner}:
            raise NotAllowed(_ANOTHERS)


def _tag_of(record: SubscriptionRecord) -> str:
    return tag_of_rule(record.tag, record.text, record.language)


def refuse_bad_name(edge: str) -> None:
    """BadRequest if no edge can have this name."""
    if not _NAME.fullmatch(edge):
        raise BadRequest(f"{edge!r} is no name of an edge")


def refuse_stranger(reader: Reader, edge: str, owner: str | None) -> None:
    """NotAllowed if the rules of an edge are another owner's; BadRequest if no edge can have this name."""
    refuse_bad_name(edge)
    if any(record.owner != owner for record in rules_of(reader, edge).values()):
        raise NotAllowed(_ANOTHERS)


def refuse_too_much(question: EdgeQuestion) -> None:
    """BadRequest for a question that no edge asks: they ask for a part at a time."""
    if len(question.nodes) > _MOST_NODES:
        raise BadRequest(f"so many resources are asked for at a time at most: {_MOST_NODES:,}")
    if len(question.follow) > _MOST_RULES:
        raise BadRequest(f"so many rules are followed at a time at most: {_MOST_RULES:,}")


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
    """Let rules stand; those that an edge has already stay. Gives the refused ones, with the reasons."""
    known, refused = rules_of(writer, edge), dict[str, str]()
    following = _Following(writer, standing, edge + _BETWEEN, owner=owner, viewer=viewer, later=later)
    for rule in rules:
        try:
            if rule.id not in known:
                following.add(rule)
        except TriplewireError as error:
            refused[rule.id] = str(error)
    following.register()
    return refused


class _Following:
    """Rules that are let stand together; those that one is built on stand before it is read."""

    def __init__(
        self, writer: Writer, standing: Standing, space: str, *, owner: str | None, viewer: str | None, later: bool
    ) -> None:
        self._writer, self._standing, self._space = writer, standing, space
        self._owner, self._viewer, self._later = owner, viewer, later
        self._wanted: dict[str, Subscription] = {}

    def add(self, rule: EdgeRule) -> None:
        if rule.language == registrations.RULES and self._wanted.keys() & set(_WORD.findall(rule.text)):
            self.register()
        pattern = registrations.compiled(self._writer, rule.text, rule.language, None, space=self._space)
        scope, id = scope_of(pattern, rule.language), self._space + rule.id
        wanted = Subscription(id, rule.text, rule.language, scope, "ever", self._owner, pattern, self._viewer)
        self._wanted[rule.id] = wanted

    def register(self) -> None:
        if self._wanted:
            registration = registrations.Registration(self._writer, self._standing, later=self._later)
            registration.add(list(self._wanted.values()))
            registration.tell()
            self._wanted = {}


def replaced(
    reader: Reader, edge: str, rules: Sequence[EdgeRule], *, owner: str | None, viewer: str | None
) -> list[str]:
    """Those of the rules that an edge has in other words, or for another owner or viewer: they are let go of first."""
    known = rules_of(reader, edge)
    return [rule.id for rule in rules if rule.id in known and not _is_same(reader, known[rule.id], rule, owner, viewer)]


def unfollow(writer: Writer, edge: str, rules: Sequence[str]) -> None:
    """Let go of rules; of one that is not there, nothing."""
    known = rules_of(writer, edge)
    for rule in dict.fromkeys(rules):
        if rule in known:
            registrations.unregister(writer, known[rule].id)


def _is_same(reader: Reader, record: SubscriptionRecord, rule: EdgeRule, owner: str | None, viewer: str | None) -> bool:
    (query,) = reader.queries.by_ids([record.query])
    asked = record.text, record.language, record.owner, query and query.viewer
    return asked == (rule.text, rule.language, owner, viewer)
