"""W2: MDV's benchmark rules (its section 4, figure 10), on documents like its figure 1.

OID, PATH and JOIN: exactly one rule matches each document, and a rule matches at most one document. COMP: exactly
a tenth of the rules matches each document.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from pyoxigraph import Literal, NamedNode

from benchmarks.workloads.workload import Query, Workload
from triplewire.algebra.pattern import Call, Conjunction, Expression, Node, Pattern, TriplePattern
from triplewire.languages import compile
from triplewire.model import RDF, XSD, Document

NAMESPACE = "http://objectglobe.example/schema#"
PREFIXES = {"": NAMESPACE}
MOST_DOCUMENTS = 1000

KINDS = {
    "W2-OID": "search CycleProvider c register c where c = <{}>",
    "W2-COMP": "search CycleProvider c register c where c.synthValue > {}",
    "W2-PATH": "search CycleProvider c register c where c.serverInformation.memory = {}",
    "W2-JOIN": "search CycleProvider c register c where c.serverHost contains 'uni-passau.de' "
    "and c.serverInformation.cpu = 600 and c.serverInformation.memory = {}",
}
"""The rule of each kind; the gap is filled by a URI or a number that no other rule has."""

_HEAD = f"PREFIX : <{NAMESPACE}> PREFIX xsd: <{XSD}> "
_BODIES = {
    "W2-OID": "<{}> a :CycleProvider",
    "W2-COMP": "?c a :CycleProvider ; :synthValue ?v FILTER(xsd:integer(?v) > {})",
    "W2-PATH": '?c a :CycleProvider ; :serverInformation ?i . ?i :memory "{}"',
    "W2-JOIN": '?c a :CycleProvider ; :serverHost ?h ; :serverInformation ?i . ?i :cpu "600" ; :memory "{}" '
    'FILTER(CONTAINS(?h, "uni-passau.de"))',
}


def generate(name: str, subscriptions: int, seed: int) -> Workload:
    """The workload of one of KINDS."""
    order = list(range(subscriptions))
    random.Random(f"{name} {seed}").shuffle(order)  # neighbouring rules do not have neighbouring values

    def parameter(i: int) -> str | int:
        return uri(order[i]) + "#host" if name == "W2-OID" else order[i]

    pattern = _template(name)
    return Workload(
        name=name,
        subscriptions=subscriptions,
        documents=_documents(name, subscriptions, seed),
        pattern=lambda i: pattern(parameter(i)),
        query=lambda i: Query(_BODIES[name].format(parameter(i))),
        parameter=parameter,
    )


def prologue() -> str:
    """The prefixes of the queries."""
    return _HEAD


def rule_text(workload: Workload, i: int) -> str:
    """A rule as MDV writes it."""
    assert workload.parameter is not None
    return KINDS[workload.name].format(workload.parameter(i))


def uri(number: int) -> str:
    """Where the document of a number is."""
    return f"http://providers.example/doc{number}.rdf"


def _documents(name: str, subscriptions: int, seed: int) -> list[Document]:
    count = min(MOST_DOCUMENTS, subscriptions)
    numbers = random.Random(f"{name} {seed} documents").sample(range(subscriptions), count)
    return [document(number, synth=subscriptions // 10, memory=number) for number in numbers]


def document(number: int, *, synth: int, memory: int) -> Document:
    """A cycle provider and its server, as in MDV's figure 1."""
    place, name = uri(number), NAMESPACE
    provider, server = f"<{place}#host>", f"<{place}#info>"
    lines = [
        f"{provider} <{RDF}type> <{name}CycleProvider> .",
        f'{provider} <{name}serverHost> "pirates{number}.uni-passau.de" .',
        f'{provider} <{name}serverPort> "{5000 + number % 1000}" .',
        f'{provider} <{name}synthValue> "{synth}" .',
        f"{provider} <{name}serverInformation> {server} .",
        f"{server} <{RDF}type> <{name}ServerInformation> .",
        f'{server} <{name}memory> "{memory}" .',
        f'{server} <{name}cpu> "600" .',
    ]
    return Document.from_lines(place, "\n".join(lines).encode())


def _template(name: str) -> Callable[[str | int], Pattern]:
    """Compile two rules, and put other constants into their patterns: compiling takes a millisecond for each.

    Two, because the canonical names of JOIN's variables depend on whether its number is before or after 600 as text.
    """
    if name == "W2-OID":
        low = high = "urn:example"
    else:
        low, high = "4711", "7411"
    compiled = {text: compile(KINDS[name].format(text), language="rules", prefixes=PREFIXES) for text in (low, high)}

    def pattern(value: str | int) -> Pattern:
        example = low if f'"{value}"' < '"600"' else high
        new = NamedNode(value) if isinstance(value, str) else Literal(value)
        old = NamedNode(example) if isinstance(value, str) else Literal(int(example))
        found = compiled[example]
        return replace(found, branches=tuple(_filled(branch, old, new) for branch in found.branches))

    return pattern


def _filled(branch: Conjunction, old: NamedNode | Literal, new: NamedNode | Literal) -> Conjunction:
    def node(place: Node) -> Node:
        return new if place == old else place

    def expression(part: Expression) -> Expression:
        if isinstance(part, Call):
            return Call(part.function, tuple(map(expression, part.arguments)))
        return new if part == old else part

    return Conjunction(
        tuple(TriplePattern(*map(node, triple)) for triple in branch.triples),
        tuple(map(expression, branch.conditions)),
        tuple((name, new if term == old else term) for name, term in branch.bindings),
    )
