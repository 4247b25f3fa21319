"""`python -m triplewire.hub.sparql.process`: the process that answers SPARQL queries for `askers`.

It is told where the store is (`Beginning`), then `CatchUp` and a question of the same viewer by turns. It reads the
store, so it has a network, if the store needs one; so each question is answered by a forked child that has none
(`isolation.Confinement`), no file, little memory and little time. What kills the child leaves the copy as it was.

Invariant: no text of a stranger is read by the engine outside of a confinement.
"""

from __future__ import annotations

import sys
from io import BytesIO
from itertools import islice

from pyoxigraph import QueryBoolean, QuerySolutions

from triplewire.engine.inspect.replica import Replica, Replicas
from triplewire.errors import QueryLimitExceeded, TriplewireError
from triplewire.hub.negotiation import best
from triplewire.hub.sparql.askers import Beginning, CatchUp, QueryAnswer, Question, too_long
from triplewire.hub.syntaxes import GRAPHS, OF_ASK, RESULTS, graph, well_formed
from triplewire.isolation import Confinement, Died, in_child
from triplewire.isolation.processes import serve
from triplewire.store import Store

_TOO_MUCH = "the query takes more memory than it may have, or nests deeper than the engine can follow; ask for less"


class _Bounded(BytesIO):
    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def write(self, chunk: object, /) -> int:
        assert isinstance(chunk, bytes)
        if self.tell() + len(chunk) > self._most:
            raise QueryLimitExceeded(f"the answer is over {self._most} bytes; ask for less, with LIMIT for example")
        return super().write(chunk)


def answered(replica: Replica, question: Question, most_bytes: int) -> QueryAnswer:
    """The answer in the format that the client likes best."""
    found = replica.query(question.text, None, question.default_graphs, question.named_graphs)
    output = _Bounded(most_bytes)
    if isinstance(found, QuerySolutions):
        media_type = best(question.accept, [*RESULTS])
        found.serialize(output, format=RESULTS[media_type])
        return QueryAnswer(media_type, well_formed(output.getvalue(), media_type, RESULTS))
    if isinstance(found, QueryBoolean):
        media_type = best(question.accept, [*OF_ASK])
        found.serialize(output, format=OF_ASK[media_type])
    else:
        media_type = best(question.accept, [*GRAPHS])
        output.write(graph(islice(found, most_bytes), media_type))  # no triple is shorter than a byte
    return QueryAnswer(media_type, output.getvalue())


class Answering:
    """What is between two messages: the store, and the copy of the viewer who asked last."""

    def __init__(self) -> None:
        self._beginning: Beginning | None = None
        self._store: Store | None = None
        self._replicas, self._replica = Replicas(), Replica()

    def answered(self, message: object) -> object:
        """The answer to a message, an error among them."""
        try:
            if isinstance(message, Beginning):
                self._beginning, self._store = message, Store.open(message.url, create=False)
            elif isinstance(message, CatchUp):
                self._catch_up(message.viewer)
            elif isinstance(message, Question):
                return self._in_confinement(message)
        except TriplewireError as error:
            return error
        return None

    def _catch_up(self, viewer: str | None) -> None:
        assert self._store is not None
        self._replica = Replica()  # so that nothing is left of another viewer's, should the next line fail
        with self._store.reading() as reader:
            self._replica = self._replicas.of(reader, viewer)

    def _in_confinement(self, question: Question) -> object:
        """The answer of a child that has this process's copy, and nothing else that it could reach."""
        begun = self._beginning
        assert begun is not None
        told = in_child(
            lambda _: _told(self._replica, question, begun.most_bytes),
            None,
            confinement=Confinement(memory=begun.memory, seconds=begun.seconds),
            seconds=begun.seconds,
        )
        if not isinstance(told, Died):
            return told
        return too_long(begun.seconds) if told.is_late else QueryLimitExceeded(_TOO_MUCH)


def _told(replica: Replica, question: Question, most_bytes: int) -> object:
    """In the child: the answer, or an error that says nothing but what is wrong with the query.

    The engine's own words are kept back, but for those on syntax: they could be of what nobody should read.
    """
    try:
        return answered(replica, question, most_bytes)
    except TriplewireError as error:
        return error
    except MemoryError:
        return QueryLimitExceeded(_TOO_MUCH)
    except Exception:
        return QueryLimitExceeded("the query could not be answered; ask for less, or otherwise")


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer, Answering().answered)
