"""Answers: what one edge is told, by one state of the hub."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from triplewire.engine.edges.contents import Contents
from triplewire.engine.edges.moves import Moves
from triplewire.engine.edges.positions import HubPosition
from triplewire.engine.edges.states import mark_of
from triplewire.engine.edges.steps import EdgeStep, Steps
from triplewire.store import EVERYBODY, Reader, SubscriptionRecord
from triplewire.wire.edges import Description, EdgeAnswer, EdgeQuestion, digest_of

OTHER_HISTORY = "the hub has another history than the edge: it was restored, or is another one"
FORGOTTEN = "the hub does not keep any more what happened since"
OTHER_SCHEMA = "the schema has changed, and with it what resources hold"


class EdgeAnswering:
    """Answers the question of one edge."""

    def __init__(self, reader: Reader, steps: Steps, question: EdgeQuestion, viewer: str | None) -> None:
        """What an edge tells is of its cache alone, whoever the viewer is."""
        self._reader, self._steps, self._question = reader, steps, question
        self._state = state = steps.state(reader)
        self._viewer = EVERYBODY if state.set.is_edge else viewer
        self._here, self._position, self._time = state.here, state.position, state.time
        self._known = steps.rules(reader, state, question.edge, self._viewer)
        self._rules, self._tags = self._known.records, self._known.tags

    def answer(self, refused: Mapping[str, str], owner: str | None = None) -> EdgeAnswer:
        """What the edge is told; NotAllowed if it is another owner's."""
        self._known.refuse_stranger(owner)
        self._state.set.edges.refuse_other_owner(self._question.edge, owner)
        found = self._found(refused)
        offered = self._state.set.edges.offered(self._question.edge)
        return replace(found, offered=offered) if offered else found

    def _found(self, refused: Mapping[str, str]) -> EdgeAnswer:
        question = self._question
        if not question.resync and self._known.digest_without(question.load) != question.rules:
            return EdgeAnswer(question.position, self._here.number, self._time, self._tags, dict(refused))
        told = self._schema_told()
        if refused:
            told["refused"] = dict(refused)
        if question.resync:
            return self._everything(told)
        has_loaded = len(self._tags) > (len(self._tags.keys() & set(question.load)) if question.load else 0)
        reason = self._resync_reason(has_loaded, "schema" in told)
        if reason:
            return replace(self._everything(told), resync=reason)
        return self._difference(has_loaded, told)

    def _resync_reason(self, has_rules: bool, has_other_schema: bool) -> str:
        if not has_rules:
            return ""
        there = HubPosition.read(self._question.position)
        if there != self._here and not self._is_of_this_history(there):
            return OTHER_HISTORY
        if there.number < self._state.forgotten:
            return FORGOTTEN
        return OTHER_SCHEMA if has_other_schema else ""

    def _is_of_this_history(self, there: HubPosition) -> bool:
        if self._state.marks.get(there.number) == there.mark:
            return True
        record = self._reader.batches.by_numbers({there.number}).get(there.number)
        return there.number <= self._here.number and mark_of(record) == there.mark

    def _difference(self, has_loaded: bool, told: dict[str, object]) -> EdgeAnswer:
        there = HubPosition.read(self._question.position)
        after = min(there.number, self._here.number) if has_loaded else self._here.number
        is_relisted = there.lists != self._here.lists
        step = self._steps.since(self._reader, self._state, self._viewer, after, is_relisted=is_relisted)
        self._known.told = self._here.number
        touched = step.touched_of(self._known)
        if self._asks_for_more:
            return self._more(step, touched, told)
        if touched:
            return self._changes(step, touched, told)
        return replace(self._state.no_news, **told) if told else self._state.no_news  # type: ignore[arg-type]  # by name

    def _changes(self, step: EdgeStep, touched: Iterable[int], told: dict[str, object]) -> EdgeAnswer:
        """What a step does for rules that it touches."""
        queries = {id: query for query in touched for id in self._known.by_query[query]}
        moves = step.moves(touched)
        return EdgeAnswer(
            self._position,
            self._here.number,
            self._time,
            registered=_of_rules(queries, {query: moves.queries[query].registered for query in touched}),
            released=_of_rules(queries, {query: moves.queries[query].released for query in touched}),
            descriptions=step.now.descriptions(moves.described),
            deleted=step.now.names(moves.deleted),
            **told,  # type: ignore[arg-type]  # each under its own name
        )

    def _more(self, step: EdgeStep, touched: Iterable[int], told: dict[str, object]) -> EdgeAnswer:
        """What has changed, together with the other things that are asked for."""
        question, load = self._question, set(self._question.load)
        queries = {id: query for query in touched for id in self._known.by_query[query] if id not in load}
        moves = step.moves(set(queries.values()))
        waiting = self._waiting(question.load)
        whole = {id: self._roots(step.now, self._rules[id]) for id in question.load if self._is_told(id, waiting)}
        asked = self._asked(step.now)
        more = step.now.closure(set().union(*whole.values())) | set(asked.values())
        described = [*moves.described, *sorted(more.difference(moves.described))]
        return EdgeAnswer(
            self._position,
            self._here.number,
            self._time,
            waiting=waiting,
            whole={id: self._tags[id] for id in sorted(whole)},
            registered=_of_rules(queries, {query: each.registered for query, each in moves.queries.items()})
            | {id: step.now.names(sorted(roots)) for id, roots in whole.items()},
            released=_of_rules(queries, {query: each.released for query, each in moves.queries.items()}),
            descriptions=step.now.descriptions(described),
            deleted=self._deleted(step.now, moves, asked),
            drifted=self._drifted(step.now, load),
            **told,  # type: ignore[arg-type]  # each under its own name
        )

    @property
    def _asks_for_more(self) -> bool:
        """Whether it asks for other things than what has changed."""
        return bool(self._question.load or self._question.nodes or self._question.digests)

    def _asked(self, now: Contents) -> dict[str, int]:
        """The nodes that the edge asks for, as far as a rule of it reaches them: it is to learn of no others.

        Of the others it is not even said whether they are known.
        """
        wanted = now.numbers(self._question.nodes)
        if not wanted:
            return {}
        above = now.holders(wanted.values())
        rows = self._reader.rows.binding(sorted(above))
        roots = {term for row in rows if row.query in self._known.by_query for term in row.terms} & above
        reached = now.closure(roots)
        return {name: number for name, number in wanted.items() if number in reached}

    def _everything(self, told: dict[str, object]) -> EdgeAnswer:
        """All that the edge's rules register, and the digest of each node that it is to hold."""
        now = Contents(self._reader.seen_by(self._viewer), self._state.set.schema.strong)
        waiting = self._waiting(self._rules)
        whole = {id: self._roots(now, record) for id, record in self._rules.items() if id not in waiting}
        nodes = sorted(now.closure(set().union(*whole.values())))
        descriptions = now.descriptions(nodes)
        return EdgeAnswer(
            self._position,
            self._here.number,
            self._time,
            rules=self._tags,
            waiting=waiting,
            whole={id: self._tags[id] for id in sorted(whole)},
            registered={id: now.names(sorted(roots)) for id, roots in whole.items()},
            manifest={each.node: each.digest() for each in descriptions},
            **told,  # type: ignore[arg-type]  # each under its own name
        )

    def _deleted(self, now: Contents, moves: Moves, asked: Mapping[str, int]) -> list[str]:
        unknown = [name for name in self._question.nodes if name not in asked]
        return [*now.names(moves.deleted), *unknown]

    def _waiting(self, rules: Iterable[str]) -> list[str]:
        """Rules whose first answers are not all found yet."""
        queries = {id: self._rules[id].query for id in rules if id in self._rules}
        if not queries:
            return []
        unfinished = {record.query for record in self._reader.backfills.unfinished(set(queries.values()))}
        return sorted(id for id, query in queries.items() if query in unfinished)

    def _is_told(self, rule: str, waiting: list[str]) -> bool:
        return rule in self._rules and rule not in waiting

    def _roots(self, now: Contents, record: SubscriptionRecord) -> set[int]:
        """What a rule registers: the resources that its rows bind."""
        return now.resources(term for row in self._reader.rows.of_query(record.query) for term in row.terms)

    def _drifted(self, now: Contents, load: Collection[str]) -> list[str]:
        """The rules of which the edge holds something else than it should."""
        given = self._question.digests
        compared = [id for id in sorted(given) if id in self._rules and id not in load]
        return [id for id in compared if self._digest(now, id) != given[id]]

    def _digest(self, now: Contents, rule: str) -> str:
        roots = self._roots(now, self._rules[rule])
        return digest_of_holding(now.descriptions(sorted(now.closure(roots))))

    def _schema_told(self) -> dict[str, object]:
        """The schema and the taxonomy, where the edge has others."""
        told: dict[str, object] = {}
        state, question = self._state.set, self._question
        if state.schema_digest != question.schema:
            told |= {"schema": state.triples, "policy": state.policy}
        if state.taxonomy_digest != question.taxonomy:
            told["taxonomy"] = state.taxonomy
        return told


def _of_rules(queries: Mapping[str, int], names: Mapping[int, list[str]]) -> dict[str, list[str]]:
    """The names of resources for each rule, by those for its query; a rule without any is left out."""
    return {id: found for id, query in queries.items() if (found := names[query])}


def digest_of_holding(described: Iterable[Description]) -> str:
    """The digest of what is held."""
    return digest_of(sorted(f"{each.node} {each.digest()}" for each in described if each.parts or each.xml))
