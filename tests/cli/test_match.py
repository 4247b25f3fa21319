"""`triplewire match` on the demo's files."""

import pytest

from triplewire.errors import PatternError

SUBSCRIPTIONS = ("-s", "subscriptions", "-t", "themes.ttl")


def heard(rows):
    return {(row["document"], row["subscription"]) for row in rows}


def test_every_subscriber_hears_of_what_they_want_and_of_nothing_else(play, call_for_rows):
    """G2, G3, X1: five languages over one catalogue, is-a among them."""
    rows = call_for_rows("match", "catalogue", *SUBSCRIPTIONS)
    assert heard(rows) == {
        ("catalogue/bathing-water.ttl", "maja"),
        ("catalogue/flood-warnings.ttl", "maja"),
        ("catalogue/budget-2025.rdf", "jonas"),
        ("catalogue/parking.ttl", "ines"),
        ("catalogue/cycle-counts.jsonld", "ines"),
        ("catalogue/air-quality.jsonld", "omar"),
        ("catalogue/flood-warnings.ttl", "omar"),
        ("catalogue/parking.ttl", "omar"),
        ("catalogue/tree-register.ttl", "omar"),
        ("catalogue/cycle-counts.jsonld", "lene"),
        ("catalogue/cycle-counts.jsonld", "tomas"),
    }


def test_rows_have_the_terms_in_n_triples_spelling(play, call_for_rows):
    rows = call_for_rows("match", "catalogue/cycle-counts.jsonld", "-s", "subscriptions/tomas.rq")
    assert [row["row"] for row in rows] == [
        {
            "dataset": "<https://data.lindhaven.example/dataset/cycle-counts>",
            "title": '"Bicycles counted on the bridges"@en',
        }
    ]


def test_without_the_taxonomy_is_a_finds_only_the_class_itself(play, call_for_rows):
    """G3"""
    assert heard(call_for_rows("match", "catalogue", "-s", "subscriptions/maja.rq")) == set()


def test_table_names_document_subscription_and_values(play, call):
    result = call("match", "catalogue/parking.ttl", *SUBSCRIPTIONS, "--format", "table")
    assert "ines" in result.stdout
    assert "?file = file:parking.csv" in result.stdout


def test_why_adds_the_triples_that_made_the_match(play, call_for_rows):
    """X4"""
    (row,) = call_for_rows("match", "catalogue/cycle-counts.jsonld", "-s", "subscriptions/tomas.rq", "--why")
    assert any("theme/Cycling" in triple for triple in row["why"])
    assert all(triple in _lines_of("catalogue/cycle-counts.jsonld") for triple in row["why"])


def _lines_of(path):
    from pathlib import Path

    import triplewire

    document = triplewire.parse(Path(path).read_bytes(), uri="https://example.org/")
    return document.ntriples.decode().splitlines()


def test_bad_document_is_reported_and_the_others_are_matched(play, call):
    result = call("match", "broken/lost-and-found.ttl", "catalogue", *SUBSCRIPTIONS)
    assert result.exit_code == 1
    assert "lost-and-found.ttl" in result.stderr
    assert "line 12" in result.stderr
    assert len(result.stdout.splitlines()) == 11


def test_bad_subscription_is_reported_and_the_others_are_served(play, call):
    (play / "subscriptions" / "zoe.rq").write_text("SELECT ?x WHERE { ?x }")
    result = call("match", "catalogue", *SUBSCRIPTIONS)
    assert result.exit_code == 1
    assert "subscriptions/zoe.rq" in result.stderr
    assert len(result.stdout.splitlines()) == 11


def test_summary_counts_everything(play, call):
    result = call("match", "catalogue", *SUBSCRIPTIONS)
    assert result.exit_code == 0
    assert result.stderr.splitlines()[-1] == "13 documents, 6 subscriptions: 11 matches, 11 rows"


def test_saved_index_gives_the_same_answers(play, call_for_rows):
    first = call_for_rows("match", "catalogue", *SUBSCRIPTIONS, "--save-index", "all.index")
    again = call_for_rows("match", "catalogue", "--index", "all.index")
    assert first
    assert sorted(map(str, again)) == sorted(map(str, first))


def test_index_that_is_none_is_a_usage_error(play, call):
    (play / "all.index").write_text("not an index")
    assert call("match", "catalogue", "--index", "all.index").exit_code == 2
    assert call("match", "catalogue", "--index", "absent.index").exit_code == 2


def test_folder_for_the_saved_index_that_is_absent_is_a_usage_error(play, call):
    assert call("match", "catalogue", *SUBSCRIPTIONS, "--save-index", "no/such/folder").exit_code == 2


def test_json_lines_hold_many_subscriptions(play, call_for_rows):
    (play / "many.jsonl").write_text(
        '{"id": "a", "language": "conjunctive", "text": "?d : (?d, dcat:keyword, \\"tree\\")"}\n'
        "\n"
        '{"id": "b", "language": "gql", "text": "SELECT ?d WHERE (?d, c:keyword, \\"bus\\")",'
        ' "prefixes": {"c": "http://www.w3.org/ns/dcat#"}}\n'
    )
    rows = call_for_rows("match", "catalogue/*.ttl", "-s", "many.jsonl")
    assert heard(rows) == {("catalogue/tree-register.ttl", "a"), ("catalogue/bus-timetables.ttl", "b")}


def test_a_line_that_is_no_subscription_is_named_by_its_number(play, call):
    (play / "many.jsonl").write_text('{"id": "a"}\nnot json\n')
    result = call("match", "catalogue", "-s", "many.jsonl")
    assert result.exit_code == 1
    assert "many.jsonl, line 1" in result.stderr
    assert "many.jsonl, line 2" in result.stderr


def test_a_rule_may_use_a_rule_of_a_later_file(play, call_for_rows):
    """M3: another rule as extension."""
    (play / "rules").mkdir()
    (play / "rules" / "a.rules").write_text("search Large d register d where d.dcterms:title contains 'budget'")
    (play / "rules" / "Large.rules").write_text(
        "search dcat:Dataset d register d where d.dcat:distribution.dcat:byteSize > 2000000"
    )
    prefix = "dcterms=http://purl.org/dc/terms/"
    rows = call_for_rows("match", "catalogue", "-s", "rules/a.rules", "-s", "rules/Large.rules", "-p", prefix)
    assert {row["document"] for row in rows if row["subscription"] == "a"} == {"catalogue/budget-2025.rdf"}


def test_the_same_id_twice_is_reported(play, call):
    result = call("match", "catalogue", "-s", "subscriptions/tomas.rq", "-s", "broken/../subscriptions/tomas.rq")
    assert result.exit_code == 1
    assert "'tomas'" in result.stderr


def test_unknown_file_type_says_which_are_known(play, call):
    (play / "notes.txt").write_text("hello")
    result = call("match", "catalogue", "-s", "notes.txt")
    assert result.exit_code == 1
    assert "notes.txt" in result.stderr
    assert ".rules" in result.stderr


def test_path_that_is_absent_and_folder_that_is_empty_are_reported(play, call):
    (play / "empty").mkdir()
    result = call("match", "absent.ttl", "empty", "-s", "subscriptions/tomas.rq")
    assert result.exit_code == 1
    assert "absent.ttl: there is no such file or folder" in result.stderr
    assert "empty: there is no document in this folder" in result.stderr


def test_no_subscription_at_all_is_a_usage_error(play, call):
    result = call("match", "catalogue")
    assert result.exit_code == 2
    assert "--index" in result.stderr


def test_malformed_prefix_is_a_usage_error(play, call):
    assert call("match", "catalogue", *SUBSCRIPTIONS, "-p", "dcat").exit_code == 2


def test_taxonomy_with_a_cycle_stops_the_command(play, call):
    """G3: answers without the taxonomy would look right and lack what is-a finds."""
    (play / "cycle.ttl").write_text(
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix : <urn:x:> ."
        " :a rdfs:subClassOf :b . :b rdfs:subClassOf :a ."
    )
    result = call("match", "catalogue", "-s", "subscriptions", "-t", "cycle.ttl")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the taxonomy cycle.ttl cannot be used" in result.stderr
    assert "cycle" in result.stderr.partition("used:")[2]


@pytest.mark.parametrize("command", [("match", "catalogue", "-s"), ("explain", "-s"), ("lint",)])
def test_taxonomy_that_cannot_be_read_stops_every_command(play, call, command):
    (play / "bad.ttl").write_text("<urn:a> <urn:b>")
    for file in ("bad.ttl", "absent.ttl"):
        result = call(*command, "subscriptions", "-t", file)
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"the taxonomy {file} cannot be used" in result.stderr


def test_folder_as_taxonomy_is_a_usage_error(play, call):
    result = call("match", "catalogue", "-s", "subscriptions", "-t", "catalogue")
    assert result.exit_code == 2
    assert "the taxonomy catalogue is a folder; name one file of RDFS" in result.stderr


def test_subscription_that_the_index_refuses_is_named_by_its_file(play, monkeypatch, call):
    """The index's own words need not name the subscription, so the command does."""

    def refuse(index, id, pattern):
        raise PatternError("a pattern was put together wrongly")

    monkeypatch.setattr("triplewire.Index.add", refuse)
    result = call("match", "catalogue", "-s", "subscriptions/tomas.rq")
    assert result.exit_code == 1
    assert "subscriptions/tomas.rq: a pattern was put together wrongly" in result.stderr


def test_query_that_every_document_would_match_is_a_problem_of_its_file(play, call):
    (play / "a.rq").write_text("ASK {}")
    result = call("match", "catalogue", "-s", "a.rq", "-s", "subscriptions/tomas.rq")
    assert result.exit_code == 1
    assert "problem: a.rq: sparql at line 1, column 1: the query has no triple pattern" in result.stderr
    assert len(result.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (r'{"id": "\ud800", "language": "conjunctive", "text": "?d : (?d, dcat:keyword, ?k)"}', "surrogate"),
        (r'{"id": "a", "language": "gql", "text": "", "prefixes": {"x": "urn:\udfff"}}', "surrogate"),
        ("[" * 80_000, "nested too deeply"),
    ],
    ids=["id", "prefix", "nesting"],
)
@pytest.mark.parametrize("command", [("match", "catalogue", "-s"), ("explain", "-s"), ("lint",)])
def test_line_that_cannot_be_read_or_printed_is_a_problem_and_the_next_is_served(play, call, command, line, words):
    good = '{"id": "good", "language": "conjunctive", "text": "?d : (?d, dcat:keyword, ?k)"}'
    (play / "many.jsonl").write_text(f"{line}\n{good}\n")
    result = call(*command, "many.jsonl")
    assert result.exit_code == 1
    assert "many.jsonl, line 1" in result.stderr
    assert words in result.stderr
    assert "line 2" not in result.stderr


def test_line_separator_inside_a_json_text_does_not_end_the_line(play, call):
    """JSON allows U+2028 in a text as it is."""
    text = "?d : (?d, dcat:keyword, \u2028?k)"
    (play / "many.jsonl").write_text(f'{{"id": "a", "language": "conjunctive", "text": "{text}"}}', encoding="utf-8")
    assert call("match", "catalogue", "-s", "many.jsonl").exit_code == 0


def test_subscription_that_is_not_utf_8_says_what_to_do(play, call):
    (play / "latin.rq").write_bytes("ASK { ?x ?y 'é' }".encode("latin-1"))
    (play / "latin.txt").write_bytes((play / "latin.rq").read_bytes())
    for command in (("match", "catalogue", "-s", "latin.rq"), ("compile", "-l", "sparql", "latin.txt")):
        result = call(*command)
        assert result.exit_code == 1
        assert f"{command[-1]}: byte 14 is not UTF-8; save the file as UTF-8" in result.stderr


@pytest.mark.parametrize("given", ["gone.ttl", "go*.ttl", "linked"])
def test_link_whose_target_is_gone_is_reported(play, call, given):
    (play / "linked").mkdir()
    for link in (play / "gone.ttl", play / "linked" / "gone.ttl"):
        link.symlink_to(play / "nowhere.ttl")
    result = call("match", given, "-s", "subscriptions/tomas.rq")
    assert result.exit_code == 1
    assert "gone.ttl: it cannot be read: it is a link to something that is not there" in result.stderr


def test_path_that_the_system_refuses_is_reported(play, call):
    result = call("match", "x" * 5000, "catalogue/cycle-counts.jsonld", "-s", "subscriptions/tomas.rq")
    assert result.exit_code == 1
    assert "File name too long" in result.stderr
    assert len(result.stdout.splitlines()) == 1
