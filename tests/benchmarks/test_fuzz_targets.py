"""The fuzzer: each target ends well on what it begins with and a few inputs near it; what was found stays repaired."""

import json
import random
from pathlib import Path

import pytest
from benchmarks.fuzz import run
from benchmarks.fuzz.targets import TARGETS, Target

CASES = Path(__file__).parent.parent / "attacks" / "cases"
FOUND = [
    pytest.param(path.parent.name, path, id=f"{path.parent.name}-{path.name}") for path in sorted(CASES.glob("*/*"))
]


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_read_without_an_error(name):
    """From what is refused at its first character, a fuzzer would not come far."""
    for seed in TARGETS[name].seeds:
        TARGETS[name].run(seed)


@pytest.mark.parametrize("name", TARGETS)
def test_target_ends_well_on_a_few_inputs(name):
    chance = random.Random(1)
    for seed in TARGETS[name].seeds:
        TARGETS[name](seed)
        for _ in range(20):
            data = bytearray(seed)
            at = chance.randrange(len(data) + 1)
            data[at : at + chance.randrange(6)] = chance.randbytes(chance.randrange(6))
            TARGETS[name](bytes(data) if seed else b"")


@pytest.mark.parametrize(("name", "path"), FOUND)
def test_what_was_found_ends_well_now(name, path):
    TARGETS[name](path.read_bytes())


def test_error_of_another_kind_is_a_finding():
    with pytest.raises(ZeroDivisionError):
        Target(lambda data: 1 // len(data), [b"x"])(b"")


def test_routes_are_asked_and_what_was_asked_is_written_down(tmp_path):
    """A few seconds of requests: none is answered by a failure."""
    told = tmp_path / "told.json"
    code = run.main(["--minutes", "0.01", "--target", "routes", "--findings", str(tmp_path), "--json", str(told)])
    line = json.loads(told.read_text())
    assert line["requests"] > 10
    assert (code, line["findings"]) == (0, 0), [each.read_text() for each in (tmp_path / "routes").glob("*")]


def test_without_atheris_the_fuzzer_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(run, "find_spec", lambda name: None)
    assert run.main(["--target", "turtle"]) == 2
    assert "triplewire[fuzz]" in capsys.readouterr().err
