"""Documents against a schema: MDV's example accepted, and broken in every way (M2, M7)."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple
from tests.contracts.examples import DOC, FIGURE_1, MDV

from effort import examples
from strategies import CLASSES, NODES, PREDICATES, graphs, iri
from triplewire import Document, Schema, SchemaViolation, parse
from triplewire.errors import SchemaError, TaxonomyError
from triplewire.model import RDF, RDFS, XSD
from triplewire.schema import SCHEMA, Limit

PREFIXES = f"""
@prefix : <{MDV}> . @prefix tw: <{SCHEMA}> . @prefix rdf: <{RDF}> . @prefix rdfs: <{RDFS}> . @prefix xsd: <{XSD}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix doc: <{DOC}#> .
"""
OBJECT_GLOBE = """
:Provider a rdfs:Class .
:CycleProvider a rdfs:Class ; rdfs:subClassOf :Provider .
:ServerInformation a rdfs:Class .
:serverHost a rdf:Property ; rdfs:domain :Provider ; rdfs:range xsd:string ; tw:setValued false ; tw:minimum 1 .
:serverPort a rdf:Property ; rdfs:domain :Provider ; rdfs:range xsd:integer ; tw:setValued false .
:synthValue a rdf:Property ; rdfs:domain :CycleProvider ; rdfs:range xsd:integer .
:serverInformation a rdf:Property ; rdfs:domain :Provider ; rdfs:range :ServerInformation ;
    tw:setValued false ; tw:strongReference true .
:memory a rdf:Property ; rdfs:domain :ServerInformation ; rdfs:range xsd:integer ; tw:maximum 1 .
:cpu a rdf:Property ; rdfs:domain :ServerInformation ; rdfs:range xsd:integer ; tw:maximum 1 .
:neighbour a rdf:Property ; rdfs:domain :Provider ; rdfs:range :Provider ; tw:weakReference true ; tw:maximum 2 .
"""
"""The schema that figure 1 and sections 2.1 and 2.4 speak of, with a set-valued property and a superclass."""

HOST = ":CycleProvider ; :serverHost 'pirates.uni-passau.de'"


def triples(text):
    return parse(PREFIXES + text, uri=DOC, media_type="text/turtle").triples


def schema(text):
    return Schema.from_triples(triples(text))


MDV_SCHEMA = schema(OBJECT_GLOBE)


def broken(text, known=None, rules=MDV_SCHEMA, **options):
    """Resource, property and value of each violation, by their last names."""

    def short(term):
        return None if term is None else term.value.rpartition("#")[2]

    found = rules.check(triples(text), known, **options)
    for violation in found:
        assert str(violation.resource) in violation.reason
        assert "; " in violation.reason, "a reason says what to do"
        assert violation.triple.subject == violation.resource
    return [(short(violation.resource), short(violation.property), short(violation.value)) for violation in found]


def test_the_document_of_figure_1_conforms():
    """Its numbers are plain text, as in all RDF of its time: how they are spelled counts."""
    assert MDV_SCHEMA.check(FIGURE_1.triples()) == []
    assert MDV_SCHEMA.check(FIGURE_1.triples(), closed=True) == []


BROKEN = {
    "a property of another class": (
        f"doc:host a {HOST} ; :memory 92 .",
        ("host", "memory", "92"),
    ),
    "a property of a resource without a class": ("doc:host :serverHost 'a' .", ("host", "serverHost", "a")),
    "a reference to a resource of another class": (
        f"doc:host a {HOST} ; :serverInformation doc:other . doc:other a {HOST} .",
        ("host", "serverInformation", "other"),
    ),
    "a reference to a resource without a class": (
        f"doc:host a {HOST} ; :serverInformation doc:info . doc:info rdfs:label 'x' .",
        ("host", "serverInformation", "info"),
    ),
    "a reference to an unclassed blank node": (
        f"doc:host a {HOST} ; :serverInformation [ rdfs:label 'x' ] .",
        ("host", "serverInformation", "c14n0"),
    ),
    "a reference to a blank node of which nothing is said": (
        f"doc:host a {HOST} ; :serverInformation [] .",
        ("host", "serverInformation", "c14n0"),
    ),
    "a literal in place of a resource": (
        f"doc:host a {HOST} ; :serverInformation 'info' .",
        ("host", "serverInformation", "info"),
    ),
    "a resource in place of a literal": (f"doc:host a {HOST} ; :serverPort doc:p .", ("host", "serverPort", "p")),
    "text that is no number": (f"doc:host a {HOST} ; :serverPort 'ssh' .", ("host", "serverPort", "ssh")),
    "a number that is ill-typed": (
        f"doc:host a {HOST} ; :serverPort 'x'^^xsd:integer .",
        ("host", "serverPort", "x"),
    ),
    "a number of another type": (f"doc:host a {HOST} ; :serverPort 58.5 .", ("host", "serverPort", "58.5")),
    "text with a language in place of a number": (
        f"doc:host a {HOST} ; :serverPort '1'@en .",
        ("host", "serverPort", "1"),
    ),
    "a second value of a single-valued property": (
        f"doc:host a {HOST} ; :serverPort 1, 2 .",
        ("host", "serverPort", "2"),
    ),
    "more values than the maximum": (
        f"doc:host a {HOST} ; :neighbour doc:a, doc:b, doc:c .",
        ("host", "neighbour", "c"),
    ),
    "a value that is missing": ("doc:host a :CycleProvider .", ("host", "serverHost", None)),
}


@pytest.mark.parametrize(("text", "expected"), BROKEN.values(), ids=BROKEN)
def test_a_document_that_breaks_the_schema_is_told_where(text, expected):
    assert broken(text) == [expected]


def test_every_violation_of_a_document_is_told_and_not_only_the_first():
    text = "doc:host a :CycleProvider ; :memory 'much' ; :serverPort 1, 2 ."
    assert sorted(broken(text), key=str) == [
        ("host", "memory", "much"),
        ("host", "memory", "much"),
        ("host", "serverHost", None),
        ("host", "serverPort", "2"),
    ]


def test_a_violation_has_the_statement_and_reads_as_a_sentence():
    (violation,) = MDV_SCHEMA.check(triples(f"doc:host a {HOST} ; :memory 92 ."))
    assert violation.triple == Triple(NamedNode(DOC + "#host"), NamedNode(MDV + "memory"), Literal(92))
    assert str(violation) == (
        f"<{DOC}#host> has <{MDV}memory>, which only a <{MDV}ServerInformation> has; "
        "state that it is one, or leave the property out"
    )


def test_an_instance_of_a_subclass_has_the_properties_of_the_class_and_stands_for_it():
    assert broken(f"doc:host a {HOST} ; :neighbour doc:other . doc:other a {HOST} .") == []


def test_an_instance_of_the_superclass_lacks_the_properties_of_the_subclass():
    assert broken("doc:host a :Provider ; :serverHost 'a' ; :synthValue 1 .") == [("host", "synthValue", "1")]


def test_a_derived_datatype_is_in_the_range_of_its_base():
    assert broken(f"doc:host a {HOST} ; :serverPort '22'^^xsd:unsignedShort .") == []
    assert broken(f"doc:host a {HOST} ; :serverPort '-1'^^xsd:unsignedShort .") == [("host", "serverPort", "-1")]


def test_a_blank_node_with_its_class_conforms():
    assert broken(f"doc:host a {HOST} ; :serverInformation [ a :ServerInformation ; :memory 92 ] .") == []


ELSEWHERE = f"doc:host a {HOST} ; :serverInformation <http://example.org/other.rdf#info> ."


def test_a_resource_that_another_document_describes_is_judged_by_what_is_known_of_it():
    asked = []

    def known(resource):
        asked.append(resource)
        return answers.get(resource)

    answers = {}
    assert broken(ELSEWHERE) == broken(ELSEWHERE, known) == []
    assert "http://example.org/other.rdf#info" in asked
    answers["http://example.org/other.rdf#info"] = {MDV + "ServerInformation"}
    assert broken(ELSEWHERE, known) == []
    answers["http://example.org/other.rdf#info"] = {MDV + "CycleProvider"}
    assert broken(ELSEWHERE, known) == [("host", "serverInformation", "info")]


def test_a_document_may_add_to_a_resource_whose_class_another_one_states():
    """Its minimum is the business of the document that states the class."""
    text = "doc:host :serverPort 22 ."
    assert broken(text) == [("host", "serverPort", "22")]
    assert broken(text, lambda resource: [MDV + "CycleProvider"]) == []


def test_what_is_known_of_all_resources_that_are_asked_about_is_enough():
    """One lookup for the whole document: nothing is asked that the document itself says."""
    text = "doc:host :serverPort 22 ; :serverInformation doc:info . doc:info a :ServerInformation ; :memory 1 ."
    wanted = MDV_SCHEMA.asks(triples(text))
    assert wanted == {f"{DOC}#host"}
    assert MDV_SCHEMA.asks(triples(ELSEWHERE)) == {"http://example.org/other.rdf#info"}
    answers = {name: [MDV + "CycleProvider"] for name in wanted}
    assert broken(text, answers.__getitem__) == []


def test_several_domains_and_ranges_must_all_hold():
    rules = schema(":p rdfs:domain :A, :B ; rdfs:range :C, :D .")
    assert broken("doc:a a :A, :B ; :p doc:c . doc:c a :C, :D .", rules=rules) == []
    assert broken("doc:a a :A ; :p doc:c . doc:c a :D .", rules=rules) == [("a", "p", "c")] * 2


def test_a_minimum_is_for_the_resources_of_all_domains():
    rules = schema(":p rdfs:domain :A, :B ; tw:minimum 1 . :label rdfs:domain rdfs:Resource ; tw:minimum 1 .")
    assert broken("doc:a a :A ; :label 'a' . doc:b a :B ; :label 'b' .", rules=rules) == []
    assert broken("doc:c a :A, :B ; :label 'c' .", rules=rules) == [("c", "p", None)]
    assert broken("doc:d :colour 'red' .", rules=rules) == [("d", "label", None)]


def test_what_is_declared_of_a_property_holds_for_the_properties_below_it():
    """RDFS: a statement with a property states those above it as well."""
    rules = schema(":part rdfs:domain :Whole ; tw:maximum 1 . :wheel rdfs:subPropertyOf :part .")
    assert broken("doc:x :wheel doc:w .", rules=rules) == [("x", "wheel", "w")]
    assert broken("doc:x a :Whole ; :wheel doc:w ; :part doc:v .", rules=rules) == [("x", "wheel", "w")]
    assert broken("doc:x a :Whole ; :wheel doc:w ; :part doc:w .", rules=rules) == []


def test_unknown_properties_and_classes_are_allowed_unless_the_schema_is_closed():
    text = f"doc:host a {HOST} ; :colour 'red' ; rdfs:label 'x' . doc:x a :Car ."
    assert broken(text) == []
    found = MDV_SCHEMA.check(triples(text), closed=True)
    assert {(v.property.value, v.value.value) for v in found} == {(MDV + "colour", "red"), (RDF + "type", MDV + "Car")}


FUNCTIONAL = {
    "functional property": ":p a owl:FunctionalProperty .",
    "not set-valued": ":p tw:setValued false .",
    "maximum": ":p tw:maximum 1 .",
    "cardinality": ":C rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:cardinality 1 ] .",
    "max cardinality": ":C rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:maxCardinality 1 ] .",
    "restriction of a superclass": ":C rdfs:subClassOf :B . "
    ":B rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:maxCardinality 1 ] .",
}


@pytest.mark.parametrize("text", FUNCTIONAL.values(), ids=FUNCTIONAL)
def test_a_property_is_limited_to_one_value_in_each_way_of_saying_it(text):
    assert broken("doc:a a :C ; :p 1 .", rules=schema(text)) == []
    assert broken("doc:a a :C ; :p 1, 2 .", rules=schema(text)) == [("a", "p", "2")]


def test_a_restriction_limits_the_resources_of_its_class_alone():
    rules = schema(":C rdfs:subClassOf [ owl:onProperty :p ; owl:minCardinality 2 ; owl:maxCardinality 3 ] .")
    assert rules.limits == {Limit(MDV + "p", frozenset([MDV + "C"]), 2, 3)}
    assert broken("doc:a a :C ; :p 1 .", rules=rules) == [("a", "p", None)]
    assert broken("doc:a a :C ; :p 1, 2, 3, 4 .", rules=rules) == [("a", "p", "4")]
    assert broken("doc:a a :D ; :p 1, 2, 3, 4 . doc:b a :D .", rules=rules) == []


def test_a_property_without_a_limit_may_have_any_number_of_values():
    """Vocabularies of the web do not say set-valued; MDV's rule would refuse most of their documents."""
    assert broken("doc:a a :C ; :p 1, 2, 3 .", rules=schema(":p rdfs:domain :C .")) == []


RANGES = [
    ("rdfs:Literal", "'x', 'x'@en, 1", ""),
    ("rdfs:Resource", "'x', doc:a", ""),
    ("owl:Thing", "doc:a", "'x'"),
    ("rdf:langString", "'x'@en", "'y'"),
    ("xsd:string", "'x', 'x'^^xsd:token", "'y'@en"),
    ("xsd:boolean", "true, '0'", "'yes'"),
    ("xsd:date", "'2020-02-29', '2020-01-01Z'^^xsd:date", "'2021-02-29'"),
    ("xsd:dateTime", "'2020-01-01T00:00:00Z'", "'2020-01-01'"),
    ("xsd:decimal", "1, 1.5, '.5'", "'1e3'"),
    ("xsd:double", "1e3, '1e3', 'INF'", "'much'"),
    ("xsd:gYear", "'2020', '2020'^^xsd:gYear", "'20'"),
    ("xsd:time", "'23:59:59'", "'25:00:00'"),
    ("xsd:duration", "'P1Y', 'PT1S', '-P1DT1H'", "'P'"),
    ("xsd:anyURI", "'http://example.org/'^^xsd:anyURI", "'not a uri'"),
    ("xsd:hexBinary", "'0aFF'", "'abc'"),
    (":age", "'7', '7'^^:age", "'old'^^:age"),
    (":colour", "'red'^^:colour, 'red'", "doc:red"),
]
DATATYPES = ":age a rdfs:Datatype ; rdfs:subClassOf xsd:integer . :colour a rdfs:Datatype . "


@pytest.mark.parametrize(("range", "good", "bad"), RANGES, ids=[range for range, _, _ in RANGES])
def test_the_values_of_a_range_are_judged_by_type_and_spelling(range, good, bad):
    rules = schema(f"{DATATYPES} :p rdfs:range {range} .")
    assert broken(f"doc:x :p {good} .", rules=rules) == []
    if bad:
        assert len(broken(f"doc:x :p {bad} .", rules=rules)) == 1


CONTRADICTIONS = {
    "strong and weak": ":p tw:strongReference true ; tw:weakReference true .",
    "a strong class and a weak statement": ":p a tw:StrongReference ; tw:strongReference false .",
    "true and false": ":p tw:setValued true, false .",
    "set-valued and functional": ":p a owl:FunctionalProperty ; tw:setValued true .",
    "minimum over maximum": ":p rdfs:domain :C ; tw:minimum 2 ; tw:maximum 1 .",
    "a minimum for nobody": ":p tw:minimum 1 .",
    "a number that is none": ":p tw:maximum 'many' .",
    "a truth that is none": ":p tw:setValued 'perhaps' .",
    "properties of literals": ":p rdfs:domain xsd:string .",
    "a crossed restriction": ":C rdfs:subClassOf [ owl:onProperty :p ; owl:minCardinality 2 ; owl:maxCardinality 1 ] .",
}


@pytest.mark.parametrize("text", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_schema_that_contradicts_itself_is_refused_with_what_to_do(text):
    with pytest.raises(SchemaError, match=r"<.*; (take|give|write|change|name)"):
        schema(text)


def test_a_cycle_of_classes_is_refused():
    with pytest.raises(TaxonomyError):
        schema(":A rdfs:subClassOf :B . :B rdfs:subClassOf :A .")


def test_strong_references_are_those_that_are_declared_and_those_below_them():
    """M7: MDV section 2.4 leaves the decision to the schema's designer."""
    assert MDV_SCHEMA.strong == {MDV + "serverInformation"}
    rules = schema(
        ":part a tw:StrongReference . :wheel rdfs:subPropertyOf :part . :maker rdfs:subPropertyOf :part ; "
        "tw:weakReference true . :seller rdfs:domain :Car . :owner tw:weakReference false ."
    )
    assert rules.strong == {MDV + name for name in ("part", "wheel", "owner")}


def test_a_schema_is_saved_as_triples_and_made_again_from_them():
    saved = Document.from_triples("urn:schema", MDV_SCHEMA.triples)
    again = Schema.from_triples(saved.triples)
    assert again == MDV_SCHEMA
    assert hash(again) == hash(MDV_SCHEMA)
    assert pickle.loads(pickle.dumps(MDV_SCHEMA)) == MDV_SCHEMA
    assert Schema.from_triples(Quad(*triple, iri("graph")) for triple in MDV_SCHEMA.triples) == MDV_SCHEMA
    assert schema(OBJECT_GLOBE.replace("tw:maximum 2", "tw:maximum 3")) != MDV_SCHEMA
    assert schema(OBJECT_GLOBE + ":ServerInformation rdfs:subClassOf :Information .") != MDV_SCHEMA


def test_a_schema_says_how_large_it_is():
    assert repr(MDV_SCHEMA) == "<Schema of 7 properties and 3 classes>"
    assert MDV + "CycleProvider" in MDV_SCHEMA.classes
    assert MDV + "memory" in MDV_SCHEMA.properties


def test_the_error_of_a_refused_document_carries_its_violations_across_processes():
    found = MDV_SCHEMA.check(triples("doc:host a :CycleProvider ; :serverPort 1, 2 ."))
    error = SchemaViolation(found, uri=DOC)
    assert str(error) == f"{DOC}: it breaks the schema: {found[0].reason} (and 1 more: see `violations`)"
    copy = pickle.loads(pickle.dumps(error))
    assert copy.violations == tuple(found)
    assert str(copy) == str(error)


@settings(max_examples=examples(200), deadline=None)
@given(graphs)
def test_a_schema_without_statements_accepts_everything(graph):
    assert Schema().check(graph) == []
    assert Schema().check(graph, lambda resource: [RDFS + "Class"]) == []


def _word(namespace, name):
    return NamedNode(namespace + name)


@st.composite
def schemas(draw):
    """Classes below classes, properties with domains, ranges and limits; the ranges of each property."""
    stated, ranges = [], {}
    for i, narrower in enumerate(CLASSES):
        for broader in draw(st.sets(st.sampled_from(CLASSES[:i]))) if i else ():
            stated.append(Triple(narrower, _word(RDFS, "subClassOf"), broader))
    for name in PREDICATES:
        kind = draw(st.sampled_from(["integer", "string", "class", "none"]))
        limit = draw(st.sampled_from([(), ("minimum",), ("maximum",), ("minimum", "maximum")]))
        stated.append(Triple(name, _word(RDFS, "domain"), draw(st.sampled_from(CLASSES))))
        ranges[name] = draw(st.sampled_from(CLASSES)) if kind == "class" else _word(XSD, kind)
        if kind != "none":
            stated.append(Triple(name, _word(RDFS, "range"), ranges[name]))
        stated += [Triple(name, _word(SCHEMA, word), Literal(2)) for word in limit]
    return Schema.from_triples(stated), ranges


@st.composite
def fitting(draw):
    """A schema, and a document made to fit: all resources are in all classes, and have two values of each property."""
    rules, ranges = draw(schemas())
    nodes = draw(st.lists(st.sampled_from([*NODES, BlankNode("b")]), min_size=2, max_size=4, unique=True))
    graph = [Triple(node, _word(RDF, "type"), kind) for node in nodes for kind in CLASSES]
    for node in nodes:
        for name, range in ranges.items():
            values = nodes[:2] if range in CLASSES else [Literal("1", datatype=range), Literal("2", datatype=range)]
            graph += [Triple(node, name, value) for value in values]
    return rules, draw(st.permutations(graph))


@settings(max_examples=examples(200), deadline=None)
@given(fitting(), st.data())
def test_a_document_made_to_fit_a_schema_has_no_violation_and_one_that_is_bent_has(made, data):
    rules, graph = made
    assert rules.check(graph) == []
    chosen = data.draw(st.sampled_from([t for t in graph if t.predicate in PREDICATES]))
    limits = [limit for limit in rules.limits if limit.property == chosen.predicate.value]
    found = rules.check([*graph, Triple(chosen.subject, chosen.predicate, Literal("3", datatype=iri("odd")))])
    has_range = any(t.subject == chosen.predicate and t.predicate.value == RDFS + "range" for t in rules.triples)
    assert bool(found) == (has_range or any(limit.maximum for limit in limits))
    fewer = rules.check([t for t in graph if t != chosen])
    assert {(v.resource, v.property) for v in fewer} == (
        {(chosen.subject, chosen.predicate)} if any(limit.minimum for limit in limits) else set()
    )


@settings(max_examples=examples(200), deadline=None)
@given(schemas(), graphs, st.dictionaries(st.sampled_from([*NODES, *CLASSES]), st.sets(st.sampled_from(CLASSES))))
def test_the_answers_do_not_decide_what_is_asked(made, graph, answers):
    """Invariant of `schema.schema`: `asks` foretells every question of `check`, whatever is known."""
    rules, asked = made[0], set()

    def known(resource):
        asked.add(resource)
        return [kind.value for kind in answers.get(NamedNode(resource), ())]

    rules.check(graph, known)
    assert asked == rules.asks(graph)
