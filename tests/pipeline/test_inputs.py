"""Documents from files, folders, globs, dumps and tables."""

import bz2
import gzip

import pytest

from triplewire import Index, Limits, compile, parse, pipeline
from triplewire.errors import PipelineError
from triplewire.pipeline.compression import decompressed
from triplewire.pipeline.dumps import placed

ABOUT = "<> <urn:about> <urn:it> ."


def uris(frame):
    return sorted(row.uri for row in frame.select("uri").collect())


def subjects(frame):
    """What the documents state, by their uris, as one process reads them."""
    rows = frame.where("content is not null").collect()
    return {row.uri: parse(bytes(row.content), uri=row.uri, media_type=row.media_type).ntriples for row in rows}


def problems(frame):
    return {row.uri: row.problem for row in frame.where("problem is not null").collect()}


@pytest.fixture
def folder(tmp_path):
    """Documents in several syntaxes, some compressed, some with names that need care, and what is no document."""
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "a.ttl").write_text(ABOUT)
    (tmp_path / "in" / "UPPER.TTL").write_text(ABOUT)
    (tmp_path / "in" / "with space [1]{2}~é.ttl").write_text(ABOUT)
    (tmp_path / "in" / "deep" / "b.jsonld").write_text('{"@id": "", "urn:about": {"@id": "urn:it"}}')
    (tmp_path / "in" / "deep" / "c.rdf").write_text(
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="urn:">'
        '<rdf:Description rdf:about=""><about rdf:resource="urn:it"/></rdf:Description></rdf:RDF>'
    )
    (tmp_path / "in" / "d.trig.gz").write_bytes(gzip.compress(ABOUT.encode()))
    (tmp_path / "in" / "e.nt.bz2").write_bytes(bz2.compress(b"<urn:e> <urn:about> <urn:it> .\n"))
    (tmp_path / "in" / "prefixes.json").write_text("{}")
    (tmp_path / "in" / "readme.txt").write_text("not a document")
    return tmp_path / "in"


def expected_uris(folder):
    return sorted(
        p.as_uri() for p in folder.rglob("*.*") if p.is_file() and p.name not in ("prefixes.json", "readme.txt")
    )


def test_folder_gives_its_documents_under_the_uris_of_their_files(spark, folder):
    found = pipeline.documents(spark, [str(folder)])
    assert uris(found) == expected_uris(folder)
    assert problems(found) == {}
    for uri, stated in subjects(found).items():
        assert stated == (
            f"<{uri}> <urn:about> <urn:it> .\n".encode() if "e.nt" not in uri else b"<urn:e> <urn:about> <urn:it> .\n"
        )


def test_folder_matches_as_its_files_do_in_one_process(spark, folder):
    """X8"""
    index = Index()
    index.add("it", compile("SELECT ?s { ?s <urn:about> <urn:it> }", language="sparql"))
    answers = pipeline.match(spark, pipeline.documents(spark, [str(folder)]), index).collect()
    assert sorted(a.document for a in answers) == expected_uris(folder)


def test_files_and_globs_name_documents_one_by_one(spark, folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert uris(pipeline.documents(spark, ["a.ttl", "deep/*.rdf"])) == [
        (folder / "a.ttl").as_uri(),
        (folder / "deep" / "c.rdf").as_uri(),
    ]
    assert uris(pipeline.documents(spark, ["**/*.jsonld"])) == [(folder / "deep" / "b.jsonld").as_uri()]
    assert uris(pipeline.documents(spark, ["readme.txt"])) == [(folder / "readme.txt").as_uri()]


def test_urls_are_passed_to_spark(spark, folder):
    assert uris(pipeline.documents(spark, [folder.as_uri()])) == expected_uris(folder)
    assert uris(pipeline.documents(spark, [folder.as_uri() + "/a.ttl"])) == [(folder / "a.ttl").as_uri()]


def test_nothing_there_is_an_error_that_names_it(spark, tmp_path):
    with pytest.raises(PipelineError, match=r"nowhere\.ttl: there is no such file"):
        pipeline.documents(spark, [str(tmp_path / "nowhere.ttl")])
    with pytest.raises(PipelineError, match="no document in this folder"):
        pipeline.documents(spark, [str(tmp_path)])
    with pytest.raises(PipelineError, match="there are no documents"):
        pipeline.documents(spark, [])


def test_file_over_the_limit_is_told_without_being_read(spark, tmp_path):
    (tmp_path / "small.ttl").write_text(ABOUT)
    (tmp_path / "large.ttl").write_text(ABOUT + "# " + "x" * 1000)
    (tmp_path / "bomb.ttl.gz").write_bytes(gzip.compress(b"#" * 100_000))
    found = pipeline.documents(spark, [str(tmp_path)], limits=Limits(bytes=500))
    told = problems(found)
    assert told.keys() == {(tmp_path / "large.ttl").as_uri(), (tmp_path / "bomb.ttl.gz").as_uri()}
    assert all("over the limit of 500" in problem for problem in told.values())
    assert subjects(found).keys() == {(tmp_path / "small.ttl").as_uri()}


def test_damaged_compression_is_a_problem_of_its_document():
    packed = gzip.compress(b"hello")
    assert decompressed(packed, "urn:a.gz", 10).content == b"hello"
    assert decompressed(packed + packed, "urn:a.gz", 10).content == b"hellohello"
    assert decompressed(bz2.compress(b"hello"), "urn:a.BZ2", 10).content == b"hello"
    assert "cut short" in decompressed(packed[:-5], "urn:a.gz", 10).problem
    assert "not a gzip file" in decompressed(b"hello", "urn:a.gz", 10).problem
    assert "not a bzip2 file" in decompressed(b"hello", "urn:a.bz2", 10).problem
    assert "over the limit of 4" in decompressed(packed, "urn:a.gz", 4).problem
    assert decompressed(packed, "urn:a.gz", 5).content == b"hello"


def test_dump_is_split_into_a_document_for_each_subject(spark, tmp_path):
    (tmp_path / "one.nt").write_text('<urn:a> <urn:p> "1" .\n\n# note\n<urn:b> <urn:p> "2" .\n<urn:a> <urn:q> "3" .\n')
    (tmp_path / "two.nt.gz").write_bytes(gzip.compress(b'<urn:a> <urn:p> "4" .\n'))
    found = subjects(pipeline.documents(spark, [str(tmp_path)], split="subject"))
    assert found == {
        "urn:a": b'<urn:a> <urn:p> "1" .\n<urn:a> <urn:p> "4" .\n<urn:a> <urn:q> "3" .\n',
        "urn:b": b'<urn:b> <urn:p> "2" .\n',
    }


def test_dump_is_split_into_a_document_for_each_graph(spark, tmp_path):
    (tmp_path / "d.nq").write_text(
        '<urn:a> <urn:p> _:x <urn:g> .\n_:x <urn:p> "a . <urn:h> ." <urn:g> .\n<urn:b> <urn:p> "2"@en <urn:h> .\n'
        '<urn:c> <urn:p> "3" .\n<urn:c> <urn:p> <urn:d> .\n'
    )
    found = subjects(pipeline.documents(spark, [str(tmp_path / "d.nq")], split="graph"))
    assert found == {
        "urn:g": b'<urn:a> <urn:p> _:c14n0 .\n_:c14n0 <urn:p> "a . <urn:h> ." .\n',
        "urn:h": b'<urn:b> <urn:p> "2"@en .\n',
        (tmp_path / "d.nq").as_uri(): b'<urn:c> <urn:p> "3" .\n<urn:c> <urn:p> <urn:d> .\n',
    }


def test_blank_nodes_of_two_dumps_stay_apart(spark, tmp_path):
    (tmp_path / "one.nt").write_text("<urn:a> <urn:p> _:x .\n")
    (tmp_path / "two.nt").write_text("<urn:a> <urn:p> _:x .\n<urn:a> <urn:q> _:x .\n")
    (stated,) = subjects(pipeline.documents(spark, [str(tmp_path)], split="subject")).values()
    assert len({line.split()[2] for line in stated.splitlines()}) == 2
    assert stated.count(b"\n") == 3


def test_without_split_a_dump_is_one_document(spark, tmp_path):
    (tmp_path / "d.nt").write_text("<urn:a> <urn:p> _:x .\n<urn:b> <urn:p> _:x .\n")
    assert uris(pipeline.documents(spark, [str(tmp_path)])) == [(tmp_path / "d.nt").as_uri()]


def test_line_that_cannot_be_read_is_bad_and_spoils_no_document(spark, tmp_path):
    (tmp_path / "d.nt").write_text('<urn:a> <urn:p> "1" .\nnonsense\n<urn:a> <urn:p "2" .\n<urn:b> <urn:p> "3" .\n')
    index = Index()
    index.add("p", compile("SELECT ?s { ?s <urn:p> ?o }", language="sparql"))
    found = pipeline.match_documents(spark, pipeline.documents(spark, [str(tmp_path)], split="subject"), index)
    assert sorted(a.document for a in found.answers.collect()) == ["urn:a", "urn:b"]
    assert [bad.document for bad in found.bad.collect()] == [(tmp_path / "d.nt").as_uri() + "#unreadable"]


def test_large_dump_is_read_in_pieces_and_gives_the_same_documents(spark, tmp_path):
    """A file of many pieces, with the lines of a subject far apart; and one document that is over the limit."""
    lines = [f'<urn:s{i % 500}> <urn:p{i // 500}> "{i}" .\n' for i in range(5000)]
    lines += [f'<urn:huge> <urn:p> "{i}" .\n' for i in range(200)]
    (tmp_path / "d.nt").write_text("".join(lines))
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "8k")
    try:
        found = pipeline.documents(spark, [str(tmp_path)], split="subject", limits=Limits(bytes=1000))
        assert found.rdd.getNumPartitions() > 10
        stated = subjects(found)
        assert problems(found).keys() == {"urn:huge"}
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", before)
    assert stated.keys() == {f"urn:s{i}" for i in range(500)}
    assert all(text.count(b"\n") == 10 for text in stated.values())
    assert stated["urn:s7"].splitlines()[1] == b'<urn:s7> <urn:p1> "507" .'


def test_placing_knows_every_form_of_a_statement():
    dump = "file:///d.nq"
    assert placed(dump, "", "subject") is None
    assert placed(dump, "  # <urn:a> <urn:b> <urn:c> .", "subject") is None
    assert placed(dump, r"<http://\u00e9.example/> <urn:p> <urn:o> .", "subject")[0] == "http://é.example/"
    assert placed(dump, "_:b.1 <urn:p> <urn:o> .", "subject")[0] == "file:///d.nq#b.1"
    assert placed(dump, '<urn:s><urn:p>"x\\" <urn:n> ."^^<urn:t><urn:g>.', "graph")[0] == "urn:g"
    assert placed(dump, "<urn:s> <urn:p> _:o _:g .", "graph")[0] == "file:///d.nq#g"
    assert placed(dump, "<urn:s> <urn:p> <urn:o> .", "graph")[0] == dump
    assert placed(dump, "<urn:s> <urn:p> .", "graph")[0] == "file:///d.nq#unreadable"


def test_table_of_contents_is_read_by_its_columns(spark, tmp_path):
    table = spark.createDataFrame([("urn:a", "<urn:s> <urn:p> 1 .", 5)], "id string, body string, other int")
    table.write.parquet(str(tmp_path / "table"))
    found = pipeline.documents(spark, [str(tmp_path / "table")], content_column="body", uri_column="id")
    assert list(subjects(found)) == ["urn:a"]
    with pytest.raises(PipelineError, match=r"no column 'content'; it has id, body, other"):
        pipeline.documents(spark, [str(tmp_path / "table")])


def test_table_with_the_usual_columns_needs_no_naming(spark, tmp_path):
    rows = [("urn:a", b"<urn:s> <urn:p> 1 .", "text/turtle"), ("urn:b", b"<urn:s> <urn:p> 1 .", None)]
    spark.createDataFrame(rows, "uri string, content binary, media_type string").write.parquet(
        str(tmp_path / "t.parquet")
    )
    found = pipeline.documents(spark, [str(tmp_path / "t.parquet")])
    assert {(row.uri, row.media_type) for row in found.collect()} == {("urn:a", "text/turtle"), ("urn:b", None)}
