"""Deliveries: where the events of a subscription are sent, how far each has come, and what could not be delivered.

A delivery has a cursor of its own: the last event that arrived. Several processes may deliver from one store; each is
a *deliverer* with a lease, and works on the deliveries that name it as their holder. Those of a deliverer whose lease
is over are for any other. Times are milliseconds since 1970, 0 for never.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from triplewire.store import schema
from triplewire.store.sql import StorePart, Value, Values, is_storable

_PROGRESS = ("cursor", "until", "delivered", "failed", "succeeded")
_CONDITION = ("state", "reason", "due", "failures", "failing_since", "error")
_REVISION = "deliveries"


@dataclass(frozen=True, slots=True)
class DeliveryRecord:
    """A delivery: `settings` are its kind's own, `secrets` are never shown.

    `revision` is the number of the last change that a person made to it. `cursor` is the last event that arrived;
    `until` the last one of a digest that is on its way. `due` is when to try again, after `failures` in a row.
    """

    id: str
    subscription: str
    kind: str
    settings: Mapping[str, Any]
    secrets: Sequence[Mapping[str, Any]]
    created: str
    revision: int = 0
    holder: str | None = None
    cursor: int = 0
    until: int = 0
    delivered: int = 0
    failed: int = 0
    succeeded: int = 0
    state: str = "active"
    reason: str = ""
    due: int = 0
    failures: int = 0
    failing_since: int = 0
    error: str = ""

    def __repr__(self) -> str:
        """Without secrets, which must not get into a log."""
        return f"<DeliveryRecord {self.id}: {self.kind} of {self.subscription}, {self.state}, cursor {self.cursor}>"


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that was given up, as it was; `replay` says that it shall be tried again."""

    number: int
    delivery: str
    message: str
    cursor: int
    media_type: str
    content: bytes
    reason: str
    attempts: int
    died: str
    replay: bool = False


class DeliveryReader(StorePart):
    """Deliveries by id, by subscription, by holder; and dead letters."""

    def revision(self) -> int:
        """The number of the last change that a person made to a delivery, its dead letters, or their number."""
        return self._sql.counter(_REVISION)

    def find(self, id: str) -> DeliveryRecord | None:
        """The delivery of an id."""
        return next(iter(self._select("WHERE id = ?", id)), None) if is_storable(id) else None

    def of_subscription(self, subscription: str) -> list[DeliveryRecord]:
        """All deliveries of a subscription, by id."""
        return self._select("WHERE subscription = ? ORDER BY id", subscription)

    def listing(self, after: str = "", limit: int = 100, *, owner: str | None = None) -> list[DeliveryRecord]:
        """Deliveries by id, from the one that follows `after`; of all subscriptions or of one owner's."""
        if owner is None:
            return self._select("WHERE id > ? ORDER BY id LIMIT ?", after, limit)
        whose = "subscription IN (SELECT id FROM subscriptions WHERE owner = ?)"
        return self._select(f"WHERE id > ? AND {whose} ORDER BY id LIMIT ?", after, owner, limit)

    def held_by(self, holder: str) -> list[DeliveryRecord]:
        """The deliveries that a deliverer works on."""
        return self._select("WHERE holder = ?", holder)

    def _select(self, rest: str, *values: Value) -> list[DeliveryRecord]:
        return [_record(row) for row in self._sql.select(schema.deliveries, rest, *values)]

    def dead(self, delivery: str, after: int = 0, limit: int = 100) -> list[DeadLetter]:
        """What a delivery could not deliver, in the order in which it was given up, with a greater number."""
        which = "WHERE delivery = ? AND number > ? ORDER BY number LIMIT ?"
        return [_letter(row) for row in self._sql.select(schema.dead_letters, which, delivery, after, limit)]

    def to_replay(self, delivery: str, limit: int) -> list[DeadLetter]:
        """The first of those that shall be tried again."""
        which = "WHERE delivery = ? AND replay = 1 ORDER BY number LIMIT ?"
        return [_letter(row) for row in self._sql.select(schema.dead_letters, which, delivery, limit)]

    def replaying(self) -> set[str]:
        """The deliveries that have dead letters to try again."""
        return {id for (id,) in self._sql.rows("SELECT DISTINCT delivery FROM dead_letters WHERE replay = 1")}

    def count_dead(self) -> dict[str, int]:
        """How many dead letters each delivery has that has any."""
        return dict(self._sql.rows("SELECT delivery, count(*) FROM dead_letters GROUP BY delivery"))


class DeliveryWriter(DeliveryReader):
    """Deliveries, and changes of them."""

    # -- what people want

    def add(self, record: DeliveryRecord) -> DeliveryRecord:
        """A new delivery."""
        made = replace(record, revision=self._next())
        self._sql.insert(schema.deliveries, [_values(made)])
        return made

    def put(self, record: DeliveryRecord) -> DeliveryRecord:
        """A delivery that is there, as it shall be; what it achieved meanwhile stays."""
        made = replace(record, revision=self._next())
        columns = ("settings", "secrets", "revision", *_CONDITION)
        values = json.dumps(made.settings), json.dumps(made.secrets), made.revision, *_parts(made, _CONDITION)
        self._sql.update(schema.deliveries, columns, [(*values, made.id)])
        return made

    def remove(self, id: str) -> None:
        """Away with a delivery and its dead letters."""
        self._next()
        self._sql.delete(schema.deliveries, ("id",), [(id,)])
        self._sql.delete(schema.dead_letters, ("delivery",), [(id,)])

    def remove_of(self, subscription: str) -> None:
        """Away with all deliveries of a subscription."""
        for record in self.of_subscription(subscription):
            self.remove(record.id)

    def stir(self, subscription: str) -> None:
        """What a subscription asks or tells has changed: its deliverer looks again."""
        text = "UPDATE deliveries SET revision = ? WHERE subscription = ?"
        self._sql.run(text, self._next(), subscription)

    def replay(self, delivery: str, numbers: Sequence[int] | None = None) -> int:
        """Let dead letters be tried again, these or all; how many."""
        return self._do_with_dead("UPDATE dead_letters SET replay = 1", delivery, numbers)

    def drop(self, delivery: str, numbers: Sequence[int] | None = None) -> int:
        """Away with dead letters, these or all; how many."""
        return self._do_with_dead("DELETE FROM dead_letters", delivery, numbers)

    def _do_with_dead(self, what: str, delivery: str, numbers: Sequence[int] | None) -> int:
        self._next()
        if numbers is None:
            return self._sql.run(f"{what} WHERE delivery = ?", delivery)
        text = f"{what} WHERE delivery = ? AND number = ?"
        return sum(self._sql.run(text, delivery, number) for number in dict.fromkeys(numbers))

    def _next(self) -> int:
        return self._sql.take(_REVISION, 1)[0]

    # -- what deliverers do

    def hold(self, deliverer: str, now: int, until: int, busy: Collection[str] = ()) -> None:
        """Renew a deliverer's lease, and let it have its share: take what nobody holds, or give away what is too much.

        What it is `busy` with stays with it, so that nothing is ever sent by two at a time.
        """
        self._sql.run("DELETE FROM deliverers WHERE until < ? AND name <> ?", now, deliverer)
        self._sql.replace(schema.deliverers, [(deliverer, until)])
        total = self._sql.number("SELECT count(*) FROM deliveries")
        own = [id for (id,) in self._sql.rows("SELECT id FROM deliveries WHERE holder = ? ORDER BY id", deliverer)]
        share = -(-total // self._sql.number("SELECT count(*) FROM deliverers"))
        if len(own) > share:
            self._give([id for id in own if id not in busy][: len(own) - share], None)
        elif len(own) < share:
            free = "holder IS NULL OR holder NOT IN (SELECT name FROM deliverers)"
            found = self._sql.rows(f"SELECT id FROM deliveries WHERE {free} ORDER BY id LIMIT ?", share - len(own))
            self._give([id for (id,) in found], deliverer)

    def _give(self, ids: Sequence[str], holder: str | None) -> None:
        for id in ids:
            self._sql.run("UPDATE deliveries SET holder = ? WHERE id = ?", holder, id)

    def let_go(self, deliverer: str) -> None:
        """A deliverer ends: any other may take what it held."""
        self._sql.run("UPDATE deliveries SET holder = NULL WHERE holder = ?", deliverer)
        self._sql.delete(schema.deliverers, ("name",), [(deliverer,)])

    def note(self, deliverer: str, records: Sequence[DeliveryRecord]) -> None:
        """Write what a deliverer achieved.

        Only for what it still holds; and where a person changed the delivery meanwhile, their word counts, but not
        over what has arrived.
        """
        found = self._sql.where(schema.deliveries, "id", [record.id for record in records], "id, holder, revision")
        known = {id: (holder, revision) for id, holder, revision in found}
        held = [record for record in records if known.get(record.id, ("", 0))[0] == deliverer]
        same = [record for record in held if known[record.id][1] == record.revision]
        self._sql.update(schema.deliveries, _PROGRESS, [(*_parts(r, _PROGRESS), r.id) for r in held])
        self._sql.update(schema.deliveries, _CONDITION, [(*_parts(r, _CONDITION), r.id) for r in same])

    def bury(self, letters: Sequence[DeadLetter]) -> None:
        """Keep messages that were given up; their numbers are given here."""
        numbers = self._sql.take("dead letters", len(letters)) if letters else ()
        rows = [_letter_values(replace(one, number=number)) for one, number in zip(letters, numbers, strict=True)]
        self._sql.insert(schema.dead_letters, rows)

    def arrived(self, numbers: Sequence[int]) -> None:
        """These dead letters are delivered."""
        self._sql.delete(schema.dead_letters, ("number",), [(number,) for number in numbers])

    def refused_again(self, letters: Sequence[DeadLetter]) -> None:
        """These were tried again, and given up again."""
        columns = ("reason", "attempts", "died", "replay")
        rows = [(one.reason, one.attempts, one.died, 0, one.number) for one in letters]
        self._sql.update(schema.dead_letters, columns, rows)


_FIELDS = tuple(field.name for field in fields(DeliveryRecord))


def _parts(record: DeliveryRecord, names: Sequence[str]) -> Values:
    return tuple(getattr(record, name) for name in names)


def _values(record: DeliveryRecord) -> Values:
    id, subscription, kind, settings, secrets, *rest = _parts(record, _FIELDS)
    return id, subscription, kind, json.dumps(settings), json.dumps(secrets), *rest


def _record(row: Values) -> DeliveryRecord:
    id, subscription, kind, settings, secrets, *rest = row
    return DeliveryRecord(id, subscription, kind, json.loads(settings), json.loads(secrets), *rest)


def _letter(row: Values) -> DeadLetter:
    return replace(DeadLetter(*row), replay=bool(row[-1]))


def _letter_values(letter: DeadLetter) -> Values:
    *rest, replay = (getattr(letter, field.name) for field in fields(DeadLetter))
    return *rest, int(replay)
