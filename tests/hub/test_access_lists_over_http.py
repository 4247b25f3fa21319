"""Access lists over HTTP (P8): what one account may not read reaches it by no way that the service has."""

from __future__ import annotations

import json
import xmlrpc.client

import httpx
import pytest

from hub.serving import TURTLE, problem, serving
from triplewire import Access, Publish, Restrict, parse
from triplewire.client import Client
from triplewire.errors import AccessDenied, NotAllowed, UnknownDocument
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

OPEN, SECRET = "https://example.org/open.ttl", "https://example.org/secret.ttl"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
IN_THE_OPEN = "<urn:thing> a <urn:Thing> ; <urn:title> 'a thing' ."
HIDDEN = "<urn:thing> <urn:title> 'xyzzy' . <urn:plugh> a <urn:Plover> ; <urn:near> <urn:thing> ."
TELLING = ("xyzzy", "plugh", "Plover", "secret.ttl")
"""What stands in the hidden document, and nowhere else."""
THINGS = "SELECT ?s ?t { ?s <urn:title> ?t }"
EVERYTHING = "SELECT ?s ?p ?o { ?s ?p ?o }"


class Person(httpx.Client):
    """An account at the service."""

    def __init__(self, url: str, account, token: str) -> None:
        super().__init__(base_url=f"{url}/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60)
        self.id, self.url, self.token = account.id, url, token

    def publish(self, uri: str, text: str, **params) -> httpx.Response:
        headers = TURTLE | {"Prefer": "wait"}
        return self.put("/document", params={"uri": uri} | params, content=text, headers=headers)

    def subscribe(self, id: str, text: str, **more) -> httpx.Response:
        return self.post("/subscriptions", json={"id": id, "text": text, "start": "ever"} | more)


@pytest.fixture
def people(tmp_path):
    """Ada publishes, Bob and Eve read, Pia publishes too, and there is an admin."""
    store = f"sqlite:///{tmp_path}/hub.db"
    roles = {"ada": "publisher", "bob": "reader", "eve": "reader", "pia": "publisher", "root": "admin"}
    with Store.open(store) as opened:
        accounts = Accounts(opened)
        made = {name: accounts.create_token(name, role=role) for name, role in roles.items()}
    with serving(store, identity=True) as served:
        found = {name: Person(served.url, *each) for name, each in made.items()}
        yield found
        for person in found.values():
            person.close()


@pytest.fixture
def ada(people):
    return people["ada"]


@pytest.fixture
def hidden(people):
    """An open document, and one that Ada publishes for Bob; everybody has subscribed."""
    ada = people["ada"]
    for name in ("ada", "bob", "eve", "root"):
        for scope in ("document", "graph"):
            assert people[name].subscribe(f"{name}-{scope}", THINGS, scope=scope).status_code == 201
            assert people[name].subscribe(f"{name}-all-{scope}", EVERYTHING, scope=scope).status_code == 201
    assert ada.publish(OPEN, IN_THE_OPEN).status_code == 201
    told = ada.publish(SECRET, HIDDEN, reader="bob")
    assert told.status_code == 201, told.text
    return people


def readings(people: dict[str, Person], own: str):
    """Everything that a reader can ask, whatever the answer is."""
    person, root = people[own], people["root"]
    yield person.get("/document", params={"uri": SECRET})
    yield person.get("/document", params={"uri": SECRET, "version": 1})
    yield person.get("/document/versions", params={"uri": SECRET})
    yield person.get("/document/access", params={"uri": SECRET})
    yield person.get("/documents")
    for iri in ("urn:thing", "urn:plugh", "urn:Plover", SECRET):
        yield person.get("/resource", params={"iri": iri})
    yield person.get("/classes")
    for where in (f"<{TYPE}> <urn:Plover>", f"<{TYPE}> <urn:Thing>", "<urn:near> <urn:thing>"):
        yield person.get("/facets", params={"where": where})
    for word in ("xyz", "plug", "thing"):
        yield person.get("/search", params={"q": word})
    yield person.post("/names", json={"resources": ["urn:thing", "urn:plugh"]})
    yield person.get("/taxonomy")
    for query in (EVERYTHING, "SELECT ?g { GRAPH ?g { ?s ?p ?o } }", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"):
        yield person.get("/sparql", params={"query": query})
        yield person.get("/sparql", params={"query": query, "default-graph-uri": SECRET})
        yield person.get("/sparql", params={"query": query, "named-graph-uri": SECRET})
    for scope in ("document", "graph"):
        yield person.post("/preview", json={"text": EVERYTHING, "scope": scope, "start": "ever"})
    yield person.post("/preview", json={"text": "//title", "language": "xpath"})
    yield person.post("/explain", json={"text": THINGS})
    for id in (
        f"{own}-document",
        f"{own}-graph",
        f"{own}-all-graph",
        "bob-all-graph",
        "root-all-document",
        "ada-graph",
    ):
        place = f"/subscriptions/{id}"
        yield person.get(place)
        for part in ("rows", "events", "recent", "feed", "inbox", "explain", "picture"):
            yield person.get(f"{place}/{part}", params={"contents": True} if part == "events" else {})
        for syntax in ("atom", "rss1", "rss2", "json"):
            yield person.get(f"{place}/feed", params={"syntax": syntax})
        for event in root.get(f"{place}/events").json()["events"]:
            yield person.get(f"{place}/inbox/{event['cursor']}")
        yield person.post(f"{place}/why", json={"row": {"s": "<urn:thing>", "t": '"xyzzy"'}})
        yield person.post(f"{place}/why", json={"row": {"s": "<urn:thing>", "t": '"a thing"'}})
        for resource in ("urn:plugh", "urn:thing", "urn:Plover"):
            yield person.post(f"{place}/why-not", json={"resource": resource})
        with person.stream("GET", f"{place}/stream") as answer:
            if answer.status_code >= 400:
                answer.read()
                yield answer
            else:
                said = answer.iter_text()
                yield httpx.Response(200, text=next(said) + next(said, ""), request=answer.request)
        yield from notified(person, id)
    yield person.get("/statistics")


def notified(person: Person, id: str):
    """What XML-RPC tells of a subscription."""
    token = [("Authorization", f"Bearer {person.token}")]
    with xmlrpc.client.ServerProxy(f"{person.url}/v1/xml-rpc", headers=token) as rpc:
        for method in ("notifications", "feed"):
            asked = httpx.Request("POST", f"{person.url}/v1/xml-rpc?{method}={id}")
            try:
                yield httpx.Response(200, text=str(getattr(rpc.triplewire, method)(id, "0", 100)), request=asked)
            except xmlrpc.client.Fault as fault:
                yield httpx.Response(fault.faultCode, text=str(fault), request=asked)


def telling(answer: httpx.Response) -> list[str]:
    """What of the hidden document an answer tells, besides what was asked."""
    asked = str(answer.request.url) + (answer.request.content.decode() if answer.request.method == "POST" else "")
    return [word for word in TELLING if word in answer.text and word not in asked]


def test_no_way_leads_to_a_document_that_may_not_be_read(hidden):
    leaks = [
        (answer.request.method, str(answer.request.url), found)
        for answer in readings(hidden, "eve")
        if (found := telling(answer))
    ]
    assert leaks == []


@pytest.mark.slow
def test_the_ways_lead_to_it_for_who_may_read_it(hidden):
    """So that the test before this one can fail."""
    told = [str(answer.request.url) for answer in readings(hidden, "bob") if telling(answer)]
    for part in ("/document", "/resource", "/classes", "/facets", "/search", "/sparql", "/preview", "/rows", "/events"):
        assert any(part in url for url in told), part
    for part in ("/stream", "/feed", "/inbox", "/recent", "/why", "/xml-rpc?notifications", "/xml-rpc?feed"):
        assert any(part in url for url in told), part


def test_a_document_that_may_not_be_read_answers_as_if_it_did_not_exist(hidden):
    eve, other = hidden["eve"], "https://example.org/nothing.ttl"
    for path in ("/document", "/document/versions", "/document/access"):
        answers = [eve.get(path, params={"uri": uri}) for uri in (SECRET, other)]
        first, second = (problem(answer, 404, "unknown-document") for answer in answers)
        assert first["detail"].replace(SECRET, other) == second["detail"]
    asked = {"iri": "urn:plugh"}, {"iri": "urn:nothing"}
    known, unknown = (eve.get("/resource", params=params).json() for params in asked)
    assert {**known, "iri": ""} == {**unknown, "iri": ""}


def test_counts_are_of_what_may_be_read(hidden):
    eve, bob = hidden["eve"], hidden["bob"]
    count = {"query": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"}
    counted = [
        int(person.get("/sparql", params=count, headers={"Accept": "text/csv"}).text.split()[1])
        for person in (eve, bob)
    ]
    assert counted == [2, 5]
    for person, triples in ((eve, 2), (bob, 5)):
        told = person.post("/preview", json={"text": EVERYTHING, "scope": "graph"}).json()
        assert (told["count"], told["atoms"][0]["triples"]) == (triples, triples)
    problem(eve.get("/statistics"), 403, "not-allowed")
    assert hidden["root"].get("/statistics").status_code == 200


def test_what_others_subscriptions_found_is_theirs_once_there_is_a_list(people):
    eve, ada = people["eve"], people["ada"]
    people["bob"].subscribe("bob", THINGS)
    people["bob"].subscribe("open", THINGS, sees="everybody")
    ada.publish(OPEN, IN_THE_OPEN)
    assert len(eve.get("/subscriptions/bob/rows").json()["rows"]) == 1, "as long as nothing is hidden"
    with eve.stream("GET", "/subscriptions/bob/stream") as stream:
        lines = stream.iter_lines()
        while "matched" not in next(lines):
            pass
        ada.publish(SECRET, HIDDEN, reader="bob")
        assert "xyzzy" not in "".join(lines), "the stream ends before it tells"
    for part in ("rows", "events", "feed", "inbox", "recent"):
        problem(eve.get(f"/subscriptions/bob/{part}"), 403, "not-allowed")
        assert eve.get(f"/subscriptions/open/{part}").status_code == 200
    assert len(people["bob"].get("/subscriptions/bob/rows").json()["rows"]) == 2
    assert len(people["root"].get("/subscriptions/bob/rows").json()["rows"]) == 2
    assert len(eve.get("/subscriptions/open/rows").json()["rows"]) == 1


def test_who_follows_the_same_events_is_asked_each_for_itself(people):
    """What streams tell is read once for all who are as far."""
    bob, eve, ada = people["bob"], people["eve"], people["ada"]
    bob.subscribe("bob", THINGS)
    with (
        eve.stream("GET", "/subscriptions/bob/stream") as hers,
        bob.stream("GET", "/subscriptions/bob/stream") as his,
    ):
        heard, told = hers.iter_lines(), his.iter_lines()
        assert next(heard) == next(told) == "retry: 2000"
        ada.publish(SECRET, HIDDEN, reader="bob")
        while "xyzzy" not in next(told):
            pass
        assert "xyzzy" not in "".join(heard)


def test_nobody_has_the_feed_of_another_pushed_to_them(people):
    """Not even before there is a list: what is pushed is not asked for again."""
    bob, eve = people["bob"], people["eve"]
    bob.subscribe("bob", THINGS)
    form = {
        "hub.mode": "subscribe",
        "hub.topic": f"{bob.url}/v1/subscriptions/bob/feed",
        "hub.callback": "https://receiver.example/",
    }
    problem(eve.post("/websub", data=form), 403, "not-allowed")


def test_publishers_are_told_the_events_that_they_may_see(people):
    people["bob"].subscribe(
        "bob", "SELECT ?t { <urn:thing> <urn:title> ?t . <urn:thing> a <urn:Thing> }", scope="graph"
    )
    people["pia"].subscribe("pia", THINGS)
    people["ada"].publish(SECRET, HIDDEN, reader="bob")
    told = people["pia"].publish(OPEN, IN_THE_OPEN).json()
    assert {event["subscription"] for event in told["events"]} == {"pia"}
    assert "xyzzy" not in json.dumps(told)
    assert len(people["bob"].get("/subscriptions/bob/rows").json()["rows"]) == 2


def test_only_writers_change_a_document_with_a_list(hidden):
    pia, bob, ada = hidden["pia"], hidden["bob"], hidden["ada"]
    problem(pia.publish(SECRET, "<urn:a> <urn:b> 1 ."), 403, "access-denied")
    answer = pia.put("/document", params={"uri": SECRET}, content="<urn:a> <urn:b> 1 .", headers=TURTLE)
    problem(answer, 403, "access-denied")
    problem(pia.delete("/document", params={"uri": SECRET}), 404, "unknown-document")
    problem(pia.put("/document/access", params={"uri": SECRET}, json={"readers": ["pia"]}), 404, "unknown-document")
    problem(pia.delete("/document/access", params={"uri": SECRET}), 404, "unknown-document")
    lines = "\n".join(json.dumps(each) for each in ({"uri": SECRET, "content": ""}, {"uri": SECRET, "retract": True}))
    told = pia.post("/documents", content=lines, headers={"Content-Type": "application/x-ndjson"}).json()
    assert told["refused"] == 2
    problem(bob.get("/document/access", params={"uri": SECRET}), 403, "access-denied")
    assert bob.get("/document", params={"uri": SECRET}).status_code == 200
    assert ada.publish(SECRET, HIDDEN + "<urn:a> <urn:b> 1 .").status_code == 200
    assert ada.get("/document/access", params={"uri": SECRET}).json() == {
        "uri": SECRET,
        "readers": [bob.id],
        "writers": [ada.id],
    }


def test_the_id_of_anothers_batch_tells_nothing(hidden):
    ada, pia = hidden["ada"], hidden["pia"]
    headers = TURTLE | {"Prefer": "wait", "Idempotency-Key": "monday"}
    ada.put("/document", params={"uri": SECRET}, content=HIDDEN + "<urn:a> <urn:b> 1 .", headers=headers)
    answer = pia.put("/document", params={"uri": SECRET}, content="", headers=headers)
    problem(answer, 403, "access-denied")
    told = pia.put("/document", params={"uri": OPEN}, content=IN_THE_OPEN, headers=headers)
    assert not telling(told)


def test_a_list_is_changed_and_withdrawn_and_told_to_subscribers(hidden):
    ada, bob, eve = hidden["ada"], hidden["bob"], hidden["eve"]
    before = eve.get("/subscriptions/eve-document/events").json()["next"]
    answer = ada.put("/document/access", params={"uri": SECRET}, json={"readers": ["eve"]})
    assert answer.status_code == 200, answer.text
    assert eve.get("/document", params={"uri": SECRET}).status_code == 200
    problem(bob.get("/document", params={"uri": SECRET}), 404, "unknown-document")
    news = eve.get("/subscriptions/eve-document/events", params={"after": before}).json()["events"]
    told = {(event["kind"], event["row"]["t"]) for event in news}
    assert told == {("matched", '"xyzzy"'), ("changed", '"a thing"')}, "there is more to be read of the thing"
    last = bob.get("/subscriptions/bob-document/events").json()["events"][-2:]
    assert {(event["kind"], event["row"]["t"]) for event in last} == {
        ("unmatched", '"xyzzy"'),
        ("changed", '"a thing"'),
    }
    assert ada.delete("/document/access", params={"uri": SECRET}).status_code == 200
    assert bob.get("/document/access", params={"uri": SECRET}).json()["readers"] is None
    assert bob.get("/document", params={"uri": SECRET}).status_code == 200


def test_names_that_are_nobodys_are_refused(hidden):
    ada = hidden["ada"]
    problem(ada.publish(SECRET, HIDDEN, reader="nobody"), 400, "bad-request")
    problem(ada.put("/document/access", params={"uri": SECRET}, json={"readers": ["nobody"]}), 400, "bad-request")
    assert ada.publish(SECRET, HIDDEN, reader="").status_code == 200, "a list without readers"
    problem(hidden["bob"].get("/document", params={"uri": SECRET}), 404, "unknown-document")


def test_an_upload_brings_lists(people):
    ada, bob, eve = people["ada"], people["bob"], people["eve"]
    records = [
        {"uri": "urn:d:1", "content": "<urn:a> <urn:b> 1 .", "readers": ["bob"]},
        {"uri": "urn:d:2", "content": "<urn:a> <urn:b> 2 ."},
        {"uri": "urn:d:3", "content": "<urn:a> <urn:b> 3 .", "readers": "bob"},
    ]
    lines = "\n".join(map(json.dumps, records))
    told = ada.post("/documents", content=lines, headers={"Content-Type": "application/x-ndjson"}).json()
    assert (told["published"], told["refused"]) == (2, 1)
    quads = "<urn:a> <urn:b> <urn:c> <urn:d:4> .\n"
    answer = ada.post(
        "/documents", params={"reader": "eve"}, content=quads, headers={"Content-Type": "application/n-quads"}
    )
    assert answer.json()["published"] == 1
    seen = {p: [each["uri"] for each in people[p].get("/documents").json()["documents"]] for p in ("bob", "eve", "pia")}
    assert seen == {"bob": ["urn:d:1", "urn:d:2"], "eve": ["urn:d:2", "urn:d:4"], "pia": ["urn:d:2"]}
    assert bob.id != eve.id


def test_a_client_gives_and_changes_lists(people):
    ada, eve = (Client(people[name].url, token=people[name].token) for name in ("ada", "eve"))
    with ada, eve:
        ada.publish(HIDDEN, uri=SECRET, media_type="text/turtle", access=Access(["bob"]))
        assert ada.access(SECRET) == Access([people["bob"].id], [people["ada"].id])
        assert eve.document(SECRET) is None
        with pytest.raises(UnknownDocument):
            eve.access(SECRET)
        eve.subscribe(THINGS, id="eve")
        ada.restrict(SECRET, Access(["eve"]))
        assert eve.document(SECRET) is not None
        with pytest.raises(NotAllowed):
            eve.restrict(SECRET, None)
        ada.restrict(SECRET, None)
        assert ada.access(SECRET) is None
        ada.restrict(SECRET, Access())
        assert eve.document(SECRET) is None
        with Client(people["pia"].url, token=people["pia"].token) as pia, pytest.raises(AccessDenied):
            pia.publish("<urn:a> <urn:b> 1 .", uri=SECRET)


def test_a_batch_of_changes_respects_lists_and_brings_them(hidden):
    ada, bob, eve, pia = (hidden[name] for name in ("ada", "bob", "eve", "pia"))

    def send(person: Person, *changes: dict) -> httpx.Response:
        return person.post("/changes", json={"changes": list(changes)}, headers={"Prefer": "wait"})

    fresh = {"uri": "https://example.org/fresh.ttl", "content": "<urn:fresh> <urn:title> 'fresh' ."}
    taken = send(pia, fresh, {"uri": SECRET, "content": "<urn:thing> <urn:title> 'mine' ."})
    problem(taken, 403, "access-denied")
    assert eve.get("/document", params={"uri": fresh["uri"]}).status_code == 404, "the whole is refused"

    nothing = "https://example.org/nothing.ttl"
    told = [send(pia, {"uri": uri, "retract": True}) for uri in (SECRET, nothing)]
    assert [each.json()["documents"][0] | {"uri": ""} for each in told] == [
        {"uri": "", "version": 0, "etag": None, "changed": False}
    ] * 2, "what may not be read is as what is not there"
    for uri in (SECRET, nothing):
        problem(send(pia, {"uri": uri, "access": {"readers": ["pia"]}}), 404, "unknown-document")
    assert bob.get("/document", params={"uri": SECRET}).status_code == 200

    both = send(ada, fresh | {"access": {"readers": ["bob"]}}, {"uri": SECRET, "access": {"readers": ["eve"]}})
    assert both.status_code == 200, both.text
    assert {event["subscription"] for event in both.json()["events"]} <= {"ada-document", "ada-graph"} | {
        "ada-all-document",
        "ada-all-graph",
    }
    seen = {name: hidden[name].get("/document", params={"uri": fresh["uri"]}).status_code for name in ("bob", "eve")}
    assert seen == {"bob": 200, "eve": 404}
    seen = {name: hidden[name].get("/document", params={"uri": SECRET}).status_code for name in ("bob", "eve")}
    assert seen == {"bob": 404, "eve": 200}


def test_the_secret_address_of_a_feed_shows_what_its_owner_sees(hidden):
    bob, eve = hidden["bob"], hidden["eve"]
    told = bob.post("/subscriptions/bob-graph/feed-address")
    assert told.status_code in (200, 201), told.text
    read = httpx.get(told.json()["address"], params={"syntax": "json"})
    assert read.status_code == 200
    assert "xyzzy" in read.text
    assert eve.post("/subscriptions/bob-graph/feed-address").status_code == 403


def test_a_client_sends_lists_in_a_batch(hidden):
    with Client(hidden["ada"].url, token=hidden["ada"].token) as client:
        document = parse("<urn:fresh> <urn:title> 'fresh' .", uri="https://example.org/fresh.ttl")
        client.apply([Publish(document, access=Access(["bob"])), Restrict(SECRET, Access(["eve"]))])
        assert hidden["bob"].id in client.access(document.uri).readers
        assert client.access(SECRET).readers == (hidden["eve"].id,)
