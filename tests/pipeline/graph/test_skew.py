"""A class that everything is of, or a popular node, is no task's burden: what is shared out are triples (X8)."""

from __future__ import annotations

import pytest
from tests.pipeline.stages import noted

from triplewire import Index, compile, pipeline

DATASETS, THEMES, PUBLISHERS = 6_000, 50, 300
TURTLE = "uri string, content binary, media_type string"


@pytest.mark.slow
def test_tasks_are_even_though_all_instances_are_of_one_class(spark):
    """Each answer of a theme joins two documents, and all of them name the class."""
    rows = [
        (f"urn:p{number}", f'<urn:p{number}> <urn:name> "Publisher {number}" .'.encode(), "text/turtle")
        for number in range(PUBLISHERS)
    ]
    for number in range(DATASETS):
        theme, publisher = f"<urn:t{number % THEMES}>", f"<urn:p{number % PUBLISHERS}>"
        text = f"<urn:d{number}> a <urn:Dataset> ; <urn:theme> {theme} ; <urn:by> {publisher} ."
        rows.append((f"urn:document:{number}", text.encode(), "text/turtle"))
    index = Index()
    for theme in range(THEMES):
        text = f"SELECT ?d ?n {{ ?d a <urn:Dataset> ; <urn:theme> <urn:t{theme}> ; <urn:by> ?p . ?p <urn:name> ?n }}"
        index.add(str(theme), compile(text, language="sparql"))
    index.add("all", compile("SELECT ?d { ?d a <urn:Dataset> }", language="sparql"))
    documents = spark.createDataFrame(rows, TURTLE).repartition(4)
    with noted(spark) as stages, pipeline.match_graph(spark, documents, index) as found:
        assert found.answers.count() == 2 * DATASETS
        assert found.errors.count() == 0
    shared = [tasks for tasks in stages.shuffled if len(tasks) > 1 and sum(tasks) > DATASETS]
    assert len(shared) >= 4, "terms, two orders of triples, and seeds"
    finding = [tasks for tasks in stages.written if any(tasks)][-1]
    assert sum(finding) >= 2 * DATASETS, "every row; one that two tasks have found twice"
    assert len(finding) >= 8
    assert [tasks for tasks in (*shared, finding) if max(tasks) > 2 * sum(tasks) / len(tasks)] == []


@pytest.mark.slow
def test_tasks_are_even_though_all_answers_lead_through_one_publisher(spark):
    """The rarest triple of the query is the publisher's name, which is one seed."""
    rows = [("urn:names", b'<urn:p> <urn:name> "X" . <urn:q> <urn:name> "Y" .', "text/turtle")]
    for number in range(DATASETS):
        publisher = "<urn:p>" if number % 4 else "<urn:q>"
        text = f'<urn:d{number}> <urn:by> {publisher} ; <urn:title> "title {number}" .'
        rows.append((f"urn:document:{number}", text.encode(), "text/turtle"))
    index = Index()
    by = "?d <urn:by> ?p ; <urn:title> ?t . ?p <urn:name>"
    index.add("x", compile(f"SELECT ?d ?t {{ {by} 'X' }}", language="sparql"))
    index.add("wide", compile(f"SELECT ?d ?e {{ {by} 'X' OPTIONAL {{ ?d <urn:ends> ?e }} }}", language="sparql"))
    documents = spark.createDataFrame(rows, TURTLE).repartition(4)
    with noted(spark) as stages, pipeline.match_graph(spark, documents, index) as found:
        assert found.answers.count() == 2 * (DATASETS - DATASETS // 4)
        assert found.errors.count() == 0
    finding = [tasks for tasks in stages.written if any(tasks)][-1]
    assert sum(finding) == 2 * (DATASETS - DATASETS // 4)
    assert len(finding) >= 4
    assert max(finding) <= 1.5 * sum(finding) / len(finding)
