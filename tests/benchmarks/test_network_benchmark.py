"""The benchmark of networks runs, and its alternatives tell the same (N2, P5, P6). Nothing here is timed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.network import run
from benchmarks.network.demand import demand
from benchmarks.network.targets import verdicts
from benchmarks.network.traffic import ALTERNATIVES, FLOODS, Traffic, advertised_in_turn, measure_traffic, spread

from triplewire.network import Simulation


@pytest.mark.parametrize("topology", ALTERNATIVES)
def test_quick_run_measures_every_alternative(topology: str, tmp_path: Path, capsys) -> None:
    drawn = tmp_path / "network.png"
    words = ["--quick", "--topology", topology, "--json", str(tmp_path / "network.jsonl"), "--plot", str(drawn)]
    assert run.main(words) == 0
    assert drawn.read_bytes().startswith(b"\x89PNG")
    lines = [json.loads(line) for line in (tmp_path / "network.jsonl").read_text().splitlines()]
    sent = {line["alternative"]: line for line in lines if line["part"] == "traffic"}
    assert tuple(sent) == ALTERNATIVES[topology]
    assert len({line["told"] for line in sent.values()}) == 1
    assert sent["flood-events"]["publishing"] > sent["triplewire"]["publishing"] > 0
    decided = [line for line in lines if line["part"] == "deciding"]
    assert all(line["reached"] > 0 for line in decided)
    assert bool(decided) == (topology == "hierarchy")
    forwarded = [line for line in lines if line["part"] == "forwarding"]
    assert all(line["sent"] > 0 for line in forwarded)
    assert bool(forwarded) == (topology == "hypercube")


def test_hubs_that_want_nothing_take_nothing_in_and_flooding_costs_many_times_as_much() -> None:
    wanted = demand(range(64), 60, 20, 0.02, 0.05, seed=1)
    ours = measure_traffic((4, 4, 4), wanted, "triplewire", seed=1)
    flood = measure_traffic((4, 4, 4), wanted, "flood-events", seed=1)
    assert ours.idle == 0
    assert flood.publishing > 5 * ours.publishing


def test_promise_is_judged_by_messages_of_the_same_network() -> None:
    def line(alternative: str, nodes: int, publishing: int) -> Traffic:
        return Traffic("hierarchy", nodes, 3, alternative, 10_000, 10, 0, 10, publishing, 10, 0, 1.0)

    lines = [line("triplewire", 256, 10), line("flood-events", 256, 300), line("flood-events", 64, 1)]
    floods = [verdict for verdict in verdicts(lines) if "flood" in verdict.what]
    assert [(verdict.value, verdict.is_met) for verdict in floods] == [(30.0, True)]


def test_half_of_the_subscriptions_are_covered_and_one_hub_in_twenty_publishes_what_each_wants() -> None:
    """P5: the demand is the one that the promise speaks of."""
    wanted = demand(range(256), 10_000, 10, 0.01, 0.05, seed=1)
    asked = [each for topic in wanted.topics for each in topic.asked]
    wide = {(each.node, each.topic) for each in asked if each.above is None}
    covered = [each for each in asked if each.above is not None and (each.node, each.topic) in wide]
    assert (len(asked), len(covered)) == (10_000, 5_000)
    assert {len(topic.publishers) for topic in wanted.topics} == {0, 13}


def test_advertising_in_turn_that_is_counted_sends_what_one_that_is_simulated_does() -> None:
    """P4: hubs of the benchmark advertise at once; what it takes one after the other is counted beside it."""
    wanted = demand(range(16), 60, 0, 0.1, 0.2, seed=3)
    sim = Simulation(1)
    net = sim.hypercube(16)
    sim.run()
    for node, said in wanted.advertisements.items():
        net.client(at=node).advertise(**said)
        sim.run()
    assert sim.messages["advertise"] == advertised_in_turn(16, wanted)


@pytest.mark.parametrize("nodes", [8, 16])
def test_flooding_that_is_counted_sends_what_flooding_that_is_simulated_does(nodes: int) -> None:
    """P6: baselines are counted by hand, which a simulation of the same confirms."""
    wanted = demand(range(nodes), 20, 15, 0.2, 0.1, seed=2)
    for alternative, count in FLOODS.items():
        sim, counted = Simulation(1), count(nodes, wanted)
        simulated = spread(sim, sim.hypercube(nodes), wanted, alternative)
        assert (simulated.publishing, simulated.told) == (counted.publishing, counted.told)
        assert simulated.subscribing <= counted.subscribing, "flooding knows of no covering"
