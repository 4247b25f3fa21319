"""The dictionary: every term has a text and a number, and only the numbers go into the other tables.

Numbers are kept in mind by each process, because most terms of a batch (predicates, classes, publishers) were in the
batch before. What is kept belongs to one generation of the store: a compaction drops terms and begins the next one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from threading import Lock

from triplewire.store import schema
from triplewire.store.packing import digest
from triplewire.store.sql import Sql, StorePart

REMEMBERED = 200_000
"""How many terms a process keeps in mind: about 50 MB of texts of 100 characters."""

_TAIL = 8


def key_of(text: str) -> bytes:
    """16 bytes to find a term by: half of a digest of its beginning, then its last characters as they are.

    Numbered names and dates that come together are neighbours in the index then, so that a batch writes a few pages
    of it; texts that share a key by chance are told apart by comparing them.
    """
    body, quote, suffix = text.rpartition('"') if text.startswith('"') else (text, "", "")
    spelled = body.encode()
    return digest(suffix.encode() + quote.encode() + spelled[:-_TAIL])[:_TAIL] + spelled[-_TAIL:]


class TermMemory:
    """Terms of one generation that are known to be committed.

    The oldest half is forgotten at once when it is full; what is still asked for moves to the young half.
    """

    def __init__(self, generation: int, limit: int = REMEMBERED) -> None:
        self.generation = generation
        self._half = limit // 2
        self._ids: dict[str, int] = {}
        self._texts: dict[int, str] = {}
        self._old_ids: dict[str, int] = {}
        self._old_texts: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._ids) + len(self._old_ids)

    def id_of(self, text: str) -> int:
        """The number of a text; 0 when it is not in mind."""
        found = self._ids.get(text, 0)
        if not found and (found := self._old_ids.get(text, 0)):
            self.learn([(found, text)])
        return found

    def texts_of(self, numbers: Collection[int]) -> dict[int, str]:
        """The texts of those numbers that are in mind."""
        young, old = self._texts, self._old_texts
        found = {number: young[number] for number in numbers if number in young}
        again = {number: old[number] for number in numbers if number in old and number not in found}
        self.learn(again.items())
        return found | again

    def learn(self, terms: Iterable[tuple[int, str]]) -> None:
        """Keep these in mind."""
        for number, text in terms:
            if len(self._ids) >= self._half:
                self._old_ids, self._old_texts = self._ids, self._texts
                self._ids, self._texts = {}, {}
            self._ids[text] = number
            self._texts[number] = text


class Draft(TermMemory):
    """What a writer knows: all that is committed, and what it made or read itself.

    Invariant: a number that was rolled back is never in mind of another transaction.
    """

    def __init__(self, committed: TermMemory) -> None:
        super().__init__(committed.generation)
        self._committed = committed

    def id_of(self, text: str) -> int:
        return super().id_of(text) or self._committed.id_of(text)

    def texts_of(self, numbers: Collection[int]) -> dict[int, str]:
        found = super().texts_of(numbers)
        return self._committed.texts_of([number for number in numbers if number not in found]) | found

    def publish(self) -> None:
        """Hand over what was learned."""
        self._committed.learn([*self._old_texts.items(), *self._texts.items()])


class Generations:
    """The memory of a process, which all its transactions share as long as they see the same generation."""

    def __init__(self) -> None:
        self._memory = TermMemory(0)
        self._lock = Lock()

    def memory(self, generation: int) -> TermMemory:
        """The memory for a transaction; one that still sees a state from before a compaction gets its own."""
        with self._lock:
            if generation > self._memory.generation:
                self._memory = TermMemory(generation)
            return self._memory if generation == self._memory.generation else TermMemory(generation)


class TermReader(StorePart):
    """Terms by text and by number."""

    def __init__(self, sql: Sql, memory: TermMemory) -> None:
        super().__init__(sql)
        self._memory = memory

    def find(self, texts: Sequence[str]) -> list[int]:
        """The number of each text; 0 for those that the store does not know."""
        known, _ = self._sorted_out(texts)
        return [known.get(text, 0) for text in texts]

    def texts(self, ids: Sequence[int]) -> list[str]:
        """The text of each number; KeyError for a number that is no term's."""
        wanted = dict.fromkeys(ids)
        known = self._memory.texts_of(wanted)
        found = self._sql.where(schema.terms, "id", [number for number in wanted if number not in known], "id, text")
        known.update((number, text) for number, text in found)
        self._memory.learn([(number, text) for number, text in found])
        return [known[number] for number in ids]

    def count(self) -> int:
        """How many terms there are."""
        return self._sql.number("SELECT count(*) FROM terms")

    def _sorted_out(self, texts: Sequence[str]) -> tuple[dict[str, int], dict[str, bytes]]:
        """The numbers of the texts that are known, and the keys of those that were not in mind."""
        known: dict[str, int] = {}
        keys: dict[str, bytes] = {}
        for text in dict.fromkeys(texts):
            if number := self._memory.id_of(text):
                known[text] = number
            else:
                keys[text] = key_of(text)
        found = self._sql.where(schema.terms, "key", keys.values(), "id, text")
        known.update((text, number) for number, text in found)
        self._memory.learn([(number, text) for number, text in found])
        return known, keys


class TermWriter(TermReader):
    """Terms by text and by number, and new ones."""

    def __init__(self, sql: Sql, memory: TermMemory) -> None:
        self._draft = Draft(memory)
        super().__init__(sql, self._draft)
        self.last_known = sql.counter("terms")
        """The last number that was given before this batch: greater ones are new, and it alone speaks of them."""
        self.made: list[tuple[int, str]] = []
        """The terms that are new in this transaction: nobody else can look them up yet."""

    def settle(self) -> None:
        """A batch ends: what it made is not new to the next one of the same transaction."""
        if self.made:
            self.last_known = self.made[-1][0]

    def ids(self, texts: Sequence[str]) -> list[int]:
        """The number of each text; texts that the store does not know get one."""
        known, keys = self._sorted_out(texts)
        new = [text for text in keys if text not in known]
        if new:
            made = list(zip(self._sql.take("terms", len(new)), new, strict=True))
            self._sql.insert(schema.terms, [(number, keys[text], text) for number, text in made])
            known.update((text, number) for number, text in made)
            self._memory.learn(made)
            self.made += made
        return [known[text] for text in texts]

    def committed(self) -> None:
        """The transaction was a success: what it learned is true for all."""
        self._draft.publish()
