"""All contenders follow the whole history, whether they are timed or not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from benchmarks.engine.contenders.contender import Contender, Step
from benchmarks.engine.contenders.oxigraph import OxigraphAll
from benchmarks.engine.contenders.sql_filter import SqlFilter
from benchmarks.engine.measure import measure, rounds
from benchmarks.engine.workload import Change
from benchmarks.engine.workloads import generate


class Listing(Contender):
    """Remembers what it was given; a part of its work stands for fifty times as much."""

    name = "listing"

    def __init__(self) -> None:
        self.taken: list[str] = []

    def ready(self, changes: Sequence[Change]) -> list[Step]:
        return [Step(lambda: self.taken.extend(change.uri for change in changes)), Step(lambda: None, 50)]


def test_contenders_get_the_same_batches_in_the_same_order() -> None:
    history = generate("MDV-OID", 200).history()
    contenders = [Listing(), Listing(), Listing()]
    clocks = measure(contenders, history, 10, 4, 1.0)
    assert [len(clock.times) for clock in clocks] == [4, 4, 4]
    assert contenders[0].taken == contenders[1].taken == contenders[2].taken
    assert len(contenders[0].taken) == 50, "one batch more than is counted"


def test_contender_that_has_used_its_time_still_follows(tmp_path: Path) -> None:
    workload = generate("CATALOGUE", 100)
    contenders = [SqlFilter(workload, tmp_path), OxigraphAll(workload, tmp_path)]
    clocks = measure(contenders, workload.history(), 20, 6, seconds=0.0)
    assert [len(clock.times) for clock in clocks] == [2, 2]
    assert contenders[0].rows(range(100)) == contenders[1].rows(range(100))
    contenders[0].close()


def test_measuring_ends_with_the_history() -> None:
    clocks = measure([Listing()], generate("MDV-OID", 35).history(), 10, 8, 1.0)
    assert [len(clock.times) for clock in clocks] == [2]
    assert measure([Listing()], generate("MDV-OID", 5).history(), 10, 8, 1.0) == []


def test_sampled_part_is_scaled_and_counted_for_each_document(tmp_path: Path) -> None:
    workload = generate("MDV-COMP", 400)
    filter, asking = SqlFilter(workload, tmp_path), OxigraphAll(workload, tmp_path)
    assert asking.sampled == 100
    write, ask = asking.ready(workload.history().batch(1))
    assert (write.times, ask.times) == (1, 4)
    (clock,) = measure([filter], workload.history(), 5, 3, 1.0)
    assert clock.matches == 40
    filter.close()


@pytest.mark.parametrize(
    ("batch", "matches", "expected"), [(1, 1, 30), (50, 1, 15), (1000, 1, 4), (1000, 1000, 2), (1000, 10_000, 0)]
)
def test_fewer_rounds_where_documents_match_thousands(batch: int, matches: float, expected: int) -> None:
    assert rounds(batch, matches) == expected
