"""`triplewire match` on Spark."""

import json
import time
from io import StringIO

import pytest
from rich.console import Console
from typer.testing import CliRunner

from triplewire import Index, compile, pipeline
from triplewire.cli import batches
from triplewire.cli.app import app
from triplewire.demo.files import copy_to
from triplewire.pipeline.tally import watched


@pytest.fixture
def play(tmp_path, monkeypatch):
    """A copy of the demo's files, as the working folder."""
    copy_to(tmp_path / "play")
    monkeypatch.chdir(tmp_path / "play")
    return tmp_path / "play"


@pytest.fixture
def call(spark):
    """Run the command; it takes the session that is there."""

    def run(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


SUBSCRIPTIONS = ("--subscriptions", "subscriptions", "--taxonomy", "themes.ttl")


def lines(folder):
    return [json.loads(line) for file in sorted(folder.glob("*.json")) for line in file.read_text().splitlines()]


def told(rows):
    return {(row["document"].rpartition("/")[2], row["subscription"], frozenset(row["row"].items())) for row in rows}


def test_command_of_the_docs_writes_the_answers_that_one_process_prints(play, call, spark):
    """X8: the same subscriptions and documents, on Spark and without."""
    result = call("match", *SUBSCRIPTIONS, "--documents", "catalogue", "--out", "found", "--master", "local[2]")
    assert result.exit_code == 0, result.stderr
    written = spark.read.parquet(str(play / "found" / "answers"))
    assert written.columns == ["subscription", "row", "document"]
    printed = [json.loads(line) for line in call("match", "catalogue", *SUBSCRIPTIONS).stdout.splitlines()]
    found = told(row.asDict() for row in written.collect())
    assert found == told(printed)
    assert len(found) == 11
    assert spark.read.parquet(str(play / "found" / "bad")).count() == 0
    assert "13 documents, 6 subscriptions: 11 matches, 11 rows in found/answers" in result.stderr


def test_bad_documents_have_a_table_of_their_own_and_the_exit_code_says_so(play, call):
    result = call("match", *SUBSCRIPTIONS, "catalogue", "broken/lost-and-found.ttl", "--out", "found", "--to", "jsonl")
    assert result.exit_code == 1
    assert len(lines(play / "found" / "answers")) == 11
    (bad,) = lines(play / "found" / "bad")
    assert bad["document"].endswith("broken/lost-and-found.ttl")
    assert "line 12" in bad["reason"]
    assert "lost-and-found.ttl: at line 12" in result.stderr
    assert "1 problem in found/bad" in result.stderr


def test_many_bad_documents_are_all_written_and_some_are_shown(play, call, monkeypatch):
    monkeypatch.setattr("triplewire.pipeline.tally.MOST_KEPT", 12)
    (play / "many").mkdir()
    for number in range(30):
        (play / "many" / f"{number}.ttl").write_text("<")
    result = call("match", *SUBSCRIPTIONS, "-d", "many", "--out", "found", "--to", "jsonl")
    assert len(lines(play / "found" / "bad")) == 30
    assert "there are 20 more problems" in result.stderr


def test_what_is_there_is_not_overwritten_unless_that_is_said(play, call):
    (play / "found").mkdir()
    result = call("match", *SUBSCRIPTIONS, "catalogue", "--out", "found")
    assert result.exit_code == 2
    assert "found is there already" in result.stderr
    assert call("match", *SUBSCRIPTIONS, "catalogue", "--out", play.as_uri() + "/found").exit_code == 2
    assert call("match", *SUBSCRIPTIONS, "catalogue", "--out", "found", "--overwrite").exit_code == 0
    assert (play / "found" / "answers" / "_SUCCESS").exists()


def test_dump_and_table_are_read_as_the_options_say(play, call, spark):
    (play / "d.nt").write_text('<urn:a> <urn:p> "1" .\n<urn:b> <urn:p> "1" .\n')
    (play / "p.rq").write_text("SELECT ?s { ?s <urn:p> ?o }")
    call("match", "-s", "p.rq", "d.nt", "--split", "subject", "--out", "found", "--to", "jsonl")
    assert {row["document"] for row in lines(play / "found" / "answers")} == {"urn:a", "urn:b"}
    spark.createDataFrame([("urn:c", "<urn:s> <urn:p> 1 .")], "id string, text string").write.parquet(str(play / "t"))
    columns = ("--content-column", "text", "--uri-column", "id")
    call("match", "-s", "p.rq", "t", *columns, "--out", "found2", "--to", "jsonl")
    assert [row["document"] for row in lines(play / "found2" / "answers")] == ["urn:c"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--master", "local[2]"), "--out"),
        (("--split", "graph"), "--out"),
        (("--scope", "graph"), "hub"),
        (("--out", "found", "--why"), "--why"),
        (("--out", "found", "--conf", "nonsense"), "KEY=VALUE"),
        (("--out", "found", "nowhere"), "no such file"),
        (("--out", "found", "s3a://bucket/a.ttl"), "no connector for s3a://"),
    ],
)
def test_options_that_do_not_go_together_are_usage_errors(play, call, arguments, said):
    result = call("match", *SUBSCRIPTIONS, "catalogue", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_no_documents_is_a_usage_error(play, call):
    result = call("match", *SUBSCRIPTIONS)
    assert result.exit_code == 2
    assert "no documents" in result.stderr


def eventually(condition):
    """Wait until something is so, for a minute at the most."""
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def small_index():
    index = Index()
    index.add("p", compile("SELECT ?s { ?s <urn:p> ?o }", language="sparql"))
    return index


def small_batch(spark, documents=6):
    rows = [(f"urn:{number}", b"<urn:s> <urn:p> 1 ." if number else b"<") for number in range(documents)]
    frame = spark.createDataFrame(rows, "uri string, content binary").repartition(documents)
    return pipeline.match_documents(spark, frame, small_index())


def test_progress_tells_what_finished_tasks_have_done(spark):
    seen = []
    batch = small_batch(spark)
    with watched(spark.sparkContext, lambda: batch.tally, seen.append, seconds=0.01):
        assert batch.answers.count() == 5
        eventually(lambda: seen and seen[-1].tally.documents == 6)
    assert (seen[-1].tally.documents, seen[-1].tally.matches, seen[-1].tally.bad) == (6, 5, 1)
    assert any(progress.all_tasks for progress in seen)


def test_bar_shows_documents_matches_and_errors_on_a_terminal(spark):
    screen = StringIO()
    batch = small_batch(spark)
    console = Console(file=screen, force_terminal=True, width=100)
    with batches._bar(console, batches._counts) as show, watched(spark.sparkContext, lambda: batch.tally, show):
        batch.answers.count()
        eventually(lambda: "5 matches" in screen.getvalue())
    assert "6 documents, 5 matches, 1 error" in screen.getvalue()


def test_bar_of_scope_graph_shows_documents_rows_and_errors(spark):
    seen, screen = [], StringIO()
    batch = small_batch(spark)
    with (
        batches._bar(Console(file=screen, force_terminal=True, width=100), batches._graph_counts) as show,
        pipeline.match_graph(spark, batch.documents, small_index(), show=seen.append) as found,
    ):
        show(seen[-1]._replace(tally=found.tally))
    assert "6 documents, 0 rows, 1 error" in screen.getvalue(), "rows are counted when they are written"
    assert any(progress.all_tasks for progress in seen)
    with batches._bar(Console(file=screen), batches._graph_counts) as nobody:
        assert nobody is None, "without a terminal there is no bar"


def test_scope_graph_joins_documents_and_tells_who_was_not_served(play, call):
    """M5: the dataset is in one file, its publisher in another; a cartesian product is refused, as by a hub."""
    (play / "a.ttl").write_text("<urn:d> <urn:publisher> <urn:p> .")
    (play / "b.ttl").write_text("<urn:p> <urn:city> 'Oslo' .")
    (play / "broken.ttl").write_text("<")
    (play / "oslo.rq").write_text("SELECT ?d { ?d <urn:publisher> ?p . ?p <urn:city> 'Oslo' }")
    (play / "product.rq").write_text("SELECT ?d ?e { ?d <urn:publisher> ?p . ?e <urn:city> ?c }")
    files = ("-s", "oslo.rq", "-s", "product.rq", "a.ttl", "b.ttl", "broken.ttl")
    result = call("match", *files, "--scope", "graph", "--work", "work", "--out", "found", "--to", "jsonl")
    assert result.exit_code == 1, result.stderr
    (answer,) = lines(play / "found" / "answers")
    assert (answer["subscription"], answer["row"]) == ("oslo", {"d": "<urn:d>"})
    assert [uri.rpartition("/")[2] for uri in answer["documents"]] == ["a.ttl", "b.ttl"]
    bad, failed = sorted(lines(play / "found" / "bad"), key=lambda one: "subscription" in one)
    assert bad["document"].endswith("broken.ttl")
    assert failed["subscription"] == "product"
    assert "subscription product: its parts share no variable" in result.stderr
    assert "3 documents, 2 subscriptions: 1 row in found/answers; 2 problems in found/bad" in result.stderr
    assert list((play / "work").iterdir()) == []
