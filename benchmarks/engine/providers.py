"""MDV-OID, MDV-COMP, MDV-PATH, MDV-JOIN: the paper's rules (its figure 10) over documents that only ever arrive.

As in the paper's section 4, a document has two resources, a cycle provider and its server, and what PATH and JOIN ask
is said of the other resource. A document matches exactly one rule of OID, PATH and JOIN, and a given percentage of the
rules of COMP; a rule of the first three matches one document. The background has the same form and matches nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.engine.filter_rules import SUBJECT, Reference, Rule, Same, Trigger
from benchmarks.engine.workload import Change, History, Workload
from benchmarks.workloads import rules
from benchmarks.workloads.rules import NAMESPACE
from triplewire.model import Document

KINDS = {"MDV-OID": "W2-OID", "MDV-COMP": "W2-COMP", "MDV-PATH": "W2-PATH", "MDV-JOIN": "W2-JOIN"}
"""The workload of the core's benchmark that has the same rules."""

TRIPLES = 8
"""In one document."""

PERCENTAGE = 10.0
"""Of the rules of COMP, matched by each document (the paper's figure 13)."""

_QUERIES = {
    "MDV-OID": "VALUES ?c {{ <{}> }} ?c a :CycleProvider",
    "MDV-COMP": "?c :synthValue ?v FILTER(xsd:integer(?v) > {}) FILTER EXISTS {{ ?c a :CycleProvider }}",
    "MDV-PATH": '?i :memory "{}" . ?c :serverInformation ?i FILTER EXISTS {{ ?c a :CycleProvider }}',
    "MDV-JOIN": '?i :memory "{}" ; :cpu "600" . ?c :serverInformation ?i ; :serverHost ?h '
    'FILTER(CONTAINS(?h, "uni-passau.de")) FILTER EXISTS {{ ?c a :CycleProvider }}',
}
"""In the order and the form that pyoxigraph answers fastest: a hundred times faster for JOIN than as the rule is
written, because the class, which every provider has, would be joined first."""

_PROVIDER, _SERVER = NAMESPACE + "CycleProvider", NAMESPACE + "ServerInformation"


def generate(name: str, subscriptions: int, seed: int = 1, percentage: float = PERCENTAGE) -> Workload:
    """The workload of one of KINDS; `percentage` only means something to COMP."""
    like = rules.generate(KINDS[name], subscriptions, seed)
    met = round(subscriptions * percentage / 100)
    parameter = like.parameter
    assert parameter is not None
    return Workload(
        name=name,
        subscriptions=subscriptions,
        pattern=like.pattern,
        query=lambda i: f"{rules.prologue()}SELECT DISTINCT ?c {{ {_QUERIES[name].format(parameter(i))} }}",
        rule=lambda i: _rule(name, parameter(i)),
        history=lambda: Arrivals(subscriptions, met, random.Random(f"{name} {seed} arrivals")),
        matches=met if name == "MDV-COMP" else 1,
    )


def _rule(name: str, parameter: str | int) -> Rule:
    if name == "MDV-OID":
        return Trigger(_PROVIDER, SUBJECT, "=", parameter)
    if name == "MDV-COMP":
        return Trigger(_PROVIDER, NAMESPACE + "synthValue", ">", parameter)
    memory = Trigger(_SERVER, NAMESPACE + "memory", "=", str(parameter))
    link = NAMESPACE + "serverInformation"
    if name == "MDV-PATH":
        return Reference(Trigger(_PROVIDER), link, memory)
    cpu = Trigger(_SERVER, NAMESPACE + "cpu", "=", "600")
    host = Trigger(_PROVIDER, NAMESPACE + "serverHost", "contains", "uni-passau.de")
    return Reference(host, link, Same(memory, cpu))


class Arrivals(History):
    """Documents in random order; those of the background are beyond the numbers that any rule asks for."""

    def __init__(self, rules: int, met: int, chance: random.Random) -> None:
        self._rules, self._met = rules, met
        self._numbers = chance.sample(range(rules), rules)

    @property
    def remaining(self) -> int:
        return len(self._numbers)

    def background(self, triples: int) -> Iterator[Document]:
        for number in range(self._rules, self._rules + triples // TRIPLES):
            yield rules.document(number, synth=0, memory=number)

    def batch(self, size: int) -> list[Change]:
        if size > len(self._numbers):
            raise ValueError(f"{self._rules:,} rules match {self._rules:,} documents, and all of them have arrived")
        drawn, self._numbers = self._numbers[:size], self._numbers[size:]
        documents = [rules.document(number, synth=self._met, memory=number) for number in drawn]
        return [Change(document.uri, document) for document in documents]
