"""What gathering asks of the store: the triples of one state, each question asked once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from triplewire.matching.incremental import Triple
from triplewire.store import Reader

Key = tuple[int, int]


class News:
    """What a batch states of terms that are new: nobody else can have said anything of them, so none is looked up."""

    def __init__(self, last_known: int, added: Iterable[Triple]) -> None:
        """Terms over `last_known` are new."""
        self._last = last_known
        self._forward: defaultdict[Key, list[Triple]] = defaultdict(list)
        self._backward: defaultdict[Key, list[Triple]] = defaultdict(list)
        for triple in dict.fromkeys(added):
            subject, predicate, value = triple
            if subject > last_known:
                self._forward[subject, predicate].append(triple)
                self._forward[subject, 0].append(triple)
            if value > last_known:
                self._backward[predicate, value].append(triple)
                self._backward[0, value].append(triple)

    def forward(self, key: Key) -> list[Triple] | None:
        """The triples of a (subject, predicate); None if the subject is not new."""
        return self._forward.get(key, []) if key[0] > self._last else None

    def backward(self, key: Key) -> list[Triple] | None:
        """The triples of a (predicate, object); None if the object is not new."""
        return self._backward.get(key, []) if key[1] > self._last else None


_NO_NEWS = News(1 << 63, ())


class StoreLookups:
    """The current metadata, or the part of it that was published after a batch; answers are kept while it lives.

    So it must not outlive a change of the statements.
    """

    def __init__(self, reader: Reader, after: int = 0, news: News = _NO_NEWS) -> None:
        self._terms, self._triples, self._after, self._news = reader.terms, reader.triples, after, news
        self._forward: dict[Key, list[Triple]] = {}
        self._backward: dict[Key, list[Triple]] = {}
        self._statements: dict[int, int] | None = None

    def terms(self, texts: Sequence[str]) -> list[int]:
        """The numbers of terms, 0 for one that is in no triple."""
        return self._terms.find(texts)

    def spelled(self, numbers: Sequence[int]) -> list[str]:
        """The texts of terms."""
        return self._terms.texts(numbers)

    def forward(self, keys: Sequence[Key]) -> list[list[Triple]]:
        """The triples of each (subject, predicate)."""
        ask = self._triples.forward
        return _asked_once(keys, self._forward, self._news.forward, lambda keys: ask(keys, self._after))

    def backward(self, keys: Sequence[Key]) -> list[list[Triple]]:
        """The triples of each (predicate, object)."""
        ask = self._triples.backward
        return _asked_once(keys, self._backward, self._news.backward, lambda keys: ask(keys, self._after))

    def scan(self, predicates: Sequence[int]) -> list[list[Triple]]:
        """The triples of each predicate."""
        return self._triples.scan(predicates, self._after)

    def present(self, triples: Sequence[Triple]) -> list[bool]:
        """Whether each triple is stated."""
        return self._triples.visible(triples, self._after)

    def degrees(self, keys: Sequence[Key], most: int) -> list[int]:
        """How many statements each (predicate, object) has, up to `most`; object 0: how many the predicate has."""
        counted: dict[Key, int] = {}
        exact: list[Key] = []
        for key in keys:
            if not key[1]:
                counted[key] = min(most, self._stated(key[0]))
            elif (new := self._news.backward(key)) is not None:
                counted[key] = min(most, len(new))
            else:
                exact.append(key)
        if exact:
            counted.update(zip(exact, self._triples.degrees(exact, most, self._after), strict=True))
        return [counted[key] for key in keys]

    def fanouts(self, keys: Sequence[Key], most: int) -> list[int]:
        """How many triples each (subject, predicate) has, up to `most`."""
        return [min(most, len(triples)) for triples in self.forward(keys)]

    def _stated(self, predicate: int) -> int:
        if self._statements is None:
            self._statements = self._triples.predicates()
        return self._statements.get(predicate, 0) if predicate else sum(self._statements.values())


def _asked_once(
    keys: Sequence[Key],
    known: dict[Key, list[Triple]],
    new: Callable[[Key], list[Triple] | None],
    ask: Callable[[list[Key]], list[list[Triple]]],
) -> list[list[Triple]]:
    """The triples of keys: those known already, those of the news, and the others asked for together."""
    missing: list[Key] = []
    for key in keys:
        if key not in known:
            if (told := new(key)) is None:
                missing.append(key)
            else:
                known[key] = told
    if missing:
        missing = list(dict.fromkeys(missing))
        known.update(zip(missing, ask(missing), strict=True))
    return [known[key] for key in keys]
