"""Sorted arrays answer as triples in memory do."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.matching.incremental.memory import Memory

from strategies import LITERALS, NODES, PREDICATES, graphs
from triplewire.matching.incremental.flat import Numbering, flat_triples

ANY = ""
TERMS = [str(term) for term in (*NODES, *PREDICATES, *LITERALS[:3])]
terms = st.sampled_from(TERMS)
anything = st.one_of(terms, st.just(ANY))
UNKNOWN = "<urn:unknown>"
relaxed = settings(deadline=None)  # what is compiled takes its time once


def spelled(triple):
    return tuple(map(str, triple))


def flat(graph, **options):
    documents = {spelled(triple): [f"urn:{i % 3}"] for i, triple in enumerate(graph)}
    return flat_triples(documents, Numbering(), **options)


class Asked:
    """The same questions, in texts, to either."""

    def __init__(self, lookups, texts_of):
        self._lookups, self._texts_of = lookups, texts_of

    def _numbers(self, keys):
        """A term that is not there gets a number that no triple has."""
        texts = [text for key in keys for text in key]
        known = {text: number or 1 << 62 for text, number in zip(texts, self._lookups.terms(texts), strict=True)}
        return [tuple(0 if text == ANY else known[text] for text in key) for key in keys]

    def triples(self, ask, keys):
        numbers = self._numbers(keys)
        lists = getattr(self._lookups, ask)([key[0] for key in numbers] if ask == "scan" else numbers)
        return [sorted(tuple(self._texts_of(triple)) for triple in triples) for triples in lists]

    def counts(self, ask, keys, most):
        return [min(most, count) for count in getattr(self._lookups, ask)(self._numbers(keys), most)]

    def present(self, triples):
        return [bool(found) for found in self._lookups.present(self._numbers(triples))]


def both(graph):
    memory, arrays = Memory(graph), flat(graph)
    return Asked(memory, lambda triple: map(str, map(memory.term, triple))), Asked(arrays, arrays.texts.of)


@relaxed
@given(
    graph=graphs,
    forward=st.lists(st.tuples(terms, anything), max_size=6),
    backward=st.lists(st.tuples(anything, terms), max_size=6),
    scans=st.lists(st.tuples(anything), max_size=3),
    triples=st.lists(st.tuples(terms, terms, terms), max_size=4),
    most=st.integers(1, 4),
)
def test_arrays_answer_as_memory_does(graph, forward, backward, scans, triples, most):
    memory, arrays = both(graph)
    asked = [spelled(triple) for triple in graph[:3]] + triples
    assert arrays.present(asked) == memory.present(asked)
    assert arrays.triples("forward", forward) == memory.triples("forward", forward)
    assert arrays.triples("backward", backward) == memory.triples("backward", backward)
    assert arrays.triples("scan", scans) == memory.triples("scan", scans)
    assert arrays.counts("fanouts", forward, most) == memory.counts("fanouts", forward, most)
    counted = [*backward, *((key[0], ANY) for key in scans)]
    assert arrays.counts("degrees", counted, most) == memory.counts("degrees", counted, most)


@relaxed
@given(graph=graphs)
def test_terms_have_their_numbers_and_texts(graph):
    texts = list(dict.fromkeys(text for triple in graph for text in spelled(triple)))
    arrays = flat(graph, also=["<urn:constant>"])
    numbers = arrays.terms([*texts, "<urn:constant>"])
    assert 0 not in numbers
    assert arrays.texts.of(numbers) == [*texts, "<urn:constant>"]
    assert arrays.terms([UNKNOWN]) == [0]


@relaxed
@given(graph=graphs)
def test_triples_know_the_documents_that_state_them(graph):
    statements = {}
    for i, triple in enumerate(graph):
        statements[spelled(triple)] = {f"urn:{i % 3}", f"urn:{i % 2}"}
    arrays = flat_triples(statements, Numbering())
    asked = [tuple(arrays.terms(triple)) for triple in statements]
    found = [set(arrays.texts.of(documents)) for documents in arrays.documents(asked, 9)]
    assert found == list(statements.values())


def test_unknown_term_with_the_number_of_a_known_one_is_not_found():
    """Numbers are digests: with one of a single bit, every term collides with every other."""
    arrays = flat_triples({("<urn:a>", "<urn:a>", "<urn:a>"): ["<urn:a>"]}, Numbering(bits=1))
    assert arrays.terms(["<urn:a>", UNKNOWN]) == [1, 0]


def test_another_salt_gives_other_numbers_and_none_is_zero():
    one, other = Numbering(), Numbering().next()
    assert one.number("a") != other.number("a")
    assert {Numbering(salt, bits=1).number("a") for salt in range(20)} == {1}
