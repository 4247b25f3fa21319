"""Pictures: what a query asks for as a graph of nodes and edges, to be drawn, and in sentences, to be read aloud."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Literal as OneOf

from pyoxigraph import Literal, Variable

from triplewire.algebra.pattern import Conjunction, Pattern, TriplePattern, variables_of
from triplewire.algebra.wording import readable, word_place
from triplewire.algebra.xpath.query import PathQuery
from triplewire.algebra.xpath.syntax import Path, Several, render, rendered_test

Kind = OneOf["variable", "resource", "literal", "document", "step"]


@dataclass(frozen=True, slots=True)
class PictureNode:
    """A thing: what it is called, whether it is an answer, and the conditions on it alone."""

    id: str
    kind: Kind
    label: str
    is_answer: bool
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a thing to another one, by a property."""

    source: str
    target: str
    label: str
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to match: its graph, the conditions on several things at once, and all of it in sentences."""

    nodes: tuple[PictureNode, ...]
    edges: tuple[Arrow, ...]
    conditions: tuple[str, ...]
    sentences: tuple[str, ...]


@singledispatch
def picture(pattern: Pattern) -> list[Alternative]:
    """The alternatives of a query."""
    told = readable(pattern)
    return [_of_branch(branch, told.answer) for branch in told.branches]


def _of_branch(branch: Conjunction, answer: tuple[str, ...]) -> Alternative:
    optional = [(triple, part) for part in branch.optionals for triple in part.triples]
    triples = [(triple, False) for triple in branch.triples] + [(triple, True) for triple, _ in optional]
    conditions = [*branch.conditions, *(c for part in branch.optionals for c in part.conditions)]
    own: dict[str, list[str]] = {}
    shared = []
    for condition in conditions:
        names = variables_of(condition)
        if len(names) == 1:
            own.setdefault(f"?{next(iter(names))}", []).append(word_place(condition))
        else:
            shared.append(word_place(condition))
    shared += [f"?{name} is {term}" for name, term in branch.bindings]
    subjects = {str(triple.subject) for triple, _ in triples}
    nodes: dict[str, PictureNode] = {}
    edges = []
    for number, (triple, is_optional) in enumerate(triples):
        source, target = str(triple.subject), str(triple.object)
        if not isinstance(triple.object, Variable) and target not in subjects:
            target = f"{target} {number}"  # a value of its own: arrows to one class from everywhere say little
        for id, term in ((source, triple.subject), (target, triple.object)):
            spelled = str(term)
            is_answer = spelled.removeprefix("?") in answer and spelled.startswith("?")
            nodes[id] = PictureNode(id, _kind(term), spelled, is_answer, tuple(own.get(spelled, ())))
        edges.append(Arrow(source, target, str(triple.predicate), is_optional))
    sentences = [_sentence(triple, is_optional) for triple, is_optional in triples]
    sentences += [condition for found in own.values() for condition in found] + shared
    return Alternative(tuple(nodes.values()), tuple(edges), tuple(shared), tuple(sentences))


def _kind(term: object) -> Kind:
    if isinstance(term, Variable):
        return "variable"
    return "literal" if isinstance(term, Literal) else "resource"


def _sentence(triple: TriplePattern, is_optional: bool) -> str:
    may = "may have" if is_optional else "has"
    return f"{triple.subject} {may} {triple.predicate} {triple.object}"


# -- XPath


@picture.register(PathQuery)
def _of_path(query: PathQuery) -> list[Alternative]:
    """A path step by step; any other expression in one piece."""
    prefixes = {namespace: prefix for prefix, namespace in query.namespaces.items()}
    expression = query.expression
    paths = expression.parts if isinstance(expression, Several) and expression.operator == "|" else (expression,)
    if all(isinstance(path, Path) and path.start is None for path in paths):
        return [_chain(path, prefixes) for path in paths if isinstance(path, Path)]
    whole = PictureNode("whole", "step", query.text, True, ())
    document = PictureNode("document", "document", "a document", False, ())
    sentences = (f"a document of which {query.text} gives something",)
    return [Alternative((document, whole), (Arrow("document", "whole", "gives"),), (), sentences)]


def _chain(path: Path, prefixes: dict[str, str]) -> Alternative:
    nodes = [PictureNode("document", "document", "a document", not path.steps, ())]
    edges = []
    for number, step in enumerate(path.steps, 1):
        tests = tuple(render(predicate, prefixes.__getitem__) for predicate in step.predicates)
        is_last = number == len(path.steps)
        label = rendered_test(step.test, prefixes.__getitem__)
        nodes.append(PictureNode(f"step {number}", "step", label, is_last, tests))
        edges.append(Arrow(nodes[-2].id, nodes[-1].id, step.axis))
    sentences = [f"{edge.label} {node.label}" for edge, node in zip(edges, nodes[1:], strict=True)]
    sentences += [f"where {test}" for node in nodes for test in node.conditions]
    return Alternative(tuple(nodes), tuple(edges), (), tuple(sentences))
