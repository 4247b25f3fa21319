"""A hub of a backbone."""

from __future__ import annotations

import logging
import random
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable
from uuid import uuid4

from triplewire.backbone.answers import answer, digests, own_documents
from triplewire.backbone.calls import MemberCalls
from triplewire.backbone.members import MemberState, new_state
from triplewire.backbone.passing import ClientOfMember, RemoteMember
from triplewire.backbone.replicas import note, replicate
from triplewire.backbone.status import BackboneStatus, MemberStatus, Replicated
from triplewire.engine import Hub, taxonomies
from triplewire.engine.batch import policies
from triplewire.engine.batch.application import apply
from triplewire.engine.batch.feeds import spread
from triplewire.engine.batch.permissions import AccessLists
from triplewire.engine.batch.revisions import Revision, revise
from triplewire.errors import (
    DocumentError,
    HomeAway,
    NetworkError,
    NotAllowed,
    NotAuthenticated,
    ServiceUnavailable,
    SeveralHomes,
    StoreUnavailable,
    TooManyRequests,
    TriplewireError,
)
from triplewire.intake.entries import Handled, change_of, entry_of
from triplewire.model import Change, parse_triple
from triplewire.network.channels.status import UplinkStatus
from triplewire.schema import Schema
from triplewire.store import HomeRecord, NewEntry, NewRejection, Reader, Store, Writer
from triplewire.tables import Outcome
from triplewire.wire.backbones import HomeBatch, MemberAnswer, MemberQuestion, digests_of_ranges, range_of
from triplewire.wire.backoff import BackOff

log = logging.getLogger("triplewire.backbone")

WhenAway = Literal["refuse", "queue"]
_AWAY = (NetworkError, ServiceUnavailable, StoreUnavailable, NotAuthenticated, NotAllowed, TooManyRequests)
"""What is raised when another hub cannot be reached, or does not let this one in."""
_UNUSABLE = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    SyntaxError,
    RecursionError,
    struct.error,
    DocumentError,
)
"""What an answer leads to that is not one of a hub."""
_BETWEEN_LOOKS = 0.1
_PATIENCE = 20.0
_POLLING = 2.0
"""Seconds that a question may wait where nothing but its answer tells that the other hub is still there."""
_AGAIN = 0.1
_BACK_OFF = 0.5, 30.0


class BackboneMember(Protocol):
    """Another hub of the backbone: in this process, or a client of one elsewhere."""

    def serve_member(self, question: MemberQuestion) -> MemberAnswer:
        """What the one that asks lacks."""

    def apply(self, changes: Iterable[Change], *, batch: str | None = None) -> Outcome:
        """Apply changes of documents whose home it is."""


@runtime_checkable
class MemberOnChannel(Protocol):
    """Another hub of the backbone, asked over a channel."""

    def status(self, number: int) -> UplinkStatus:
        """What the channel does, for a hub that has a batch of it."""

    def release(self) -> None:
        """Let a question that waits end; from any thread."""

    def close(self) -> None:
        """End the channel."""


class BackboneHub(Hub):
    """A hub that holds the same documents, schema and taxonomy as the `others` (M10): hubs, addresses, or clients.

    An address is dialled (with `token`, that of an admin there); after a # may stand the public key that the hub must
    have. A `Client` asks over HTTP.

    A document's home is the hub that it was registered at. A change that comes here for a document of another home is
    passed on to that; if the home is away, it is refused with the reason, or waits (`when_away`). `sync` brings this
    hub up to date, `run` keeps it so; what is applied elsewhere is applied here once, in the home's order.

    >>> harbour = BackboneHub(":memory:", name="harbour")
    >>> town = BackboneHub(":memory:", name="town", others=[harbour])
    >>> _ = harbour.publish("<urn:d1> <urn:theme> <urn:water> .", uri="urn:doc")
    >>> town.sync().documents
    1
    >>> town.query("ASK { <urn:d1> <urn:theme> <urn:water> }")
    True
    """

    def __init__(
        self,
        url: str | Path | Store = ":memory:",
        *,
        name: str = "",
        others: Iterable[str | BackboneMember | ClientOfMember] = (),
        token: str | None = None,
        when_away: WhenAway = "refuse",
        **options: Any,
    ) -> None:
        super().__init__(url, **options)
        self.calls = MemberCalls()
        """The channels that other hubs have dialled."""
        self._token = token
        self._others: list[BackboneMember] = []
        self._names: dict[str, BackboneMember] = {}
        self._when_away = when_away
        self._away: dict[str, str] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._syncing = threading.Lock()
        with self._writing() as writer:
            if MemberState.read(writer) is None:
                self._begin(writer, new_state(name))
        try:
            self.connect(others)
        except BaseException:
            super().close()
            raise

    def _begin(self, writer: Writer, state: MemberState) -> None:
        """What is here already is this hub's, and the others can be told of it."""
        state.write(writer)
        everything = own_documents(writer, state.name, state.name)
        if everything:
            writer.homes.note(state.name, writer.batches.last(), [(r.id, r.version, 0) for r, _ in everything])

    def connect(self, others: Iterable[str | BackboneMember | ClientOfMember]) -> None:
        """Know other hubs of the backbone as well."""
        self._others += map(self._other, others)

    def _other(self, given: str | BackboneMember | ClientOfMember) -> BackboneMember:
        if isinstance(given, str):
            from triplewire.backbone.links import linked_member  # here: others of this process need no WebSockets

            return linked_member(given, self, self.calls, self._token)
        return RemoteMember(given) if isinstance(given, ClientOfMember) else given

    @property
    def name(self) -> str:
        """What the others call this hub."""
        with self._reading() as reader:
            return _state(reader).name

    # -- changes

    def apply(self, changes: Iterable[Change], *, batch: str | None = None, handled: Handled | None = None) -> Outcome:
        """Apply a batch of changes, here or at their home: all of them or none. SeveralHomes if these are several."""
        wanted = list(changes)
        with self._reading() as reader:
            name = _state(reader).name
            homes = _homes(reader, name, [change.uri for change in wanted])
        elsewhere = {home for home in homes.values() if home != name}
        if not elsewhere:
            return super().apply(wanted, batch=batch, handled=handled)
        if len(elsewhere) > 1 or name in homes.values():
            raise SeveralHomes(sorted({*homes.values()}))
        outcome = self._pass_on(elsewhere.pop(), self._permitted(wanted), batch)
        if handled is not None:
            super().apply([], handled=handled)
        return outcome

    def _permitted(self, changes: Sequence[Change]) -> list[Change]:
        """The changes as this hub answers for them; AccessDenied if the account that wants them may not have them."""
        with self._writing() as writer:
            parts, refused = spread(writer, changes)
            uris = list(dict.fromkeys(part.uri for part in parts))
            AccessLists(writer, parts, dict(zip(uris, writer.documents.current(uris), strict=True)))
        if refused:
            raise refused[0][1]
        return [replace(part, by=None) for part in parts]

    def _pass_on(self, home: str, changes: Sequence[Change], batch: str | None) -> Outcome:
        """Have the home apply changes, and take over what that leads to."""
        try:
            if self._waits_for(home):
                raise NetworkError("other changes wait for it")
            member = self._member(home)
            named = (
                batch or f"passed-{self.name}-{uuid4().hex}"
            )  # so that it is applied once, if it has to be said twice
            told = member.apply(changes, batch=named)
        except _AWAY as error:
            return self._put_off(home, changes, batch, error)
        outcomes = [each.outcome for each in self._ask(member)]
        events = sum(map(len, outcomes))
        return Outcome(told.batch, events, lambda: [event for each in outcomes for event in each], told.warnings)

    def take_passed(self, changes: Sequence[Change], *, batch: str | None = None) -> Outcome:
        """Apply changes that another hub has passed on to this one, as their home; NetworkError if it is not that."""
        with self._reading() as reader:
            name = _state(reader).name
            homes = _homes(reader, name, [change.uri for change in changes])
        strange = sorted({home for home in homes.values() if home != name})
        if strange:
            raise NetworkError(f"{name} is not the home of these documents any more; it is {', '.join(strange)}")
        return super().apply(changes, batch=batch)

    def _put_off(self, home: str, changes: Sequence[Change], batch: str | None, error: Exception) -> Outcome:
        reason = HomeAway(home, str(error), uri=changes[0].uri)
        if self._when_away == "refuse":
            raise reason from error
        with self._writing() as writer:
            writer.homes.wait(home, [entry_of(change) for change in changes])
        return Outcome(batch or "", 0, list, [reason])

    def _waits_for(self, home: str) -> bool:
        return any(waiting.home == home for waiting in self.waiting_changes())

    def _note_revisions(self, writer: Writer, batch: int, revisions: Sequence[Revision]) -> None:
        if not revisions:
            return
        name = _state(writer).name
        records = {record.id: record for record in writer.documents.by_ids([each.id for each in revisions])}
        known = writer.homes.of(records)
        changed = [
            (
                each.id,
                records[each.id].version if each.is_published else 0,
                known.get(each.id, HomeRecord(name)).generation,
            )
            for each in revisions
        ]
        writer.homes.note(name, batch, changed)

    def adopt(self, home: str) -> int:
        """Become the home of the documents of a hub that will not come back; gives how many these are.

        What that hub did and told nobody is lost. If it comes back all the same, they are not its own any more.
        """
        with self._writing() as writer:
            name = _state(writer).name
            if home == name:
                raise NetworkError(f"{home} is this hub")
            documents = writer.homes.documents_of(home)
            writer.homes.set([(id, HomeRecord(name, generation + 1)) for id, generation in documents.items()])
            number = self._empty_batch(writer)
            records = writer.documents.by_ids(list(documents))
            writer.homes.note(name, number, [(r.id, r.version, documents[r.id] + 1) for r in records])
            return len(documents)

    def _empty_batch(self, writer: Writer) -> int:
        strong = self._book.strong(writer)
        return apply(writer, self._standing, [], f"backbone-adopt-{writer.batches.next()}", strong=strong).number

    # -- keeping up

    def serve_member(self, question: MemberQuestion) -> MemberAnswer:
        """What another hub of the backbone lacks; after `question.wait` seconds, if it lacks nothing."""
        until = time.monotonic() + question.wait
        while True:
            state = self._stamped()
            with self._reading() as reader:
                found = answer(reader, state, question)
            if found.is_news or time.monotonic() >= until:
                return found
            time.sleep(min(_BETWEEN_LOOKS, question.wait))

    def _stamped(self) -> MemberState:
        with self._reading() as reader:
            before = _state(reader)
            if before.stamped(reader) == before:
                return before
        with self._writing() as writer:
            state = _state(writer).stamped(writer)
            state.write(writer)
            return state

    def sync(self, *, verify: bool = False) -> Replicated:
        """Bring this hub up to the others as they are when this is called, or later; what waits for a home goes there.

        With `verify`, digests of all documents are compared with those of their homes, and what differs is repaired.
        """
        found: list[RelayedBatch] = []
        repaired: list[str] = []
        for member in self._others:
            with self._reaching(member):
                found += self._ask(member)
                repaired += self._repair(member) if verify else ()
        documents = sum(each.documents for each in found)
        return Replicated(len(found), documents, self._pass_waiting(), tuple(repaired), dict(self._away))

    @contextmanager
    def _reaching(self, member: BackboneMember) -> Iterator[None]:
        """Note whether another hub can be reached, and go on if it cannot."""
        called = self._title_of(member)
        try:
            yield
        except _AWAY as error:
            self._away[called] = str(error)
        else:
            self._away.pop(called, None)

    def _ask(self, member: BackboneMember, *, wait: float = 0.0) -> list[RelayedBatch]:
        """Take over all that another hub has to tell; gives what the batches led to."""
        found: list[RelayedBatch] = []
        while True:
            told = member.serve_member(self.member_question(wait=wait))
            self._names[told.member] = member
            found += self._used(told)
            if not told.is_more:
                return found
            wait = 0.0

    def _used(self, told: MemberAnswer) -> list[RelayedBatch]:
        """Take over an answer of another hub; NetworkError for one that says what no hub says."""
        try:
            return self.take(told)
        except _UNUSABLE as error:
            raise NetworkError(f"what it tells cannot be used ({type(error).__name__}: {error})") from error

    def member_question(self, *, wait: float = 0.0) -> MemberQuestion:
        """What this hub has to ask another one now."""
        return self._stamped().question(wait=wait)

    def take(self, told: MemberAnswer) -> list[RelayedBatch]:
        """Take over an answer; each batch is one transaction, with the position that it leads to."""
        with self._syncing:
            return self._take(told)

    def _take(self, told: MemberAnswer) -> list[RelayedBatch]:
        self._take_meaning(told)
        found = [relayed for batch in told.batches if (relayed := self._relay(batch)) is not None]
        with self._writing() as writer:
            state = _state(writer)
            if (further := state.reached(told.positions)) != state:
                further.write(writer)
        return found

    def _relay(self, batch: HomeBatch, *, again: bool = False) -> RelayedBatch | None:
        """Apply a batch of another home, unless that was done; `again` says that it is not the next one of its home."""
        with self._writing() as writer:
            state = _state(writer)
            if not again and batch.number <= state.positions.get(batch.home, 0):
                return None
            replication = replicate(writer, state.name, batch)
            revisions = revise(writer, replication.changes)
            meaning = self._meaning(writer, revisions)
            outcome = Outcome("", 0, list)
            if revisions or meaning is not None:
                name = f"backbone-{batch.home}-{batch.number}" + (f"-again-{writer.batches.next()}" if again else "")
                strong = self._book.strong(writer)
                done = apply(
                    writer, self._standing, revisions, name, strong=strong, meaning=meaning, finder=self._finder
                )
                outcome = self._outcome(writer, name, done)
            note(writer, batch, replication)
            state = state.decided(tuple(replication.conflicts))
            (state if again else state.reached({batch.home: batch.number})).write(writer)
            return RelayedBatch(outcome, len(revisions))

    def _take_meaning(self, told: MemberAnswer) -> None:
        """Take over the schema and the taxonomy, if they are later ones."""
        if told.schema is None and told.taxonomy is None:
            return
        with self._writing() as writer:
            state = _state(writer).stamped(writer)
            if told.schema is not None and told.schema.when > state.stamp("schema"):
                schema = Schema.from_triples(parse_triple(*spelled) for spelled in told.schema.triples)
                policies.save(writer, schema, "warn" if told.schema.policy == "warn" else "refuse")
                self._book.catch_up(writer)
                state = state.took("schema", told.schema.when, writer)
            if told.taxonomy is not None and told.taxonomy.when > state.stamp("taxonomy"):
                taxonomies.save(writer, told.taxonomy.triples, told.taxonomy.names)
                meaning = self._meaning(writer, [], is_given=True)
                name = f"backbone-taxonomy-{writer.batches.next()}"
                apply(writer, self._standing, [], name, strong=self._book.strong(writer), meaning=meaning)
                state = state.took("taxonomy", told.taxonomy.when, writer)
            state.write(writer)

    # -- what waits, and what differs

    def _pass_waiting(self) -> int:
        """Pass on what waits for homes that are there again, one after the other; gives how many it were."""
        waiting, name = self.waiting_changes(), self.name
        passed, away = 0, set[str]()
        for each in waiting:
            if each.home in away:
                continue
            try:
                if each.home == name:
                    self.take_passed([each.change], batch=each.batch)
                else:
                    self._member(each.home).apply([each.change], batch=each.batch)
            except _AWAY:
                away.add(each.home)
                continue
            except TriplewireError as error:
                self.settle(each, str(error))
            else:
                self.settle(each)
                passed += 1
        for home in {each.home for each in waiting} - away - {name}:
            with self._reaching(self._names[home]):
                self._ask(self._names[home])
        return passed

    def waiting_changes(self) -> list[WaitingChange]:
        """What waits for homes, in its order. Which home that is may have been decided otherwise meanwhile."""
        with self._reading() as reader:
            name, waiting = _state(reader).name, reader.homes.waiting()
            homes = _homes(reader, name, [entry.uri for _, _, entry in waiting])
        return [
            WaitingChange(number, homes[entry.uri], entry, f"passed-{name}-{number}") for number, _, entry in waiting
        ]

    def settle(self, change: WaitingChange, refusal: str = "") -> None:
        """A change waits no longer: its home has applied it, or refuses it; then it is set aside with the reason."""
        with self._writing() as writer:
            writer.homes.passed([change.number])
            if refusal:
                writer.intake.reject([NewRejection(change.entry, f"{change.home} refused it: {refusal}")])

    def _member(self, home: str) -> BackboneMember:
        """The hub of this name; asks all that are known, if none of them has said yet that it is."""
        for member in self._others if home not in self._names else ():
            with self._reaching(member):
                self._ask(member)
        if home not in self._names:
            raise NetworkError("none of the hubs that this one knows is called so, or it is away")
        return self._names[home]

    def _repair(self, member: BackboneMember) -> list[str]:
        """Compare the documents of another home with what is here, range by range; gives those that differed."""
        with self._reading() as reader:
            state = _state(reader)
            home = next(name for name, each in self._names.items() if each is member)
            here = dict(digests(reader, own_documents(reader, state.name, home)))
        told = member.serve_member(
            MemberQuestion(state.name, ranges=digests_of_ranges(sorted(here.items())) or {"": ""})
        )
        theirs = {uri: digest for own in told.differing.values() for uri, digest in own.items()}
        compared = {uri: digest for uri, digest in here.items() if range_of(uri) in told.differing}
        differing = sorted(uri for uri in theirs.keys() | compared.keys() if theirs.get(uri) != compared.get(uri))
        if differing:
            documents = member.serve_member(MemberQuestion(state.name, documents=differing)).documents
            self._relay(HomeBatch(home, state.positions.get(home, 0), documents), again=True)
        return differing

    # -- going on

    def run(self, *, patience: float | None = None) -> None:
        """Follow all other hubs until `stop`: each is asked, and waits up to `patience` seconds for something new.

        One that cannot be reached is asked again after half a second, then after twice as long, up to half a minute.
        """
        threads = [threading.Thread(target=self._follow_member, args=(each, patience)) for each in self._others]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._stopping.clear()

    def _follow_member(self, member: BackboneMember, patience: float | None) -> None:
        if patience is None:
            patience = _PATIENCE if isinstance(member, MemberOnChannel) else _POLLING
        pause, wait = BackOff(*_BACK_OFF), 0.0
        while not self._stopping.is_set():
            if self._is_followed(member, wait):
                pause, wait = pause.succeeded(), patience
            else:
                pause, wait = pause.failed(), 0.0
                self._stopping.wait(pause.pause(random.random()))

    def _is_followed(self, member: BackboneMember, wait: float) -> bool:
        """Whether another hub could be asked, and what it told be used."""
        try:
            with self._reaching(member):
                self._ask(member, wait=wait)
                self._pass_waiting()
                return True
        except TriplewireError as error:  # of this hub's own store, say: it may be better the next time
            log.warning("%s cannot be followed: %s", self._title_of(member), error)
        except Exception as error:  # of any kind: a hub that ended in silence would look like one that follows
            log.exception("%s cannot be followed, and is asked again", self._title_of(member))
            self._away[self._title_of(member)] = str(error) or type(error).__name__
        return False

    def start(self) -> None:
        """Let a thread `run` until this is closed."""
        self._thread = threading.Thread(target=self.run, name="triplewire backbone", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let `run` end; from any thread."""
        self._stopping.set()
        for member in self._others:
            if isinstance(member, MemberOnChannel):
                member.release()

    def close(self) -> None:
        """Let go of the store, and of the channels that this hub dialled."""
        while self._thread is not None and self._thread.is_alive():
            self.stop()  # again, if it was about to ask
            self._thread.join(_AGAIN)
        for member in self._others:
            if isinstance(member, MemberOnChannel):
                member.close()
        super().close()

    # -- what it says of itself

    def home(self, uri: str) -> str:
        """The hub that a document belongs to; this one, if nothing is known of it."""
        with self._reading() as reader:
            return _homes(reader, _state(reader).name, [uri])[uri]

    def backbone(self) -> BackboneStatus:
        """How far this hub is with the others, and what was decided between them."""
        with self._reading() as reader:
            state = _state(reader)
            elsewhere = {home: count for home, count in reader.homes.counts().items() if home != state.name}
            homes = {state.name: reader.documents.count() - sum(elsewhere.values())} | elsewhere
            waiting = reader.homes.count_waiting()
        members = tuple(self._member_status(each, state) for each in self._others)
        return BackboneStatus(
            state.name, dict(state.positions), dict(self._away), waiting, state.conflicts, homes, members
        )

    def _member_status(self, member: BackboneMember, state: MemberState) -> MemberStatus:
        called = self._title_of(member)
        name = called if called in self._names else ""
        url = str(getattr(member, "url", ""))
        link = member.status(state.positions.get(name, 0)) if isinstance(member, MemberOnChannel) else None
        return MemberStatus(name, url, self._away.get(called, self._away.get(url, "")), link)

    def _title_of(self, member: BackboneMember) -> str:
        """The name of another hub; before it is known, its address."""
        return next((name for name, each in self._names.items() if each is member), str(getattr(member, "url", "?")))


class WaitingChange(NamedTuple):
    """A change that waits for its home, which applies it once: by its `batch`."""

    number: int
    home: str
    entry: NewEntry
    batch: str

    @property
    def change(self) -> Change:
        """What is to be done."""
        return change_of(self.entry)


class RelayedBatch(NamedTuple):
    """A batch of another home: what it led to here, and how many documents it changed."""

    outcome: Outcome
    documents: int


def _state(reader: Reader) -> MemberState:
    state = MemberState.read(reader)
    assert state is not None, "a hub of a backbone has it from its beginning"
    return state


def _homes(reader: Reader, name: str, uris: Sequence[str]) -> dict[str, str]:
    """The home of each document; this hub for what is not known."""
    records = {record.uri: record.id for record in reader.documents.current(uris) if record is not None}
    homes = reader.homes.of(records.values())
    return {uri: homes[records[uri]].home if uri in records and records[uri] in homes else name for uri in uris}
