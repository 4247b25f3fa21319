"""Looking around over HTTP: classes, facets, search, names; checking and pictures; statistics (M9, X6)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hub.serving import TURTLE, problem, serving
from triplewire.engine.inspect import statistics, surveys
from triplewire.model import RDF

TYPE = f"<{RDF}type>"
PREFIXES = """
@prefix : <urn:town:> . @prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
BEACH = (
    PREFIXES
    + ":beach a dcat:Dataset ; dct:title 'Strandbad'@de, 'Beach'@en ; dcat:theme :bathing ; dcat:keyword 'sea','sand' ."
)
POOL = PREFIXES + ":pool a dcat:Dataset ; dct:title 'Öffentliches Bad' ; dcat:theme :bathing ; dcat:keyword 'sea' ."
TREES = PREFIXES + ":trees a dcat:Dataset ; dct:title 'Trees' ; dcat:theme :trees-theme ."
THEMES = PREFIXES + ":bathing rdfs:subClassOf :water ; rdfs:label 'Bathing' . :water rdfs:subClassOf :environment ."
DATASET, THEME, KEYWORD = (
    "<http://www.w3.org/ns/dcat#Dataset>",
    "<http://www.w3.org/ns/dcat#theme>",
    "<http://www.w3.org/ns/dcat#keyword>",
)


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A service with a few documents, which the tests of this module only read."""
    with serving(f"sqlite:///{tmp_path_factory.mktemp('town')}/hub.db") as served:
        served.put("/v1/taxonomy", content=f"{THEMES} :environment rdfs:subClassOf :nature .", headers=TURTLE)
        query = "SELECT ?d { ?d <http://www.w3.org/ns/dcat#keyword> 'sea' }"
        served.subscribe("sea", query, start="ever")
        for name, text in {"beach": BEACH, "pool": POOL, "trees": TREES, "themes": THEMES}.items():
            assert served.publish(f"urn:doc:{name}", text).status_code == 201
        yield served


def test_classes_have_counts_names_and_places_in_the_taxonomy(town):
    told = town.get("/v1/classes").json()
    found = {each["iri"]: each for each in told["classes"]}
    assert (found[DATASET]["instances"], found[DATASET]["parents"]) == (3, [])
    bathing = found["<urn:town:bathing>"]
    assert (bathing["name"], bathing["instances"], bathing["uses"]) == ("Bathing", 0, 2)
    assert (bathing["used_by"], bathing["parents"]) == (THEME, ["<urn:town:water>"])
    assert found["<urn:town:environment>"]["uses"] == 0
    assert not told["has_more"]


def test_more_classes_than_are_told_are_announced(served, monkeypatch):
    monkeypatch.setattr(surveys, "MOST_CLASSES", 2)
    monkeypatch.setattr(surveys, "MOST_COUNTED", 1)
    served.publish("urn:1", "<urn:a> a <urn:C>, <urn:D>, <urn:E> . <urn:b> a <urn:C> .")
    told = served.get("/v1/classes").json()
    assert [each["instances"] for each in told["classes"]] == [1, 1]
    assert (told["has_more"], told["counted_to"]) == (True, 1)


def test_facets_narrow_resources_down(town):
    told = town.get("/v1/facets", params={"where": [f"{TYPE} {DATASET}"]}).json()
    assert {each["term"] for each in told["resources"]} == {"<urn:town:beach>", "<urn:town:pool>", "<urn:town:trees>"}
    facets = {each["property"]: each for each in told["facets"]}
    assert facets[KEYWORD]["resources"] == 2
    assert facets[KEYWORD]["values"][0] == {"term": '"sea"', "name": None, "resources": 2}
    assert facets[THEME]["values"][0]["name"] == "Bathing"
    narrowed = town.get("/v1/facets", params={"where": [f"{TYPE} {DATASET}", f'{KEYWORD} "sand"']}).json()
    assert narrowed["resources"] == [{"term": "<urn:town:beach>", "name": "Beach"}]


def test_facets_can_take_what_is_below_in_the_taxonomy(town):
    exactly = town.get("/v1/facets", params={"where": [f"{THEME} <urn:town:nature>"]}).json()
    below = town.get("/v1/facets", params={"where": [f"{THEME} isa <urn:town:nature>"]}).json()
    assert exactly["resources"] == []
    assert {each["name"] for each in below["resources"]} == {"Beach", "Öffentliches Bad"}


def test_facets_of_what_nobody_speaks_of_are_none(town):
    told = town.get("/v1/facets", params={"where": ["<urn:never> <urn:heard>"]}).json()
    assert told == {"resources": [], "facets": [], "has_more": False, "count": 0}
    problem(town.get("/v1/facets", params={"where": ["nonsense"]}), 400, "bad-request")


def test_a_selection_that_is_too_large_says_so(served, monkeypatch):
    monkeypatch.setattr(surveys, "MOST_RESOURCES", 2)
    served.publish("urn:1", "<urn:a> a <urn:C> . <urn:b> a <urn:C> . <urn:c> a <urn:C> .")
    told = served.get("/v1/facets", params={"where": [f"{TYPE} <urn:C>"], "limit": 2}).json()
    assert (len(told["resources"]), told["has_more"]) == (2, True)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("strand", {"Beach"}),
        ("öffentliches BAD", {"Öffentliches Bad"}),
        ("ÖFFENTLICHES", {"Öffentliches Bad"}),
        ("town:trees", {"Trees", None}),
        ("no such thing", set()),
    ],
)
def test_search_finds_words_in_values_and_names(town, words, names):
    told = town.get("/v1/search", params={"q": words}).json()
    assert {hit["name"] for hit in told["hits"]} == names
    assert told["next"] is None


def test_search_goes_on_where_it_stopped(served, monkeypatch):
    monkeypatch.setattr(surveys, "_TERMS_LOOKED_AT", 3)
    served.publish("urn:1", " ".join(f"<urn:s{n}> <urn:p> 'needle {n}' ." for n in range(5)))
    found, before, rounds = set(), None, 0
    while True:
        told = served.get("/v1/search", params={"q": "needle", **({} if before is None else {"before": before})}).json()
        found |= {hit["resource"] for hit in told["hits"]}
        before, rounds = told["next"], rounds + 1
        if before is None:
            break
    assert found == {f"<urn:s{n}>" for n in range(5)}
    assert rounds > 1


def test_search_does_not_tell_of_what_was_retracted(served):
    served.publish("urn:1", "<urn:a> <urn:p> 'secret' .")
    served.retract("urn:1", Prefer="wait")
    assert served.get("/v1/search", params={"q": "secret"}).json()["hits"] == []


def test_names_are_told_in_a_language_that_most_can_read(town):
    asked = ["urn:town:beach", "<urn:town:pool>", "urn:unheard"]
    told = town.post("/v1/names", json={"resources": asked}).json()
    assert told == {"names": {"<urn:town:beach>": "Beach", "<urn:town:pool>": "Öffentliches Bad"}}


def test_check_says_where_a_query_is_wrong(town):
    told = town.post("/v1/check", json={"text": "SELECT ?d {\n  ?d <urn:p> }"}).json()
    assert (told["mistake"]["line"], told["mistake"]["column"], told["picture"]) == (2, 14, None)
    assert told["mistake"]["expected"]


def test_check_refuses_what_the_scope_does_not_allow(town):
    asked = {"text": "SELECT ?a ?b { ?a <urn:p> 1 . ?b <urn:q> 2 }"}
    assert town.post("/v1/check", json=asked).json()["mistake"] is None
    assert "share no variable" in town.post("/v1/check", json=asked | {"scope": "graph"}).json()["mistake"]["reason"]


def test_check_tells_what_lint_finds(town):
    text = "SELECT ?d { ?d <urn:size> ?s FILTER (?s > 5 && ?s < 3) }"
    told = town.post("/v1/check", json={"text": text}).json()
    assert [each["kind"] for each in told["findings"]] == ["never-matches"]


def test_picture_has_things_arrows_and_sentences(town):
    picture = town.get("/v1/subscriptions/sea/picture").json()
    (alternative,) = picture["alternatives"]
    assert picture["columns"] == ["d"]
    assert [(node["label"], node["kind"], node["is_answer"]) for node in alternative["nodes"]] == [
        ("?d", "variable", True),
        ('"sea"', "literal", False),
    ]
    assert [edge["label"] for edge in alternative["edges"]] == [KEYWORD]
    assert alternative["sentences"] == [f'?d has {KEYWORD} "sea"']


def test_recent_events_are_the_last_ones_in_order(served):
    served.subscribe("all", "SELECT ?s { ?s <urn:p> ?o }")
    for number in range(5):
        served.publish(f"urn:{number}", f"<urn:s{number}> <urn:p> 1 .")
    every = served.events("all")["events"]
    told = served.get("/v1/subscriptions/all/recent", params={"limit": 2}).json()
    assert [event["cursor"] for event in told["events"]] == [event["cursor"] for event in every[-2:]]
    assert told["next"] == every[-1]["cursor"]
    assert told["events"][0]["after"] == ['<urn:s3> <urn:p> "1"^^<http://www.w3.org/2001/XMLSchema#integer>']
    assert len(served.get("/v1/subscriptions/all/recent").json()["events"]) == 5
    problem(served.get("/v1/subscriptions/nobody/recent"), 404, "unknown-subscription")


def test_statistics_count_what_came_and_what_was_told(town):
    told = town.get("/v1/statistics", params={"seconds": 3_600, "count": 2}).json()
    assert sum(each["documents"] for each in told["intervals"]) == 4
    assert sum(each["events"] for each in told["intervals"]) == 2
    assert told["totals"]["documents"] == 4
    assert told["totals"]["subscriptions"] == 1
    assert told["lag"] == {"in_memory": 0, "on_the_log": 0, "since": None, "rejected": 0}
    assert told["busiest"] == [{"subscription": "sea", "others": 0, "events": 2, "rows": 2, "estimated_cost": 3}]
    assert "/v1/document" in {each["route"] for each in told["requests"]}


def test_intervals_leave_out_what_was_before_them(town, monkeypatch):
    with town.hub.store.reading() as reader:
        later = datetime.now(UTC) + timedelta(days=1)
        found, is_cut = statistics.intervals(reader, later, timedelta(minutes=1), 10)
        assert (sum(each.batches for each in found), is_cut) == (0, False)
        monkeypatch.setattr(statistics, "MOST_BATCHES", 2)
        found, is_cut = statistics.intervals(reader, datetime.now(UTC), timedelta(hours=1), 1)
        assert (found[0].batches, is_cut) == (2, True)


def test_no_answer_becomes_a_page_in_a_browser(town):
    """What a publisher wrote is sent back as RDF/XML, say: no browser may run what is in it."""
    answer = town.get("/v1/document", params={"uri": "urn:doc:beach"}, headers={"Accept": "application/rdf+xml"})
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "sandbox" not in town.get("/").headers["content-security-policy"]


def test_search_finds_what_is_only_a_value_or_only_in_the_taxonomy(town):
    """M9: a theme that no document describes is found by a word of its address."""
    found = town.get("/v1/search", params={"q": "trees-theme"}).json()["hits"]
    assert found == [{"resource": "<urn:town:trees-theme>", "name": None, "property": None, "value": None}]
    found = town.get("/v1/search", params={"q": "NATURE"}).json()["hits"]
    assert [hit["resource"] for hit in found] == ["<urn:town:nature>"]


def test_numbers_of_the_taxonomy_are_those_of_the_lists_that_they_lead_to(town):
    """M9: with what is below, each resource once, however many documents and nodes it has."""
    for each in town.get("/v1/classes").json()["classes"]:
        by = TYPE if each["instances"] else each["used_by"]
        if by is None:
            assert each["resources"] == 0
        else:
            listed = town.get("/v1/facets", params={"where": [f"{by} isa {each['iri']}"]}).json()
            assert each["resources"] == listed["count"] == len(listed["resources"]), each["iri"]
    nature = town.get("/v1/place", params={"iri": "urn:town:nature"}).json()["node"]
    assert (nature["used_by"], nature["resources"]) == (THEME, 2)


def test_a_class_without_instances_of_its_own_counts_those_below_it(served):
    served.put("/v1/taxonomy", content=f"{PREFIXES} :Dog rdfs:subClassOf :Animal .", headers=TURTLE)
    served.publish("urn:1", f"{PREFIXES} :rex a :Dog . :kim a :Dog .")
    animal = served.get("/v1/place", params={"iri": "urn:town:Animal"}).json()["node"]
    assert (animal["instances"], animal["used_by"], animal["resources"]) == (0, TYPE, 2)


def test_a_node_has_its_place_in_the_taxonomy(town):
    told = town.get("/v1/place", params={"iri": "<urn:town:water>"}).json()
    assert [each["iri"] for each in told["parents"]] == ["<urn:town:environment>"]
    assert [(each["iri"], each["name"], each["resources"]) for each in told["children"]] == [
        ("<urn:town:bathing>", "Bathing", 2)
    ]
    alone = town.get("/v1/place", params={"iri": "urn:town:beach"}).json()
    assert (alone["parents"], alone["children"], alone["node"]["resources"]) == ([], [], 0)


@pytest.mark.parametrize(
    ("text", "term", "suggestions"),
    [
        ("SELECT ?d { ?d <http://www.w3.org/ns/dcat#keywrd> ?k }", "dcat#keywrd", [KEYWORD]),
        ("SELECT ?d { ?d <urn:other:Keyword> ?k }", "urn:other:Keyword", [KEYWORD]),
        ("SELECT ?d { ?d a <http://www.w3.org/ns/dcat#DataSets> }", "dcat#DataSets", [DATASET]),
        ("SELECT ?d ?q { ?d <http://www.w3.org/ns/dcat#theme> ?t OPTIONAL { ?d <urn:qqq> ?q } }", "urn:qqq", []),
    ],
)
def test_a_property_or_class_that_nothing_has_is_told_with_what_may_be_meant(town, text, term, suggestions):
    """X6: a misspelt query is one that waits for ever."""
    (found,) = town.post("/v1/check", json={"text": text}).json()["findings"]
    assert (found["kind"], found["severity"]) == ("unheard", "warning")
    assert term in found["term"]
    assert term in found["message"]
    assert found["suggestions"] == suggestions


def test_what_is_in_use_is_not_told_to_be_unheard(town):
    below = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>*"
    text = f"SELECT ?d {{ ?d a {DATASET} ; {THEME}/{below} <urn:town:water> }}"
    assert town.post("/v1/check", json={"text": text}).json()["findings"] == []


def test_nothing_is_unheard_where_nothing_is_published(served):
    told = served.post("/v1/check", json={"text": "SELECT ?d { ?d <urn:p> ?o }"}).json()
    assert told["findings"] == []


def test_a_check_speaks_in_the_names_that_the_text_has(town):
    """X6: in the sentence of lint, in the picture, and after it was subscribed to."""
    text = "SELECT ?d { ?d <urn:size> ?mine FILTER (?mine > 5 && ?mine < 3) }"
    told = town.post("/v1/check", json={"text": text}).json()
    (finding,) = told["findings"]
    assert finding["severity"] == "error"
    assert "?mine" in finding["message"]
    assert {node["label"] for node in told["picture"]["alternatives"][0]["nodes"]} == {"?d", "?mine"}


def test_why_not_has_what_fits_and_what_does_not(town):
    """X4: as parts, to be drawn."""
    told = town.post("/v1/subscriptions/sea/why-not", json={"resource": "urn:town:trees"}).json()
    (stop,) = told["stops"]
    assert (stop["failed"], stop["is_condition"]) == (f'?d {KEYWORD} "sea"', False)
    assert stop["seen"] == {"d": ["<urn:town:trees>"]}


def test_a_resource_tells_which_document_states_what(town):
    told = town.get("/v1/resource", params={"iri": "urn:town:bathing"}).json()
    assert set(told["stated_by"]) == {*told["triples"], *told["referenced_by"]}
    assert told["stated_by"]["<urn:town:beach> <http://www.w3.org/ns/dcat#theme> <urn:town:bathing>"] == [
        "urn:doc:beach"
    ]


@pytest.mark.parametrize(("name", "what"), [("a/b", "a slash"), ("a\nb", "a control character")])
def test_a_name_that_fits_no_address_is_refused_in_words(town, name, what):
    told = problem(town.subscribe(name, "SELECT ?d { ?d <urn:p> ?o }"), 422, "bad-request")
    assert told["detail"] == f"body.id: a name is a part of addresses, and must not have {what} in it"


def test_a_theme_is_found_by_the_label_that_the_taxonomy_gives_it(served):
    """M9: no document says what it is called; the label is shown, and any of its languages is found."""
    labels = ":t7 rdfs:label 'Gewässer'@de, 'Bodies of water'@en . :t1 rdfs:label 'Nature' ."
    assert served.put(
        "/v1/taxonomy", content=f"{PREFIXES} :t7 rdfs:subClassOf :t1 . {labels}", headers=TURTLE
    ).is_success
    for words in ("bodies WATER", "gewässer", "urn:town:t7"):
        found = served.get("/v1/search", params={"q": words}).json()["hits"]
        assert [(hit["resource"], hit["name"]) for hit in found] == [("<urn:town:t7>", "Bodies of water")]
    assert served.post("/v1/names", json={"resources": ["urn:town:t1"]}).json()["names"] == {"<urn:town:t1>": "Nature"}
    served.publish("urn:doc", f"{PREFIXES} :t7 rdfs:label 'Waters' .")
    assert served.get("/v1/place", params={"iri": "urn:town:t7"}).json()["node"]["name"] == "Waters"
    served.put("/v1/taxonomy", content=f"{PREFIXES} :t7 rdfs:subClassOf :t1 .", headers=TURTLE)
    assert served.post("/v1/names", json={"resources": ["urn:town:t1"]}).json()["names"] == {}
