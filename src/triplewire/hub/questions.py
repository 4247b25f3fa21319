"""`python -m triplewire.hub.questions`: the process that answers SPARQL queries for `asking`.

It hears pickled messages on standard input and answers each on standard output: first the store's url and the most
bytes of an answer, then `CatchUp` and a question of the same viewer by turns. It ends when its input does, so also when
the service dies.
"""

from __future__ import annotations

import pickle
import sys
from io import BytesIO
from itertools import islice
from typing import IO

from pyoxigraph import QueryBoolean, QuerySolutions

from triplewire.engine.replica import Replica, Replicas
from triplewire.errors import QueryLimitExceeded, TriplewireError
from triplewire.hub.asking import Answer, CatchUp, Question
from triplewire.hub.negotiation import best
from triplewire.hub.syntaxes import GRAPHS, OF_ASK, RESULTS, graph
from triplewire.store import Store


class _Bounded(BytesIO):
    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def write(self, chunk: object, /) -> int:
        assert isinstance(chunk, bytes)
        if self.tell() + len(chunk) > self._most:
            raise QueryLimitExceeded(f"the answer is over {self._most} bytes; ask for less, with LIMIT for example")
        return super().write(chunk)


def answered(replica: Replica, question: Question, most_bytes: int) -> Answer:
    """The answer in the format that the client likes best."""
    found = replica.query(question.text, None, question.default_graphs, question.named_graphs)
    output = _Bounded(most_bytes)
    if isinstance(found, QuerySolutions):
        media_type = best(question.accept, [*RESULTS])
        found.serialize(output, format=RESULTS[media_type])
    elif isinstance(found, QueryBoolean):
        media_type = best(question.accept, [*OF_ASK])
        found.serialize(output, format=OF_ASK[media_type])
    else:
        media_type = best(question.accept, [*GRAPHS])
        output.write(graph(islice(found, most_bytes), media_type))  # no triple is shorter than a byte
    return Answer(media_type, output.getvalue())


def serve(heard: IO[bytes], said: IO[bytes]) -> None:
    """Answer until nobody asks any more."""
    url, most_bytes = pickle.load(heard)
    replicas, replica = Replicas(), Replica()
    with Store.open(url, create=False) as store:
        message: object = None
        while True:
            answer: object = None
            try:
                if isinstance(message, Question):
                    answer = answered(replica, message, most_bytes)
                elif isinstance(message, CatchUp):
                    replica = Replica()  # so that nothing is left of another viewer's, should the next line fail
                    with store.reading() as reader:
                        replica = replicas.of(reader, message.viewer)
            except TriplewireError as error:
                answer = error
            except (OSError, ValueError, RuntimeError) as error:
                answer = QueryLimitExceeded(f"the query could not be answered: {error}")
            pickle.dump(answer, said)
            said.flush()
            try:
                message = pickle.load(heard)
            except EOFError:
                return


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
