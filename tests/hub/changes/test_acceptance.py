"""What is acknowledged: durable at once, applied soon, in order, and seen by who reads the document."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from effort import examples
from hub.serving import problem, serving
from triplewire import Hub, parse
from triplewire.documents import Limits
from triplewire.errors import AccessDenied, TriplewireError, VersionConflict
from triplewire.hub.changes.acceptance import Acceptance
from triplewire.hub.changes.applier import Applier, Turn
from triplewire.hub.changes.bundles import Bundle
from triplewire.hub.changes.group_commit import IntakeRoom
from triplewire.hub.changes.orders import Acknowledged, Expected, Order, Receipt
from triplewire.intake.entries import APPLIER
from triplewire.intake.logs import log_of
from triplewire.model import Access

URIS = ("urn:doc:1", "urn:doc:2")
TEXTS = (b"<urn:a> <urn:p> 1 .", b"<urn:a> <urn:p> 2 .", b"[] <urn:p> 3 .", b"nonsense", None)
orders = st.builds(
    Order,
    st.sampled_from(URIS),
    st.sampled_from(TEXTS),
    st.just("text/turtle"),
    st.just(Expected()) | st.sampled_from([Expected(is_none_of=["*"]), Expected(is_one_of=["*"])]),
    st.none(),
    st.booleans(),
)


def plain(order):
    """The same; without conditions it is the order that may be acknowledged before it is applied."""
    if order.expected == Expected() and not order.tell:
        return Order(order.uri, order.data, order.media_type)
    return order


async def taken_in(hub, wanted):
    """Each handed in when the one before was answered, while they are being applied."""
    intake = Acceptance(hub, Limits(), IntakeRoom(), log_of(hub.store), lambda: None)
    loop = asyncio.get_running_loop()
    turn = Turn(
        Applier(hub, Limits()), hub.store.lease(APPLIER), applied=lambda: loop.call_soon_threadsafe(intake.nudge)
    )
    turn.start()
    answers = []
    for order in wanted:
        try:
            answers.append(await intake.accept(order))
        except TriplewireError as error:
            answers.append(type(error))
    for uri in URIS:
        await intake.settled(uri)
    assert intake.waiting == 0
    await intake.close()
    await asyncio.to_thread(turn.stop)
    return answers


def one_by_one(hub, wanted):
    """The same by definition; the error, or the digest of the document that is there then."""
    for order in wanted:
        there = hub.document(order.uri)
        try:
            order.expected.check(order.uri, None if there is None else there.digest)
            if order.data is None:
                if there is None:
                    yield "UnknownDocument"
                    continue
                hub.retract(order.uri)
                yield None
            else:
                document = parse(order.data, uri=order.uri, media_type=order.media_type)
                hub.publish(document)
                yield document.digest
        except TriplewireError as error:
            yield type(error).__name__


@settings(
    max_examples=examples(15),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(wanted=st.lists(orders.map(plain), max_size=10))
def test_changes_of_a_document_take_effect_in_order_whichever_way_they_go(tmp_path_factory, wanted):
    """Invariant of `hub.changes.acceptance`: changes of one document take effect in their order."""
    with Hub(f"sqlite:///{tmp_path_factory.mktemp('hub')}/hub.db") as hub, Hub(":memory:") as reference:
        answers = asyncio.run(taken_in(hub, wanted))
        for order, answer, right in zip(wanted, answers, one_by_one(reference, wanted), strict=True):
            acknowledged = answer.etag.strip('"') if isinstance(answer, Acknowledged) else None
            told = answer.__name__ if isinstance(answer, type) else acknowledged or answer.digest
            assert told == right
            is_plain = order.expected == Expected() and not order.tell and order.data is not None
            assert isinstance(answer, Acknowledged) == (is_plain and not isinstance(answer, type))
        for uri in URIS:
            assert hub.document(uri) == reference.document(uri)


def test_what_is_applied_before_it_is_noted_as_waiting_does_not_wait(tmp_path, monkeypatch):
    noted = Acceptance._added

    def overtaken(self, some, last):
        self._done = last
        noted(self, some, last)

    async def taken(hub):
        intake = Acceptance(hub, Limits(), IntakeRoom(), log_of(hub.store), lambda: None)
        await intake.accept(Order(URIS[0], TEXTS[0], "text/turtle"))
        waiting = intake.waiting
        await intake.close()
        return waiting

    monkeypatch.setattr(Acceptance, "_added", overtaken)
    with Hub(f"sqlite:///{tmp_path}/hub.db") as hub:
        assert asyncio.run(taken(hub)) == 0


def test_first_access_list_in_a_bundle_counts_for_the_changes_after_it(tmp_path):
    """A plain change of an account is not acknowledged before it is known whether the account may."""

    async def taken(hub):
        intake = Acceptance(hub, Limits(), IntakeRoom(), log_of(hub.store), lambda: None)
        listed = Order(URIS[0], TEXTS[0], "text/turtle", access=Access(writers=frozenset({"ann"})))
        await intake.submit_bundle(Bundle([listed]))
        try:
            return await intake.accept(Order(URIS[0], TEXTS[1], "text/turtle", by="bob"))
        except AccessDenied as error:
            return error
        finally:
            await intake.close()

    with Hub(f"sqlite:///{tmp_path}/hub.db") as hub:
        assert isinstance(asyncio.run(taken(hub)), AccessDenied)


def test_of_many_who_create_a_document_at_once_the_first_does(tmp_path):
    """Invariant of `hub.changes.acceptance`: no client comes between the check of a condition and its change."""

    async def at_once(hub):
        intake = Acceptance(hub, Limits(), IntakeRoom(), log_of(hub.store), lambda: None)
        new = Expected(is_none_of=["*"])
        wanted = [Order(URIS[0], TEXTS[n % 2], "text/turtle", new) for n in range(8)]
        answers = await asyncio.gather(*map(intake.accept, wanted), return_exceptions=True)
        await intake.close()
        return [type(answer) for answer in answers]

    with Hub(f"sqlite:///{tmp_path}/hub.db") as hub:
        assert asyncio.run(at_once(hub)) == [Receipt] + [VersionConflict] * 7
        assert hub.document(URIS[0]) == parse(TEXTS[0], uri=URIS[0], media_type="text/turtle")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_who_reads_a_document_sees_what_was_acknowledged_of_it(new_url, kind):
    with serving(new_url(kind)) as served:
        for n in range(6):
            answer = served.send_in("urn:doc", f"<urn:s> <urn:p> {n} .")
            assert answer.status_code == 202
            read = served.get("/v1/document", params={"uri": "urn:doc"}, headers={"Accept": "application/n-triples"})
            assert f'"{n}"' in read.text
            assert read.headers["etag"].startswith(answer.json()["etag"][:-1])
        assert len(served.get("/v1/document/versions", params={"uri": "urn:doc"}).json()["versions"]) == 6


def test_what_nobody_applies_is_kept_and_applied_after_the_next_start(new_url):
    store = new_url("sqlite")
    with serving(store, pipeline="none", longest_wait=0.1) as served:
        served.subscribe("all", "SELECT ?s ?o { ?s <urn:p> ?o }")
        for n in range(3):
            assert served.send_in(f"urn:{n}", f"<urn:s> <urn:p> {n} .").status_code == 202
        told = problem(served.get("/v1/document", params={"uri": "urn:1"}), 503, "service-unavailable")
        assert "--role pipeline" in told["detail"]
        problem(served.publish("urn:1", "<urn:s> <urn:p> 9 ."), 503, "service-unavailable")
        assert served.publish("urn:other", "<urn:s> <urn:q> 1 .").status_code == 201
        assert served.events("all")["events"] == []
    with serving(store) as served:
        assert served.get("/v1/document", params={"uri": "urn:1"}).status_code == 200
        found = served.events("all", wait=30)["events"]
        assert sorted(event["row"]["o"][1] for event in found) == ["0", "1", "2"]


def test_when_too_much_waits_new_documents_are_refused_until_some_is_applied(new_url):
    store = new_url("sqlite")
    with serving(store, pipeline="none", waiting_documents=3) as served:
        codes = [served.send_in(f"urn:{n}", "<urn:s> <urn:p> 1 .").status_code for n in range(5)]
        assert codes == [202, 202, 202, 503, 503]
        refused = served.send_in("urn:9", "<urn:s> <urn:p> 1 .")
        assert refused.headers["retry-after"]
        with Hub(store) as hub:
            Applier(hub, Limits()).step()
        while served.send_in("urn:9", "<urn:s> <urn:p> 1 .").status_code == 503:
            pass
        assert served.get("/v1/documents").json()["documents"]


def test_what_may_be_refused_when_it_is_applied_is_applied_before_it_is_answered(served):
    below = "<urn:{0}> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:{1}> ."
    assert served.send_in("urn:doc:1", below.format(1, 2)).status_code == 201
    problem(served.send_in("urn:doc:2", below.format(2, 1)), 422)
    problem(served.send_in("urn:doc", "<urn:s> <urn:p"), 400, "document-error")
    whole = "<urn:size> <http://www.w3.org/2000/01/rdf-schema#range> <http://www.w3.org/2001/XMLSchema#integer> ."
    served.put("/v1/schema", content=whole, headers={"Content-Type": "text/turtle"})
    assert served.send_in("urn:doc", "<urn:s> <urn:size> 1 .").status_code == 201
    problem(served.send_in("urn:doc", "<urn:s> <urn:size> 'big' ."), 422, "schema-violation")


def test_second_service_on_a_file_takes_changes_as_well(new_url):
    store = new_url("sqlite")
    with serving(store) as first, serving(store) as second:
        for n, served in enumerate((first, second)):
            assert served.send_in(f"urn:{n}", "<urn:s> <urn:p> 1 .").status_code == 202
            assert served.get("/v1/document", params={"uri": f"urn:{n}"}).status_code == 200
