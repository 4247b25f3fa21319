"""A node that asks others, and is asked.

Of each neighbour the last question counts: it takes the place of the one before, and only the answer to it is heard.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from triplewire.network.exchange.messages import Answer, Asked, Declined, Question, Replied, is_due
from triplewire.network.link import LinkLag
from triplewire.network.node import Node, NodeState
from triplewire.network.node.node import Outbox


@dataclass(slots=True)
class ExchangeState(NodeState):
    """What was asked last, and what others ask."""

    number: int = 0
    asking: dict[str, int] = field(default_factory=dict)
    """The number of the question that a neighbour has still to answer."""
    asked: dict[str, Asked] = field(default_factory=dict)
    """The questions of neighbours that wait for news."""


class ExchangeNode(Node):
    """A node of questions and answers; what it does with them is its kind's."""

    state: ExchangeState

    def lag(self, peer: str, now: float) -> LinkLag:
        """How far it is behind a neighbour, as its link knows."""
        return self._links[peer].lag(now)

    # -- asking

    def ask(self, peer: str, question: Question, now: float, account: str | None = None) -> Outbox:
        """Ask a neighbour; what it was asked before does not count any more."""
        self.tell(peer, self._asked(peer, question, account), now)
        return self._sent()

    def _asked(self, peer: str, question: Question, account: str | None = None) -> Asked:
        self.state.number += 1
        self.state.asking[peer] = self.state.number
        return Asked(self.state.number, question, account)

    def answered(self, peer: str, answer: Answer, now: float) -> None:
        """A neighbour answers what it was asked last."""

    def declined(self, peer: str, refusal: Declined, now: float) -> None:
        """A neighbour does not answer what it was asked last, and says why."""

    # -- being asked

    def questioned(self, peer: str, now: float) -> None:
        """There is a question of a neighbour, in `state.asked`."""

    def answer(self, peer: str, asked: Asked, answer: Answer | Declined, now: float, *, late: bool = False) -> Outbox:
        """Tell a neighbour the answer to its question, if that is due; a `late` one is."""
        self._reply(peer, asked, answer, now, late=late)
        return self._sent()

    def _reply(self, peer: str, asked: Asked, answer: Answer | Declined, now: float, *, late: bool = False) -> None:
        if self.state.asked.get(peer) != asked:
            return  # it has asked something else meanwhile
        if isinstance(answer, Declined):
            del self.state.asked[peer]
            self.tell(peer, answer, now)
        elif late or is_due(asked.question, answer):
            del self.state.asked[peer]
            self.tell(peer, Replied(asked.number, answer), now)

    # -- what comes

    def hear(self, peer: str, body: Any, now: float) -> None:
        """See `Node.hear`."""
        match body:
            case Asked():
                self.state.asked[peer] = body
                self.questioned(peer, now)
            case Replied(number, answer) if self.state.asking.get(peer) == number:
                self.answered(peer, answer, now)
            case Declined(number) if self.state.asking.get(peer) == number:
                self.declined(peer, body, now)

    def forget(self, peer: str) -> None:
        """See `Node.forget`."""
        super().forget(peer)
        self.state.asked.pop(peer, None)
        self.state.asking.pop(peer, None)
