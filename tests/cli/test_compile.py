"""`triplewire compile`."""

import json

import pytest

TEXT = '?x, ?y : (?x, topic, "P2P") ^ (?x, citation, ?y)'


def test_text_prints_one_condition_to_a_line(call):
    result = call("compile", "-l", "conjunctive", TEXT, "-p", "=urn:v:")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "answer    ?x ?y"
    assert '  triple    ?x :topic "P2P"' in result.stdout.splitlines()


def test_json_has_terms_and_variables_as_texts(call):
    result = call("compile", "-l", "gql", "SELECT ?x WHERE (?x, year, ?y) SUCHTHAT (?y > 2000)", "-f", "json")
    pattern = json.loads(result.stdout)
    assert pattern["answer"] == ["x"]
    (branch,) = pattern["branches"]
    assert branch["triples"][0][:2] == ["?x", "<urn:triplewire:name:year>"]
    assert branch["conditions"][0][0] == "~>"


def test_equivalent_texts_print_the_same(play, call):
    """N6: Lene writes a conjunctive query, Tomas SPARQL."""
    lene = call("compile", "subscriptions/lene.cq", "--format", "json")
    tomas = call("compile", "subscriptions/tomas.rq", "--format", "json")
    assert lene.stdout == tomas.stdout


@pytest.mark.parametrize("language", ["sparql", "rules", "gql", "qel", "conjunctive"])
def test_pattern_is_written_in_every_language_that_has_the_words(call, language):
    text = '?x : (?x, rdf:type, Paper) ^ (?x, topic, "P2P")'
    rendered = call("compile", "-l", "conjunctive", text, "--to", language).stdout
    again = call("compile", "-l", language, rendered, "-f", "json")
    assert again.stdout == call("compile", "-l", "conjunctive", text, "-f", "json").stdout


def test_language_that_cannot_say_it_says_so(play, call):
    result = call("compile", "-l", "conjunctive", "?x : (?x, p, ?y) ^ (?y, q, ?z)", "--to", "qel")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "qel" in result.stderr


def test_error_has_line_and_column(call):
    result = call("compile", "-l", "rules", "search Dataset d\nregister d\nwhere d.title containing 'x'")
    assert result.exit_code == 1
    assert "line 3, column" in result.stderr


def test_text_without_a_language_is_a_usage_error(call):
    assert call("compile", TEXT).exit_code == 2


def test_file_that_is_absent_is_a_usage_error(play, call):
    result = call("compile", "absent.rq", "-l", "sparql")
    assert result.exit_code == 2
    assert "absent.rq" in result.stderr


def test_unknown_language_is_named_with_those_that_there_are(call):
    result = call("compile", "-l", "prolog", TEXT)
    assert result.exit_code == 1
    assert "sparql" in result.stderr


def test_file_of_another_name_needs_a_language(play, call):
    (play / "query.txt").write_text(TEXT)
    assert call("compile", "query.txt").exit_code == 2
    assert call("compile", "query.txt", "-l", "conjunctive").exit_code == 0
