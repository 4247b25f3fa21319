"""The intake: many at once give what one after the other gives, whatever they send."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from effort import examples
from triplewire import Hub, errors, parse
from triplewire.documents import Limits
from triplewire.errors import TriplewireError
from triplewire.hub.changes.group_commit import GroupCommit, IntakeRoom
from triplewire.hub.changes.orders import Expected, Order

URIS = ("urn:doc:1", "urn:doc:2", "urn:doc:3")
TEXTS = (b"<> <urn:p> 1 .", b"<> <urn:p> 2 .", b"nonsense", None)
"""Each document speaks of itself: requests that are under way together have an order by document, and no other one."""

orders = st.builds(
    Order,
    st.sampled_from(URIS),
    st.sampled_from(TEXTS),
    st.just("text/turtle"),
    st.sampled_from([Expected(), Expected(is_none_of=["*"]), Expected(is_one_of=["*"])]),
    st.none(),
    st.booleans(),
)


def together(hub, wanted, room=IntakeRoom()):  # noqa: B008 - it is frozen
    """What became of orders that were all handed in before any was answered."""

    async def run():
        intake = GroupCommit(hub, Limits(), room, lambda: None)
        answers = await asyncio.gather(*map(intake.submit, wanted), return_exceptions=True)
        await intake.close()
        return answers, intake.counts

    return asyncio.run(run())


def one_by_one(hub, wanted):
    """The same by definition: each checked and applied before the next one is looked at."""
    for order in wanted:
        there = hub.document(order.uri)
        history = hub.history(order.uri)
        version = history[-1].version if history else 0
        try:
            order.expected.check(order.uri, None if there is None else "some digest")
            if order.data is None and there is None:
                raise errors.UnknownDocument(order.uri)
            if order.data is None:
                told = hub.retract(order.uri)
                yield version + 1, False, True, [event.kind for event in told]
            else:
                document = parse(order.data, uri=order.uri, media_type=order.media_type)
                told = hub.publish(document)
                changed = document != there
                yield version + changed, there is None, changed, [event.kind for event in told]
        except TriplewireError as error:
            yield type(error)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(wanted=st.lists(orders, max_size=14), batch=st.sampled_from([1, 2, 512]))
def test_many_at_once_give_what_one_after_the_other_gives(wanted, batch):
    """Invariant of `hub.changes.group_commit`: each change has a version, and a bad document is refused alone."""
    with Hub(":memory:") as hub, Hub(":memory:") as reference:
        for each in (hub, reference):
            each.subscribe("SELECT ?s ?o { ?s <urn:p> ?o }", id="a")
        answers, counts = together(hub, wanted, IntakeRoom(batch=batch))
        expected = list(one_by_one(reference, wanted))
        for order, answer, right in zip(wanted, answers, expected, strict=True):
            if isinstance(right, type):
                assert type(answer) is right
                continue
            version, created, changed, kinds = right
            assert (answer.version, answer.created, answer.changed) == (version, created, changed)
            if order.tell:
                assert [event["kind"] for event in answer.events] == kinds
        assert counts.documents == sum(not isinstance(right, type) for right in expected)
        for uri in URIS:
            assert hub.document(uri) == reference.document(uri)
        assert set(hub.rows("a")) == set(reference.rows("a"))


def test_those_who_come_together_share_a_batch_and_those_who_want_events_do_not():
    with Hub(":memory:") as hub:
        wanted = [Order(f"urn:{n}", TEXTS[0], tell=n in (3, 7)) for n in range(10)]
        answers, counts = together(hub, wanted)
        assert counts.batches == 3
        assert len({answer.batch for answer in answers}) == 3


def test_what_fails_in_a_way_that_nobody_foresaw_fails_alone(monkeypatch):
    with Hub(":memory:") as hub:
        apply = hub.apply

        def fail(changes, **options):
            if any(change.uri == "urn:2" for change in changes):
                raise RuntimeError("a fault")
            return apply(changes, **options)

        monkeypatch.setattr(hub, "apply", fail)
        answers, _ = together(hub, [Order(f"urn:{n}", TEXTS[0]) for n in range(4)])
        assert [isinstance(answer, RuntimeError) for answer in answers] == [False, False, True, False]
        assert [version.uri for version in hub.documents()] == ["urn:0", "urn:1", "urn:3"]


def test_closed_intake_finishes_what_it_has_and_takes_nothing_more():
    async def run(hub):
        intake = GroupCommit(hub, Limits(), IntakeRoom(), lambda: None)
        first = asyncio.create_task(intake.submit(Order("urn:1", TEXTS[0])))
        await asyncio.sleep(0)
        await intake.close()
        assert (await first).version == 1
        with pytest.raises(errors.ServiceUnavailable, match="stopping"):
            await intake.submit(Order("urn:2", TEXTS[0]))

    with Hub(":memory:") as hub:
        asyncio.run(run(hub))
