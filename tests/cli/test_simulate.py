"""`triplewire simulate`: a network in virtual time, from one seed (X13)."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest


def with_other_hashes(*words: str) -> str:
    """What it says in a process whose sets have their texts in another order than those of this one."""
    hashes = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    command = [sys.executable, "-m", "triplewire.cli", "simulate", *words]
    environment = {**os.environ, "PYTHONHASHSEED": hashes}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


@pytest.mark.parametrize("size", [("hypercube", "--nodes", "11"), ("hierarchy", "--clusters", "2,2,3")])
def test_one_seed_is_one_run_and_faults_change_what_it_takes_but_not_what_is_told(call, size):
    words = (*size, "--subscriptions", "40", "--seed", "7", "--json")
    plain, bad = call("simulate", *words), call("simulate", *words, "--loss", "0.1")
    assert plain.stdout == with_other_hashes(*words)
    told, told_again = json.loads(plain.stdout), json.loads(bad.stdout)
    assert told["told"] == told_again["told"] > 0
    assert sum(told_again["stages"]["publishing"].values()) > sum(told["stages"]["publishing"].values())


def test_ring_tells_the_same_by_either_algorithm_whatever_order_a_process_gives_its_sets(call):
    """S2, S3."""
    words = ("ring", "--nodes", "11", "--subscriptions", "40", "--json", "--algorithm")
    sqc, mqc = (call("simulate", *words, algorithm) for algorithm in ("sqc", "mqc"))
    assert sqc.stdout == with_other_hashes(*words, "sqc")
    assert json.loads(sqc.stdout)["told"] == json.loads(mqc.stdout)["told"] > 0
    assert json.loads(sqc.stdout)["stages"] != json.loads(mqc.stdout)["stages"]


@pytest.mark.parametrize("size", [("hypercube", "--nodes", "6"), ("hierarchy", "--clusters", "2,3")])
def test_links_change_what_it_takes_and_not_what_is_told(call, size):
    """N7."""
    words = (*size, "--subscriptions", "20", "--publishers", "1", "--seed", "7", "--json")
    plain, linked = call("simulate", *words), call("simulate", *words, "--links", "6")
    assert linked.stdout == with_other_hashes(*words, "--links", "6")
    told, told_again = json.loads(plain.stdout), json.loads(linked.stdout)
    assert told["told"] == told_again["told"] > 0
    assert told_again["stages"]["publishing"]["event"] > told["stages"]["publishing"]["event"]
    assert told_again["stages"]["greeting"]["map"] > 0


def test_queries_are_counted_with_the_answers_that_were_kept(call):
    """N5."""
    words = ("simulate", "hierarchy", "--clusters", "2,3", "--documents", "30", "--queries", "60")
    found = json.loads(call(*words, "--json").stdout)
    assert found["found"] > 0
    assert found["answers"]["hits"] > 0
    assert found["stages"]["asking"]["query"] > 0
    assert "answers are kept now" in call(*words).stdout
    assert call("simulate", "hypercube", "--queries", "1").exit_code == 2


def test_ring_has_no_links_of_its_own(call):
    done = call("simulate", "ring", "--links", "3")
    assert done.exit_code == 2
    assert "no links of its own" in done.stderr


def test_table_counts_messages_by_stage_and_kind(call):
    done = call("simulate", "hypercube", "--subscriptions", "40", "--nodes", "4")
    assert "advertising" in done.stdout
    assert "events were told" in done.stdout


def test_share_that_is_none_is_refused_in_words(call):
    done = call("simulate", "hypercube", "--publishers", "3")
    assert done.exit_code == 2
    assert "publishers is a share from 0 to 1" in done.stderr


@pytest.mark.parametrize(("clusters", "reason"), [("2,33", "at most 32 sub-units"), ("4;4", "such as 4,4,4")])
def test_numbers_of_sub_units_that_are_none_are_refused_in_words(call, clusters, reason):
    done = call("simulate", "hierarchy", "--clusters", clusters)
    assert done.exit_code == 2
    assert reason in done.stderr


@pytest.mark.parametrize("topology", ["hypercube", "hierarchy", "ring"])
def test_trace_tells_the_way_of_a_document_from_its_publisher_to_those_who_are_told(call, topology):
    """X13: where the document went, why, and that each event of it was told."""
    command = "simulate", topology, "--nodes", "8", "--documents", "6", "--subscriptions", "150", "--trace", "3"
    told = json.loads(call(*command, "--json").stdout)
    story = [sight["sentence"] for sight in told["trace"]]
    assert any("sends node" in sentence and "urn:document/3" in sentence for sentence in story)
    end = "an answer with a triple of urn:document/3" if topology == "ring" else "tells client-"
    assert any(end in sentence for sentence in story)
    times = [sight["time"] for sight in told["trace"]]
    assert times == sorted(times)
    assert "The way of urn:document/3" in call(*command).stdout


def test_trace_and_plot_may_stand_alone(call, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    done = call("simulate", "hypercube", "--nodes", "4", "--documents", "2", "--plot", "--trace")
    assert done.exit_code == 0
    assert "The way of urn:document/0" in done.stdout
    assert (tmp_path / "network.png").read_bytes().startswith(b"\x89PNG")


def test_trace_of_a_document_that_there_is_not_is_refused(call):
    done = call("simulate", "hypercube", "--documents", "6", "--trace", "6")
    assert done.exit_code == 2
    assert "documents 0 to 5" in done.stderr


def test_plot_draws_messages_hops_and_loads(call, tmp_path):
    pytest.importorskip("matplotlib")
    drawn = tmp_path / "cube.svg"
    assert call("simulate", "hypercube", "--subscriptions", "40", "--plot", drawn).exit_code == 0
    text = drawn.read_text(encoding="utf-8")
    assert text.startswith("<?xml")
    assert text.count("<g id=") > 50


def test_plot_of_a_kind_that_is_not_drawn_is_refused_before_anything_is_simulated(call, tmp_path):
    done = call("simulate", "hypercube", "--plot", tmp_path / "cube.txt")
    assert done.exit_code == 2
    assert ".png" in done.stderr
