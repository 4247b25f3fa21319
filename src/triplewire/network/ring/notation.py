"""How what a ring's messages are made of is written in JSON: terms, triples, statements, queries, and whole keys.

A term is its canonical N-Triples, a variable `?name`; a query is one text, because the same one is in many messages:
it is read once. Reading makes values of the types that it names, and looks at each number that says a place in
something else, so that no peer comes to a place that is not there. Whatever is not so raises one of `UNREADABLE`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import isfinite
from typing import Any, get_args

from pyoxigraph import Triple, Variable

from triplewire.algebra.pattern import Conjunction, Node, Pattern, TriplePattern
from triplewire.matching.incremental import dump_pattern, load_pattern
from triplewire.model import Term, parse_term
from triplewire.network.channels.spelling import Json, number_of, text_of, whole_of
from triplewire.network.ring.identifiers import SIZE
from triplewire.network.ring.keys import HomeWatch, KeyState, WaitingGroup
from triplewire.network.ring.messages import Extension, Member
from triplewire.network.ring.queries import Algorithm, RingQuery, chain_of, shared_pattern, triple_keys
from triplewire.network.ring.splits import DEEPEST, depth
from triplewire.network.ring.statements import KeyStatement, Origin, Said, Sources, Support

_KEY = re.compile(r"(#[0-7](\.[0-7])* )?(s|p|o|sp|po|spo) .+", re.DOTALL)
_MOST_NAME = 1_000
_MOST_HOPS = 1 << 16


# -- plain values


def name_in(told: Json) -> str:
    """The name of a peer, a home, a subscription or a query."""
    if not 0 < len(text_of(told)) <= _MOST_NAME:
        raise ValueError("a name was expected")
    return str(told)


def key_in(told: Json) -> str:
    """The key of some values of a triple, or a share of one."""
    if not _KEY.fullmatch(text_of(told)) or depth(told) > DEEPEST:
        raise ValueError("a key was expected")
    return str(told)


def place_in(told: Json) -> int:
    """A place on the circle."""
    if isinstance(told, bool) or not isinstance(told, int) or not 0 <= told < SIZE:
        raise TypeError("a place on the circle was expected")
    return told


def moment_in(told: Json) -> float:
    """A time, or an amount of work: a number that is one."""
    found = number_of(told)
    if not isfinite(found):
        raise ValueError("a number was expected")
    return found


def flag_in(told: Json) -> bool:
    """Yes or no."""
    if not isinstance(told, bool):
        raise TypeError("yes or no was expected")
    return told


def each_in(read: Callable[[Json], Any], told: Json) -> tuple[Any, ...]:
    """Several values of one kind; what is no list is none."""
    if not isinstance(told, list):
        raise TypeError(f"a list was expected, not {type(told).__name__}")
    return tuple(map(read, told))


def hops_in(told: Json) -> int:
    """How often something was passed on."""
    if whole_of(told) > _MOST_HOPS:
        raise ValueError("nothing is passed on so often")
    return int(told)


# -- terms and triples


def term_in(told: Json) -> Term:
    """A term, in its one spelling."""
    found = parse_term(text_of(told))
    if str(found) != told:
        raise ValueError("a term in canonical form was expected")
    return found


def spelled_triple(triple: Triple | TriplePattern) -> Json:
    """A triple, or a pattern of one."""
    return [str(node) for node in triple]


def triple_in(told: Json) -> Triple:
    """A triple."""
    subject, predicate, object = each_in(term_in, told)
    return Triple(subject, predicate, object)


def pattern_in(told: Json) -> TriplePattern:
    """A triple with variables in some places."""
    subject, predicate, object = each_in(_node_in, told)
    return shared_pattern(TriplePattern(subject, predicate, object))


def _node_in(told: Json) -> Node:
    return Variable(told[1:]) if text_of(told).startswith("?") else term_in(told)


def spelled_triples(triples: Iterable[Triple]) -> Json:
    """A set of triples, in one order."""
    return sorted(spelled_triple(triple) for triple in triples)


def triples_in(told: Json) -> frozenset[Triple]:
    """A set of triples."""
    return frozenset(each_in(triple_in, told))


def spelled_binding(binding: Iterable[tuple[str, Term]]) -> Json:
    """Values of variables."""
    return [[name, str(term)] for name, term in binding]


def binding_in(told: Json) -> tuple[tuple[str, Term], ...]:
    """Values of variables, ordered by name, each once, as a peer has them."""
    found = tuple((text_of(name), term_in(term)) for name, term in told)
    if [name for name, _ in found] != sorted({name for name, _ in found}):
        raise ValueError("the values are in no order")
    return found


# -- statements


def origin_in(told: Json) -> Origin:
    """A document: where it was published, and its uri."""
    home, uri = told
    return name_in(home), text_of(uri)


def spelled_statement(statement: KeyStatement) -> Json:
    """What a version of a document states under a key."""
    return [statement.version, statement.time, spelled_triples(statement.triples)]


def statement_in(told: Json) -> KeyStatement:
    """What a version of a document states under a key."""
    version, time, triples = told
    return KeyStatement(whole_of(version), moment_in(time), triples_in(triples))


def spelled_statements(said: Iterable[tuple[Origin, KeyStatement]]) -> Json:
    """What documents state under a key."""
    return [[[*origin], spelled_statement(statement)] for origin, statement in said]


def statements_in(told: Json) -> tuple[tuple[Origin, KeyStatement], ...]:
    """What documents state under a key."""
    return tuple((origin_in(origin), statement_in(statement)) for origin, statement in told)


def spelled_support(support: Support) -> Json:
    """What a result stands on, or what is said of the triples of a key."""
    return [
        [spelled_triple(triple), [[[*origin], [*said]] for origin, said in sources.items()]]
        for triple, sources in support.items()
    ]


def support_in(told: Json) -> Support:
    """What a result stands on."""
    return {triple_in(triple): _sources_in(sources) for triple, sources in told}


def _sources_in(told: Json) -> Sources:
    return {
        origin_in(origin): Said(whole_of(version), moment_in(time), flag_in(is_stated))
        for origin, (version, time, is_stated) in told
    }


# -- queries


@lru_cache(maxsize=10_000)
def spelled_query(query: RingQuery) -> str:
    """A query, as one text."""
    asked = dump_pattern(Pattern((), (Conjunction(query.triples, query.conditions),)))
    names = [query.key, query.subscription, query.home]
    order = [[*query.keys], [*query.chain], query.first]
    return json.dumps([*names, query.branch, [*query.parts], asked, query.since, query.algorithm, *order])


@lru_cache(maxsize=10_000)
def _query_of(text: str) -> RingQuery:
    key, subscription, home, branch, parts, asked, since, algorithm, keys, chain, first = json.loads(text)
    (conjunction,) = load_pattern(text_of(asked)).branches
    if algorithm not in get_args(Algorithm):
        raise ValueError("there is no such algorithm")
    found = RingQuery(
        name_in(key),
        name_in(subscription),
        name_in(home),
        whole_of(branch),
        each_in(whole_of, parts),
        tuple(map(shared_pattern, conjunction.triples)),
        conjunction.conditions,
        moment_in(since),
        algorithm,
        each_in(text_of, keys),
        each_in(whole_of, chain),
        whole_of(first),
    )
    if found.keys not in (triple_keys(algorithm, is_wide=True), triple_keys(algorithm, is_wide=False)):
        raise ValueError("triples are not indexed so")
    return _served(found)


def _served(query: RingQuery) -> RingQuery:
    """The query, if a ring can serve it in the order that it names."""
    numbers = [*range(len(query.triples))]
    if query.first not in query.rewriters or (query.chain and sorted(query.chain) != numbers):
        raise ValueError("the order of the subqueries is none")
    if bool(query.chain) != (query.algorithm == "sqc") or (query.chain and query.chain[0] != query.first):
        raise ValueError("the order of the subqueries is not that of the algorithm")
    known: dict[str, Term] = {}
    for number in query.chain:
        if query.key_of(number, query.rewritten(number, known)) is None:
            raise ValueError("a subquery has no value to wait under")
        known.update(dict.fromkeys(query.triples[number].variables, parse_term("<urn:any>")))
    if chain_of(query, 0) is None:
        raise ValueError("a subquery has no value to wait under")
    return query


def query_in(told: Json) -> RingQuery:
    """A query: the same value for the same text."""
    return _query_of(text_of(told))


def number_in(told: Json, query: RingQuery) -> int:
    """The number of a subquery."""
    if whole_of(told) >= len(query.triples):
        raise ValueError("there is no such subquery")
    return int(told)


def spelled_extension(extension: Extension | WaitingGroup) -> Json:
    """A subquery that waits, with its values, what these stand on, and the queries that wait for it."""
    members = [[spelled_query(query), [*path]] for query, path in extension.members]
    pattern, binding = spelled_triple(extension.pattern), spelled_binding(extension.binding)
    return [pattern, binding, spelled_support(extension.support), members]


def extension_in(told: Json) -> Extension:
    """A subquery that waits."""
    pattern, binding, support, members = told
    return Extension(pattern_in(pattern), binding_in(binding), support_in(support), each_in(_member_in, members))


def _member_in(told: Json) -> Member:
    asked, path = told
    query = query_in(asked)
    found = tuple(number_in(number, query) for number in path)
    if not found or len({*found}) < len(found) or (query.chain and query.chain[: len(found)] != found):
        raise ValueError("the way of a query is none")
    return query, found


# -- whole keys


def spelled_key_state(state: KeyState) -> Json:
    """All that is kept under a key; how much work it was stays where it was done."""
    return {
        "documents": spelled_statements(state.documents.items()),
        "groups": [spelled_extension(group) for group in state.groups.values()],
        "ended": sorted(state.ended),
        "watches": [[home, each.number, str(each.resource), each.is_wanted] for home, each in state.watches.items()],
        "said": spelled_support(state.said),
        "is": [state.is_by_document, state.is_split, state.is_settled],
    }


def key_state_in(told: Mapping[str, Json]) -> KeyState:
    """All that is kept under a key."""
    is_by_document, is_split, is_settled = map(flag_in, told["is"])
    return KeyState.of(
        dict(statements_in(told["documents"])),
        [_group_in(each) for each in told["groups"]],
        set(each_in(name_in, told["ended"])),
        {name_in(home): _watch_in(each) for home, *each in told["watches"]},
        support_in(told["said"]),
        is_by_document=is_by_document,
        is_split=is_split,
        is_settled=is_settled,
    )


def _watch_in(told: Json) -> HomeWatch:
    number, resource, is_wanted = told
    return HomeWatch(whole_of(number), term_in(resource), flag_in(is_wanted))


def _group_in(told: Json) -> WaitingGroup:
    found = extension_in(told)
    group = WaitingGroup(found.pattern, found.binding, found.support)
    group.members.add(found.members)
    return group
