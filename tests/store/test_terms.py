"""The dictionary of terms, and what processes keep in mind of it."""

import pytest

from store.filling import lines, publish
from triplewire.store import Store, terms
from triplewire.store.terms import Draft, TermMemory


def test_terms_get_numbers_that_stay(store):
    with store.writing() as writer:
        first = writer.terms.ids(["<urn:a>", '"é\\n"@fr', "<urn:a>", ""])
    with store.writing() as writer:
        again = writer.terms.ids(["", "<urn:new>", "<urn:a>"])
    assert first[0] == first[2]
    assert again == [first[3], max(first) + 1, first[0]]
    with store.reading() as reader:
        assert reader.terms.find(["<urn:new>", "<urn:nothing>"]) == [max(first) + 1, 0]
        assert reader.terms.texts([first[1], first[0], first[1]]) == ['"é\\n"@fr', "<urn:a>", '"é\\n"@fr']


def test_number_that_is_no_term_is_an_error(store):
    with store.reading() as reader, pytest.raises(KeyError):
        reader.terms.texts([7])


def test_thousands_of_terms_at_once(store):
    texts = [f"<urn:{n}>" for n in range(5_000)]
    with store.writing() as writer:
        numbers = writer.terms.ids(texts)
    assert len(set(numbers)) == 5_000
    with Store.open(store.url) if store.url != ":memory:" else store as other, other.reading() as reader:
        assert reader.terms.find(texts) == numbers
        assert reader.terms.texts(numbers) == texts


def test_numbers_of_a_transaction_that_failed_are_forgotten(store):
    """Invariant of `store.terms`: no other transaction has a number in mind that was rolled back."""

    def fail():
        with store.writing() as writer:
            lost = writer.terms.ids(["<urn:lost>"])
            assert writer.terms.texts(lost) == ["<urn:lost>"]
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with store.reading() as reader:
        assert reader.terms.find(["<urn:lost>"]) == [0]
    with store.writing() as writer:
        assert writer.terms.texts(writer.terms.ids(["<urn:other>"])) == ["<urn:other>"]


def test_reader_inside_a_writer_in_memory_keeps_nothing_in_mind_that_is_rolled_back():
    def fail(store):
        with store.writing() as writer:
            writer.terms.ids(["<urn:lost>"])
            with store.reading() as reader:
                assert reader.terms.find(["<urn:lost>"]) != [0]
            raise RuntimeError

    with Store.open(":memory:") as store:
        with pytest.raises(RuntimeError):
            fail(store)
        with store.reading() as reader:
            assert reader.terms.find(["<urn:lost>"]) == [0]


def test_numbers_kept_in_mind_stay_right_when_another_process_compacts(shared):
    """A term is dropped and comes back under another number; whoever kept the old one must not use it."""
    with shared.writing() as writer:
        publish(writer, {"urn:d": lines("<urn:a> <urn:b> <urn:c>")})
        old = writer.terms.ids(["<urn:passing>"])[0]
    with Store.open(shared.url) as other:
        assert other.compact().terms == 1
        with other.writing() as writer:
            writer.terms.ids(["<urn:else>"])
            new = writer.terms.ids(["<urn:passing>"])[0]
    with shared.reading() as reader:
        assert reader.terms.find(["<urn:passing>"]) == [new]
        assert new != old
        with pytest.raises(KeyError):
            reader.terms.texts([old])


def test_reader_from_before_a_compaction_goes_on_with_its_own_numbers(shared):
    with shared.writing() as writer:
        old = writer.terms.ids(["<urn:passing>"])[0]
    with shared.reading() as reader:
        with Store.open(shared.url) as other:
            assert other.compact().terms == 1
        with shared.writing() as writer:
            assert writer.terms.ids(["<urn:passing>"]) != [old]
        assert reader.terms.find(["<urn:passing>"]) == [old]


def test_memory_of_terms_is_bounded_and_keeps_what_is_asked_for():
    memory = TermMemory(0, limit=100)
    for number in range(1, 1_001):
        memory.learn([(number, str(number))])
        assert memory.id_of("1") == 1
    assert len(memory) <= 100
    assert memory.texts_of([2, 1_000]) == {1_000: "1000"}


def test_draft_hands_over_what_it_learned_only_when_told():
    memory = TermMemory(0)
    draft = Draft(memory)
    draft.learn([(1, "one")])
    assert memory.id_of("one") == 0
    draft.publish()
    assert memory.texts_of([1]) == {1: "one"}


def test_terms_that_share_a_key_are_told_apart(store, monkeypatch):
    monkeypatch.setattr(terms, "key_of", lambda text: b"same")
    with store.writing() as writer:
        numbers = writer.terms.ids(["<urn:a>", "<urn:b>"])
        assert writer.terms.ids(["<urn:b>", "<urn:c>", "<urn:a>"]) == [numbers[1], numbers[1] + 1, numbers[0]]
    with store.reading() as reader:
        assert reader.terms.find(["<urn:b>", "<urn:d>"]) == [numbers[1], 0]


def test_numbered_names_are_neighbours_in_the_index():
    for spelling in ('"dataset number {}"@en', "<http://example.org/dataset/{}>", "_:d{}"):
        keys = [terms.key_of(spelling.format(n)) for n in range(1_000, 2_000)]
        assert keys == sorted(keys)
        assert len({key[:8] for key in keys}) == 1
    assert len({terms.key_of(text) for text in ('"a"', '"a"@en', '"a"@de', "<a>", '"ab"', "_:a")}) == 6
