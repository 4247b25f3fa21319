"""MDV's own documents and rules, updated and deleted (figures 1, 5, 6, 9 and 10; M5, M6)."""

from __future__ import annotations

import pytest
from tests.contracts.examples import DOC, FIGURE_1, MDV
from tests.contracts.listening import NS, PASSAU, PROVIDERS

RULES = {
    "RuleA": "search ServerInformation s register s where s.memory > 64",
    "RuleB": "search ServerInformation s register s where s.cpu > 500",
    "RuleC": PASSAU,
    "RuleE": "search RuleA a, RuleB b register a where a = b",
    "RuleF": "search RuleE a, RuleC c register c where c.serverInformation = a",
}
"""The dependency tree of figure 5, as rules over rules."""

FIGURE_9 = {
    "RuleA": ["matched info"],
    "RuleB": ["matched info"],
    "RuleC": ["matched host"],
    "RuleE": ["matched info"],
    "RuleF": ["matched host"],
}


def figure_1(**values):
    """Figure 1's document with other values: `memory="32"`."""
    text = FIGURE_1.text.replace(MDV, NS)
    for name, value in values.items():
        old = {"memory": "92", "cpu": "600", "serverHost": "pirates.uni-passau.de", "synthValue": "17"}[name]
        text = text.replace(f'"{old}"', f'"{value}"').replace(f">{old}<", f">{value}<")
    return text


@pytest.fixture
def rules(hub, ear):
    for id, text in RULES.items():
        ear.add(id, text)
    hub.publish(figure_1(), uri=DOC)
    assert ear.heard() == FIGURE_9
    return ear


def test_figure_1_gives_the_result_objects_of_figure_9(rules):
    assert rules.heard() == {}


UPDATES = {
    "memory too small": (
        {"memory": "32"},
        {
            "RuleA": ["unmatched info"],
            "RuleB": ["changed info"],
            "RuleE": ["unmatched info"],
            "RuleF": ["unmatched host"],
        },
    ),
    "memory grows": (
        {"memory": "128"},
        {"RuleA": ["changed info"], "RuleB": ["changed info"], "RuleE": ["changed info"]},
    ),
    "another domain": ({"serverHost": "db.in.tum.de"}, {"RuleC": ["unmatched host"], "RuleF": ["unmatched host"]}),
    "another host in the domain": (
        {"serverHost": "db.uni-passau.de"},
        {"RuleC": ["changed host"], "RuleF": ["changed host"]},
    ),
    "slow and elsewhere": (
        {"cpu": "400", "serverHost": "db.in.tum.de"},
        {
            "RuleA": ["changed info"],
            "RuleB": ["unmatched info"],
            "RuleC": ["unmatched host"],
            "RuleE": ["unmatched info"],
            "RuleF": ["unmatched host"],
        },
    ),
}


@pytest.mark.parametrize(("values", "expected"), UPDATES.values(), ids=UPDATES)
def test_figure_1_updated_tells_each_rule_what_changed_for_it(hub, rules, values, expected):
    hub.publish(figure_1(**values), uri=DOC)
    assert rules.heard() == expected


def test_figure_1_restored_tells_the_opposite(hub, rules):
    hub.publish(figure_1(memory="32"), uri=DOC)
    rules.heard()
    hub.publish(figure_1(), uri=DOC)
    assert rules.heard() == {
        "RuleA": ["matched info"],
        "RuleB": ["changed info"],
        "RuleE": ["matched info"],
        "RuleF": ["matched host"],
    }


def test_figure_1_deleted_unmatches_every_rule(hub, rules):
    hub.retract(DOC)
    assert rules.heard() == {id: [phrase.replace("matched", "unmatched") for phrase in p] for id, p in FIGURE_9.items()}


def test_the_rule_groups_of_figure_6_are_told_apart_when_one_of_their_values_changes(hub, ear):
    """Rules that differ in their constants alone share their work, not their answers."""
    ear.add("RuleA", PROVIDERS)
    ear.add("RuleB1", RULES["RuleA"]).add("RuleB2", RULES["RuleB"])
    ear.add("RuleC1", "search RuleA c, RuleB1 s register c where c.serverInformation = s")
    ear.add("RuleC2", "search RuleA c, RuleB2 s register c where c.serverInformation = s")
    hub.publish(figure_1(), uri=DOC)
    assert ear.heard() == {
        "RuleA": ["matched host"],
        "RuleB1": ["matched info"],
        "RuleB2": ["matched info"],
        "RuleC1": ["matched host"],
        "RuleC2": ["matched host"],
    }
    hub.publish(figure_1(cpu="500"), uri=DOC)
    assert ear.heard() == {"RuleB1": ["changed info"], "RuleB2": ["unmatched info"], "RuleC2": ["unmatched host"]}


def test_the_rule_types_of_figure_10_follow_an_update(hub, ear):
    ear.add("OID", f"search CycleProvider c register c where c = '{DOC}#host'")
    ear.add("COMP", "search CycleProvider c register c where c.synthValue > 9")
    ear.add("PATH", "search CycleProvider c register c where c.serverInformation.memory = 92")
    join = PASSAU + " and c.serverInformation.cpu = 600 and c.serverInformation.memory = 92"
    ear.add("JOIN", join)
    hub.publish(figure_1(), uri=DOC)
    assert ear.heard() == {id: ["matched host"] for id in ("OID", "COMP", "PATH", "JOIN")}
    hub.publish(figure_1(synthValue="8"), uri=DOC)
    assert ear.heard() == {
        "OID": ["changed host"],
        "COMP": ["unmatched host"],
        "PATH": ["changed host"],
        "JOIN": ["changed host"],
    }
    hub.publish(figure_1(synthValue="8", memory="93"), uri=DOC)
    assert ear.heard() == {"PATH": ["unmatched host"], "JOIN": ["unmatched host"]}
    hub.retract(DOC)
    assert ear.heard() == {"OID": ["unmatched host"]}
