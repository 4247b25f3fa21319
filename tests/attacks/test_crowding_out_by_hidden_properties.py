"""What a reader finds does not depend on hidden documents, even on those with more properties than a bound (X6, M9)."""

from __future__ import annotations

import httpx
import pytest

from hub.serving import TURTLE, serving
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store

OPEN = (
    "".join(
        f'<urn:zb{n}> <urn:t:title> "zebra number {n}" ; a <urn:t:Zebra> ; <urn:t:theme> <urn:theme:animals> .\n'
        for n in range(60)
    )
    + '<urn:zb1> <urn:t:keywords> "k" .'
)
HIDDEN = (
    "".join(f'<urn:zb1> <urn:hid:p{n}> "hidden zebra {n}" .\n' for n in range(1_200))
    + "".join(f"<urn:h> <urn:z{n}:keyword> 1 ; <urn:t:keyword{n:02}> 1 ; a <urn:t:Zebr{n:02}> .\n" for n in range(30))
    + "".join(f'<urn:hz{n}> <urn:t:title> "hidden zebra number {n}" ; a <urn:t:Zebra> .\n' for n in range(300))
)
QUERIES = (
    "SELECT ?d { ?d <urn:t:keyword> ?x }",
    "SELECT ?d { ?d <urn:t:titel> ?x . ?d <urn:hid:p1> ?y }",
    "SELECT ?d { ?d a <urn:t:Zebr> }",
)


class World:
    """A hub with Ada who publishes and Eve who reads; there is a list from the beginning."""

    def __init__(self, url: str, tokens: dict[str, str]) -> None:
        self.ada, self.eve = (
            httpx.Client(base_url=f"{url}/v1", headers={"Authorization": f"Bearer {tokens[who]}"}, timeout=60)
            for who in ("ada", "eve")
        )
        self.publish("urn:doc:first", "<urn:first> <urn:first:p> 1 .", reader="")

    def publish(self, uri: str, text: str, **more: str) -> None:
        asked = {"params": {"uri": uri, **more}, "headers": TURTLE | {"Prefer": "wait"}, "content": text}
        self.ada.put("/document", **asked).raise_for_status()

    def answers(self) -> dict[str, str]:
        """What Eve is told, by question."""
        asked = [("/classes", {})]
        asked += [("/place", {"iri": iri}) for iri in ("urn:t:Zebra", "urn:theme:animals", "urn:hid:C")]
        asked += [("/search", {"q": words}) for words in ("zebra", "number 1", "hidden", "theme")]
        asked += [("/facets", {"where": "<urn:t:theme> <urn:theme:animals>"})]
        asked += [("/resource", {"iri": iri}) for iri in ("urn:zb1", "urn:theme:animals")]
        told = {f"{path} {params}": self.eve.get(path, params=params).text for path, params in asked}
        for text in QUERIES:
            told |= {f"{path} {text}": self.eve.post(path, json={"text": text}).text for path in ("/check", "/preview")}
        return told


@pytest.fixture
def world(tmp_path):
    store = f"sqlite:///{tmp_path}/hub.db"
    with Store.open(store) as opened:
        roles = {"ada": "publisher", "eve": "reader"}
        tokens = {who: Accounts(opened).create_token(who, role=role)[1] for who, role in roles.items()}
    with serving(store, identity=True) as served:
        made = World(served.url, tokens)
        yield made
        made.ada.close()
        made.eve.close()


def differing(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return [asked for asked in before if before[asked] != after[asked]]


def test_a_hidden_document_with_many_properties_changes_no_answer(world):
    world.publish("urn:doc:open", OPEN)
    before = world.answers()
    assert "urn:t:keywords" in before[f"/check {QUERIES[0]}"]
    assert "urn:zb1" in before["/search {'q': 'number 1'}"]
    world.publish("urn:doc:hidden", HIDDEN, reader="")
    assert differing(before, world.answers()) == []


def test_where_all_is_hidden_a_check_tells_as_little_as_where_nothing_is(world):
    """Nothing is missing where nothing is published, because then that says nothing."""
    assert world.eve.post("/check", json={"text": QUERIES[0]}).json()["findings"] == []
    world.publish("urn:doc:open", OPEN)
    assert world.eve.post("/check", json={"text": QUERIES[0]}).json()["findings"] != []


def test_hidden_terms_do_not_move_the_pages_of_a_search(world):
    """Newer terms are looked at first: here hidden ones come between those that Eve sees."""
    world.publish("urn:doc:open", OPEN)
    pages, before = [], None
    world.publish("urn:doc:hidden", HIDDEN, reader="")
    while True:
        page = world.eve.get("/search", params={"q": "number", **({"before": before} if before else {})}).json()
        pages.append(page)
        before = page.get("next")
        if before is None:
            break
    found = [hit["resource"] for page in pages for hit in page["hits"]]
    assert sorted({*found}) == sorted(f"<urn:zb{n}>" for n in range(60))
    assert [len(page["hits"]) for page in pages] == [50, 10]
