"""An edge: a hub whose documents are cached or private."""

from __future__ import annotations

import logging
import random
import re
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from triplewire.algebra.pattern import Pattern
from triplewire.edge.cache import Cache, CacheChanges
from triplewire.edge.checking import refuse_nonsense
from triplewire.edge.rules import EdgeState, new_state
from triplewire.edge.status import AsOf, Cause, EdgeStatus, FollowedRule, Synced
from triplewire.edge.uplinks import LinkedUplink, Uplink, uplink_to
from triplewire.engine import Hub, taxonomies
from triplewire.engine.batch import policies
from triplewire.engine.batch.application import apply
from triplewire.engine.batch.revisions import revise
from triplewire.engine.edges.answers import digest_of_holding
from triplewire.engine.edges.contents import Contents
from triplewire.engine.edges.states import digest_of_triples
from triplewire.engine.inspect.explanations import resource_of
from triplewire.engine.names import new_name, now
from triplewire.engine.subscriptions.registrations import RULES
from triplewire.errors import (
    DuplicateSubscription,
    NetworkError,
    SubscriptionError,
    TriplewireError,
    UnknownSubscription,
)
from triplewire.languages import read
from triplewire.model import Term, parse_triple
from triplewire.network.channels.status import UplinkStatus
from triplewire.schema import Schema
from triplewire.store import EVERYBODY, Reader, Store, Writer
from triplewire.wire.backoff import BackOff
from triplewire.wire.edges import EdgeAnswer, EdgeQuestion, EdgeRule

log = logging.getLogger("triplewire.edge")

_ROUNDS = 20
"""So often a sync asks before it gives up: each time the hub, or what it keeps, was another one."""

_NODES = 5_000
"""So many resources are asked for at a time."""

_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, SyntaxError, RecursionError)
"""What an answer leads to that is not one of a hub; nothing of it is kept, because the transaction ends."""

_AGAIN = 0.1
_PATIENCE = 20.0
_POLLING = 2.0
"""Seconds that a question may wait where nothing but its answer tells that the hub is still there."""
_BACK_OFF = 0.5, 30.0


Conversation = Generator[EdgeQuestion, EdgeAnswer, Synced]


class Edge(Hub):
    """A hub that keeps what the rules that it follows register at another hub, and its own private documents (M1).

    `hub` is the other one: its address, which is remembered, and dialled; a `Client`, which asks over HTTP; or a `Hub`
    of this process, which then is asked on behalf of an `account`. `follow` and `unfollow` say what is to be kept;
    `sync` brings the cache up to date, `run` keeps it so.
    Everything of `Hub` is answered from the edge's own store. What is published here is private: it is never told.

    `follow` takes the place of `Hub.follow`; that one is `Hub.follow(edge, id)`.

    >>> hub = Hub(":memory:")
    >>> _ = hub.publish("<urn:d1> <urn:theme> <urn:water> .", uri="urn:doc")
    >>> edge = Edge(":memory:", hub=hub)
    >>> _ = edge.follow("SELECT ?d { ?d <urn:theme> <urn:water> }", language="sparql", id="water")
    >>> edge.sync().described
    1
    >>> bool(edge.query("ASK { <urn:d1> <urn:theme> <urn:water> }"))
    True
    """

    def __init__(
        self,
        url: str | Path | Store = ":memory:",
        *,
        hub: str | Hub | Uplink | None = None,
        account: str | None = None,
        token: str | None = None,
        key: str | Path | None = None,
        hub_key: str | None = None,
        **options: Any,
    ) -> None:
        """The private `key` of an account, or its `token`, prove to a hub elsewhere who asks; `account` is its id.

        `hub_key` is the public key that the hub must have; without, it is the one that it had the first time.
        `options` are those of `Hub`.
        """
        super().__init__(url, **options)
        self._seen_state: EdgeState | None = None
        try:
            state = self._begun(hub)
        except BaseException:
            super().close()
            raise
        try:
            self._uplink, self._hub = uplink_to(
                hub or state.hub, self.store, account=account, token=token, key=key, hub_key=hub_key
            )
        except BaseException:
            super().close()
            raise
        self._let_go = getattr(self._uplink, "close", None) if isinstance(hub or state.hub, str) else None
        self._syncing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopping, self._nudged = threading.Event(), threading.Event()
        self._problem: tuple[str, datetime | None] = "", None
        self._heard = "", 0.0

    def _begun(self, hub: str | Hub | Uplink | None) -> EdgeState:
        """The state of before, or a new one; NetworkError where there cannot be an edge."""
        with self._writing() as writer:
            state = EdgeState.read(writer)
            if state is None and writer.documents.count():
                raise NetworkError("this store has documents of its own; begin an edge with an empty one")
            state = state or new_state()
            if hub is None and not state.hub:
                raise NetworkError("an edge must be told once which hub it follows: Edge(url, hub=...)")
            if isinstance(hub, str):
                state = replace(state, hub=hub)
            state.write(writer)
            return state

    def _state(self, reader: Reader) -> EdgeState:
        state = EdgeState.read(reader, self._seen_state)
        assert state is not None, "it is written when the edge is opened"
        if not isinstance(reader, Writer):  # what a transaction has written may be rolled back
            self._seen_state = state
        return state

    # -- what is followed

    def follow(  # type: ignore[override]  # an edge follows rules; Hub.follow(edge, id) follows events
        self, text: str, *, language: str = "rules", id: str | None = None
    ) -> FollowedRule:
        """Keep what a rule registers: the resources that its answers bind, with their contents.

        It is here after the next `sync`. The hub need not be reachable now; what is wrong with the text is told now.
        """
        rule = FollowedRule(id or f"r-{uuid4().hex[:12]}", text, language)
        self._follow_all([rule])
        return rule

    def follow_many(self, rules: Iterable[tuple[str, str]], *, language: str = "rules") -> int:
        """Follow many rules, each an id and a text, in one transaction; gives how many."""
        return self._follow_all([FollowedRule(id, text, language) for id, text in rules])

    def _follow_all(self, wanted: Sequence[FollowedRule]) -> int:
        with self._writing() as writer:
            state = self._state(writer)
            rules = dict[str, FollowedRule](state.rules)
            for rule in wanted:
                _add(rules, rule)
            state.with_rules(rules).write(writer)
        return len(wanted)

    def unfollow(self, id: str) -> None:
        """Let go of a rule, and of what no other rule keeps; the hub hears of it with the next `sync`."""
        with self._writing() as writer:
            state = self._state(writer)
            if id not in state.rules:
                raise UnknownSubscription(id)
            _refuse_built_on(id, state)
            self._commit(writer, Cache(writer, self._book.schema.strong).release(id))
            state.without(id).write(writer)

    def follows(self) -> list[FollowedRule]:
        """The rules that are followed, by id, with how many resources each registers."""
        with self._reading() as reader:
            return _rules(reader, self._state(reader))

    # -- keeping up

    def sync(self, *, verify: bool = False, wait: float = 0.0) -> Synced:
        """Bring the cache up to the hub as it is when this is called, or later.

        With `verify`, digests of what is held for each rule are compared as well, and what differs is repaired. With
        `wait`, so many seconds may pass until there is something new.
        """
        with self._turn():
            try:
                done = self._sync(verify, wait)
            except TriplewireError as error:
                self._note_problem(error)
                raise
            except _UNREADABLE as error:
                problem = NetworkError(
                    f"the hub's answer is none that an edge can use ({type(error).__name__}: {error})"
                )
                self._note_problem(problem)
                raise problem from error
            self._problem = "", None
            return done

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One conversation at a time; one that only waits for news is hurried."""
        while not self._syncing.acquire(timeout=_AGAIN):
            if isinstance(self._uplink, LinkedUplink):
                self._uplink.hurry()
        try:
            yield
        finally:
            self._syncing.release()

    def _note_problem(self, error: Exception) -> None:
        """Remember what the link suffers from, and since when."""
        since = self._problem[1] or datetime.now().astimezone()
        self._problem = str(error) or type(error).__name__, since

    def _sync(self, verify: bool, wait: float) -> Synced:
        talk = self.conversation(verify=verify, wait=wait)
        try:
            question = next(talk)
            while True:
                if self._nudged.is_set():
                    question = replace(question, wait=0.0)
                answer = self._uplink.serve_edge(question)
                refuse_nonsense(answer)
                question = talk.send(answer)
                time.sleep(_AGAIN if answer.waiting else 0)
        except StopIteration as end:
            done: Synced = end.value
            return done

    def conversation(self, *, verify: bool = False, wait: float = 0.0) -> Conversation:
        """A `sync` without its uplink: it gives one question after the other, is sent the answers, and ends.

        It may be left at any time, and another one begun: what was taken over is written.
        """
        rounds, unheard = 0, 0
        while rounds < _ROUNDS:
            asked, question = self._question(verify, wait)
            answer = yield question
            if answer.resync or answer.drifted:
                rounds += 1
                done = yield from self._resync(answer)
                if done is not None:
                    return done
            elif answer.rules is not None:
                rounds += 1
                self._note_rules(answer)
            else:
                done = self._take([answer], asked)
                is_more = self._accept(answer.offered)
                before, unheard = unheard, self._unheard(answer)
                if not is_more and not answer.waiting and not unheard:
                    return done
                rounds += unheard >= before > 0
        raise NetworkError("the hub was another one with each question; the cache is as of the last answer")

    def _accept(self, offered: Sequence[EdgeRule]) -> bool:
        """Follow the rules that a person made for this edge at the hub; whether there were new ones."""
        with self._reading() as reader:
            known = self._state(reader).rules
        return bool([rule for rule in offered if rule.id not in known and self._has_followed(rule)])

    def _has_followed(self, rule: EdgeRule) -> bool:
        """False for a rule that cannot be followed here: it is the hub's to know better."""
        try:
            self.follow(rule.text, language=rule.language, id=rule.id)
        except TriplewireError:
            return False
        return True

    def _unheard(self, answer: EdgeAnswer) -> int:
        """How many rules the hub has not been asked for, because they are many."""
        with self._reading() as reader:
            rules = self._state(reader).rules.values()
        return sum(rule.state == "new" and rule.id not in answer.refused for rule in rules)

    def _question(self, verify: bool, wait: float) -> tuple[EdgeState, EdgeQuestion]:
        """What is to be asked, and by which state."""
        with self._reading() as reader:
            state = self._state(reader)
            question = state.question(wait=0.0 if verify else wait)
            return state, replace(question, digests=self._digests(reader, [*state.rules.kept])) if verify else question

    def _digests(self, reader: Reader, rules: Sequence[str]) -> dict[str, str]:
        """Of what is held here because of each rule."""
        here = Contents(reader.seen_by(EVERYBODY), self._book.schema.strong)
        found = {}
        for rule in rules:
            nodes = sorted(reader.registrations.of_rule(rule))
            numbers = dict(zip(nodes, reader.terms.find(nodes), strict=True))
            held = here.descriptions(sorted(here.closure(number for number in numbers.values() if number)))
            found[rule] = digest_of_holding([*held, *here.xml_alone(node for node in nodes if not numbers[node])])
        return found

    def _note_rules(self, answer: EdgeAnswer) -> None:
        with self._writing() as writer:
            self._state(writer).compared(answer.rules or {}, answer.refused).write(writer)

    def _resync(self, reason: EdgeAnswer) -> Generator[EdgeQuestion, EdgeAnswer, Synced | None]:
        """Compare everything with the hub, and take what differs; None if the hub has changed meanwhile."""
        everything = reason
        if reason.manifest is None:
            with self._reading() as reader:
                question = self._state(reader).question()
            everything = yield replace(question, resync=True)
        if everything.manifest is None or everything.rules is None:
            raise NetworkError("the hub was asked for everything, and did not tell it")
        with self._reading() as reader:
            missing = self._differing(reader, everything.manifest)
            before = self._state(reader)
            state = before.compared(everything.rules, everything.refused)
            state = replace(state.loaded(everything.whole, (), {}), position=everything.position)
            rest = replace(state.question(), follow=[], unfollow=[])
        if everything.schema is not None:
            rest = replace(rest, schema=_schema_digest(everything))
        if everything.taxonomy is not None:
            rest = replace(rest, taxonomy=digest_of_triples(everything.taxonomy))
        known = {id: tag for id, tag in everything.rules.items() if id not in everything.whole}
        answers = [everything]
        for first in range(0, max(len(missing), 1), _NODES):
            asked = replace(
                rest, load=sorted(known), nodes=missing[first : first + _NODES], position=answers[-1].position
            )
            answers.append((yield asked))
            if answers[-1].rules is not None or answers[-1].resync:
                return None
        done = self._take(answers, before, whole=True)
        reasons = reason.resync or "what is held was not what the hub said"
        return replace(done, resync=reasons, drifted=tuple(reason.drifted), repaired=len(missing))

    def _differing(self, reader: Reader, manifest: dict[str, str]) -> list[str]:
        """The nodes of which the hub says something else than is here."""
        here = Contents(reader.seen_by(EVERYBODY), self._book.schema.strong)
        numbers = here.numbers(manifest)
        held = here.descriptions(sorted(numbers.values())) + here.xml_alone(manifest.keys() - numbers.keys())
        digests = {each.node: each.digest() for each in held}
        return sorted(node for node, digest in manifest.items() if digests.get(node) != digest)

    def _take(self, answers: Sequence[EdgeAnswer], asked: EdgeState, *, whole: bool = False) -> Synced:
        """Take over what was told, in one transaction: documents, registrations, schema, position.

        Rules may have come and gone since it was asked, by that state.
        """
        last, told = answers[-1], []
        with self._writing() as writer:
            state = self._state(writer)
            whole = whole or state.has_let_go_since(asked)
            for answer in answers:
                state = state.loaded(answer.whole, answer.waiting, answer.refused)
                state = self._with_meaning(writer, state, answer)
                told.append((answer, state.rules.kept))
            state = replace(state, position=last.position, number=last.number, time=last.time, heard=now())
            is_other = any(answer.schema is not None for answer in answers)  # what was held may not be any more
            changes = Cache(writer, self._book.schema.strong).follow(told, whole=whole or is_other)
            is_given = any(answer.taxonomy is not None for answer in answers)
            self._commit(writer, changes, number=last.number, is_given=is_given)
            state.write(writer)
        return Synced(
            self._aged(state),
            len(changes.described),
            tuple(sorted(changes.moved_out)),
            tuple(sorted(changes.deleted)),
            refused=dict(last.refused),
        )

    def _with_meaning(self, writer: Writer, state: EdgeState, answer: EdgeAnswer) -> EdgeState:
        """Take over the hub's schema and taxonomy, where they are others."""
        if answer.schema is not None:
            schema = Schema(parse_triple(*spelled) for spelled in answer.schema)
            policies.save(writer, schema, cast("policies.Policy", answer.policy))
            self._book.catch_up(writer)
            state = replace(state, schema=_schema_digest(answer))
        if answer.taxonomy is not None:
            taxonomies.save(writer, answer.taxonomy, taxonomies.names(writer))
            state = replace(state, taxonomy=digest_of_triples(answer.taxonomy))
        return state

    def _commit(self, writer: Writer, changes: CacheChanges, *, number: int = 0, is_given: bool = False) -> None:
        """Write the documents that changed as one batch, with the events that follow here."""
        revisions = revise(writer, changes.documents)
        meaning = self._meaning(writer, revisions, is_given=is_given)
        if revisions or meaning is not None:
            name = new_name(f"edge-{number}")
            strong = self._book.strong(writer)
            apply(writer, self._standing, revisions, name, strong=strong, meaning=meaning, finder=self._finder)

    def run(self, *, patience: float | None = None) -> None:
        """Follow the hub until `stop`: ask, and wait up to `patience` seconds for something new; then ask again.

        A hub that cannot be reached is asked again after half a second, then after twice as long, up to half a minute;
        more or less, so that not all of its edges ask at once when it is back.
        """
        if patience is None:
            patience = _PATIENCE if isinstance(self._uplink, LinkedUplink) else _POLLING
        pause, wait = BackOff(*_BACK_OFF), 0.0
        while not self._stopping.is_set():
            try:
                self.sync(wait=0.0 if self._nudged.is_set() else wait)
            except Exception as error:  # of any kind: an edge that ended in silence would look like one that follows
                if not isinstance(error, TriplewireError):
                    log.exception("this edge could not follow its hub, and tries again")
                    self._note_problem(error)
                pause, wait = pause.failed(), 0.0
                self._nudged.wait(pause.pause(random.random()))
            else:
                pause, wait = pause.succeeded(), patience
            self._nudged.clear()
        self._stopping.clear()

    def start(self) -> None:
        """Let a thread `run` until this is closed."""
        self._thread = threading.Thread(target=self.run, name="triplewire edge", daemon=True)
        self._thread.start()

    def nudge(self) -> None:
        """Let `run` ask soon, because there is another rule; from any thread."""
        self._nudged.set()
        if isinstance(self._uplink, LinkedUplink):
            self._uplink.hurry()

    def stop(self) -> None:
        """Let `run` end; from any thread."""
        self._stopping.set()
        self._nudged.set()
        if isinstance(self._uplink, LinkedUplink):
            self._uplink.release()

    def close(self) -> None:
        """Let go of the store, and of the connection to the hub, if this edge made it."""
        while self._thread is not None and self._thread.is_alive():
            self.stop()  # again, if it was about to ask
            self._thread.join(_AGAIN)
        if self._let_go is not None:
            self._let_go()
        super().close()

    # -- what it says of itself

    @property
    def as_of(self) -> AsOf:
        """The hub's batch that the cache is of, and how long ago the hub said that it is the newest."""
        with self._reading() as reader:
            state = self._state(reader)
        return self._confirmed(state, self._link_status(state))

    def _link_status(self, state: EdgeState) -> UplinkStatus | None:
        return self._uplink.status(state.number) if isinstance(self._uplink, LinkedUplink) else None

    def _confirmed(self, state: EdgeState, link: UplinkStatus | None) -> AsOf:
        """How old what is here is, by what the hub said with an answer, or later by its channel."""
        known = self._aged(state)
        if link is None or link.confirmed is None or known.age is None:
            return known
        age = datetime.now(UTC) - link.confirmed
        return replace(known, confirmed=link.confirmed, age=age) if age < known.age else known

    def _aged(self, state: EdgeState) -> AsOf:
        """How old what is here is. The clock may be set back, so the age is no less than the time since this was known.

        Invariant: an age is never less than nothing, and does not stand still while nothing is heard.
        """
        if self._heard[0] != state.heard:
            self._heard = state.heard, time.monotonic()
        return state.as_of(timedelta(seconds=time.monotonic() - self._heard[1]))

    def status(self, *, viewer: str | None = None) -> EdgeStatus:
        """What is followed and kept, how old it is, and what the link does; of what is private, what a viewer sees."""
        with self._reading() as reader:
            state = self._state(reader)
            cached = reader.seen_by(EVERYBODY).documents.count()
            private = reader.seen_by(viewer).documents.count() - cached
            unheard = [rule.id for rule in state.rules.values() if rule.state in ("new", "loading")]
            pending = (*unheard, *state.dropped)
            link = self._link_status(state)
            as_of = self._confirmed(state, link)
            known = state.name, self._hub, as_of, tuple(_rules(reader, state)), cached, private
            return EdgeStatus(*known, *self._problem, pending, link)

    def cause(self, iri: str | Term, *, viewer: str | None = None) -> Cause:
        """Why something is said of a resource here, or why not; of private documents those that the viewer may read."""
        node = str(resource_of(iri))
        with self._reading() as reader:
            cached = reader.seen_by(EVERYBODY)
            (number,) = reader.terms.find([node])
            rules = reader.registrations.rules_of([node]).get(node, [])
            if not number:
                return Cause(node, tuple(rules), (), (), is_cached=False)
            parents = _parents(cached, node, number, self._book.strong(reader))
            stated = bool(cached.triples.statements([number]))
            return Cause(
                node, tuple(rules), parents, _private(reader.seen_by(viewer), cached, number), is_cached=stated
            )


def _rules(reader: Reader, state: EdgeState) -> list[FollowedRule]:
    counts = reader.registrations.counts()
    rules = sorted(state.rules.values(), key=lambda rule: rule.id)
    return [replace(rule, resources=counts.get(rule.id, 0)) for rule in rules]


def _schema_digest(answer: EdgeAnswer) -> str:
    return digest_of_triples(answer.schema or (), answer.policy)


def _add(rules: dict[str, FollowedRule], rule: FollowedRule) -> None:
    """Have a rule more; DuplicateSubscription if its id is taken, and what the language says if it cannot be read."""
    if rule.id in rules:
        raise DuplicateSubscription(rule.id)
    _pattern(rule, rules)
    rules[rule.id] = rule


def _refuse_built_on(id: str, state: EdgeState) -> None:
    """SubscriptionError if another rule names this one: the hub may have to read that text again."""
    above = [rule.id for rule in state.rules.values() if rule.id != id and id in _named(rule, state.rules)]
    if above:
        raise SubscriptionError(f"{', '.join(above)} is built on it; unfollow that first", subscription=id)


def _pattern(rule: FollowedRule, rules: Mapping[str, FollowedRule]) -> Pattern:
    if rule.language != RULES:
        return read(rule.text, language=rule.language)
    named = {id: _pattern(rules[id], rules) for id in _named(rule, rules)}
    return read(rule.text, language=rule.language, named=named)


def _named(rule: FollowedRule, rules: Mapping[str, FollowedRule]) -> set[str]:
    """The rules that are named in the text of another, as far as its words tell."""
    words = set(re.findall(r"[\w.-]+", rule.text)) if rule.language == RULES else set()
    return {id for id in words & rules.keys() if id != rule.id and rules[id].language == RULES}


def _parents(cached: Reader, node: str, number: int, strong: Sequence[int]) -> tuple[str, ...]:
    """What holds a node, of what is cached."""
    keys = [(0, number)] if node.startswith("_:") else [(predicate, number) for predicate in strong]
    found = {s for triples in (cached.triples.backward(keys) if keys else ()) for s, _, _ in triples}
    return tuple(sorted(cached.terms.texts(sorted(found))))


def _private(reader: Reader, cached: Reader, number: int) -> tuple[str, ...]:
    """The private documents that say something of a node, or refer to it."""
    triples = [*reader.triples.forward([(number, 0)])[0], *reader.triples.backward([(0, number)])[0]]
    stating = {document for ids in reader.triples.stated_by(triples) for document in ids}
    seen = {record.id for record in cached.documents.current_of(sorted(stating)) if record is not None}
    return tuple(sorted(record.uri for record in reader.documents.by_ids(sorted(stating - seen))))
