"""The verdicts of the engine's benchmark, on lines whose ratios are known."""

from __future__ import annotations

from benchmarks.engine.targets import comparison, verdicts
from benchmarks.report import Line


def line(alternative: str, microseconds: float, **other: object) -> Line:
    values: dict[str, object] = {"workload": "MDV-PATH", "subscriptions": 100_000, "batch": 1000, "triples": 100_000}
    return Line(alternative=alternative, microseconds=microseconds, matches=1.0, **(values | other))  # type: ignore[arg-type]


def told(*lines: Line) -> list[str]:
    return [str(verdict) for verdict in verdicts(lines)]


def test_applying_is_compared_with_bare_writing_at_the_largest_size() -> None:
    lines = [
        line("triplewire", 500),
        line("bare-write", 200),
        line("triplewire", 5000, batch=1),
        line("bare-write", 100, batch=1),
    ]
    place = "MDV-PATH, 100,000 subscriptions, 100,000 triples, batch 1,000"
    assert told(*lines) == [f"{place}: applying / bare writing = 2.5 (target <= 3) met"]
    assert told(line("triplewire", 700), line("bare-write", 200))[0].endswith("= 3.5 (target <= 3) MISSED")


def test_growth_of_the_store_is_the_largest_to_the_smallest_with_everything_else_equal() -> None:
    lines = [line("triplewire", 300), line("triplewire", 400, triples=5_000_000), line("bare-write", 9, triples=1)]
    assert told(*lines) == [
        "MDV-PATH, batches of 1,000: 5,000,000 / 100,000 triples = 1.33 (target <= 1.5) met",
    ]


def test_growth_of_the_subscriptions_leaves_out_rules_that_all_match_more() -> None:
    lines = [line("triplewire", 300), line("triplewire", 100, subscriptions=10_000)]
    assert told(*lines) == ["MDV-PATH, batches of 1,000: 100,000 / 10,000 subscriptions = 3 (target <= 1.5) MISSED"]
    comparisons = [
        line("triplewire", 300, workload="MDV-COMP"),
        line("triplewire", 100, workload="MDV-COMP", subscriptions=10_000),
    ]
    assert told(*comparisons) == []


def test_asking_all_again_must_be_a_thousand_times_slower_in_every_batch_size() -> None:
    found = told(
        line("triplewire", 100),
        line("pyoxigraph-all", 50_000),
        line("triplewire", 1000, batch=1),
        line("pyoxigraph-all", 5_000_000, batch=1),
    )
    assert [verdict.split(": ")[1] for verdict in found] == [
        "asking all again / applying = 500 (target >= 1,000) MISSED",
        "asking all again / applying = 5,000 (target >= 1,000) met",
    ]


def test_table_has_ratios_to_bare_writing_and_to_ours_of_the_same_place() -> None:
    lines = [line("triplewire", 300), line("bare-write", 100), line("sql-filter", 600), line("triplewire", 7, batch=1)]
    rows = [row.split() for row in comparison(lines).splitlines()[2:]]
    assert [row[1:2] + row[7:] for row in rows] == [
        ["triplewire", "3", "1"],
        ["bare-write", "1", "0.333"],
        ["sql-filter", "6", "2"],
        ["triplewire", "1"],
    ]
