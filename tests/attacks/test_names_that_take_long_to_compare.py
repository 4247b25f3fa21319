"""A check of a query compares names that are short, and so many of them, whatever is published and asked (X6)."""

from __future__ import annotations

import random
from difflib import SequenceMatcher

import pytest

from triplewire import Hub
from triplewire.engine.inspect import suggestions as module
from triplewire.engine.inspect.suggestions import unheard
from triplewire.languages import compile


@pytest.fixture
def compared(monkeypatch):
    """The lengths of the words of each pair that is compared letter by letter."""
    lengths: list[tuple[int, int]] = []

    class Counted(SequenceMatcher):
        def ratio(self):
            lengths.append((len(self.a), len(self.b)))
            return super().ratio()

    monkeypatch.setattr(module, "SequenceMatcher", Counted)
    return lengths


def shuffled(letters: str, chance: random.Random) -> str:
    return "".join(chance.sample(letters, len(letters)))


def asked(published: list[str], named: list[str]):
    """What is found of a query with these properties where others are published."""
    with Hub() as hub:
        hub.publish("".join(f"<urn:z> <urn:n:{name}> 1 .\n" for name in published), uri="urn:d")
        triples = " . ".join(f"?d <urn:n:{name}> ?x{number}" for number, name in enumerate(named))
        with hub.store.reading() as reader:
            return unheard(reader, hub.taxonomy, compile(f"SELECT ?d {{ {triples} }}", language="sparql"))


def test_long_names_are_not_compared(compared):
    chance = random.Random(1)
    long = "abcdefghij" * 7
    (found,) = asked([*(shuffled(long, chance) for _ in range(4)), "short"], [shuffled(long, chance)])
    assert found.suggestions == ()
    (found,) = asked([*(shuffled(long, chance) for _ in range(4)), "short"], ["shor"])
    assert [each.value for each in found.suggestions] == ["urn:n:short"]
    assert max(max(pair) for pair in compared) <= 64


def test_a_pair_is_compared_once(compared):
    asked(["keyword"], ["keywrd"])
    assert len(compared) == 1


def test_many_names_share_one_budget(compared):
    chance = random.Random(2)
    names = [shuffled("abcdefghij" * 3, chance) for _ in range(200)]
    found = asked(names[:150], names[150:])
    assert len(found) == 50
    assert 0 < len(compared) <= 2_000 < 150 * 50
