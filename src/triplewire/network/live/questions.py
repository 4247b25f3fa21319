"""Questions: what one member asks another, over the channels that there are, and the answers.

A member that has no channel to the one it asks sends the question by the decider, which has one to everybody. What can
be asked is what a node says of itself (`status`), and, over a channel between the two and no other way, what it knows
of a document that went by (`passages`), and what a subscriber has there that moves (`moves`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from itertools import count
from typing import Any

from triplewire.errors import NetworkError, TriplewireError
from triplewire.network.live.council import Message
from triplewire.network.live.departures import OldHub
from triplewire.network.live.moves import KINDS
from triplewire.network.live.node import LiveNode
from triplewire.network.live.status import passages_of, status_of

log = logging.getLogger("triplewire.network")

_PATIENCE = 5.0
_PATIENCE_FOR_MOVES = 30.0
_MOST_HOPS = 3
_PASSAGES = "passages"
_DIRECT = frozenset((_PASSAGES, *KINDS))
"""What one hub asks another with nobody between them: a document may stay in a unit, and not all hubs are in it."""


class Questions:
    """The questions of a node and to it; `send` carries messages to members that have a channel."""

    def __init__(self, node: LiveNode, send: Callable[[str, Message], None], old: OldHub) -> None:
        self._node, self._send, self._old = node, send, old
        self._numbers = count(1)
        self._waiting: dict[int, tuple[str, asyncio.Future[Message]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, member: str, question: Message) -> Message:
        """What a member answers; NetworkError if it does not in time."""
        if member == self._node.name:
            return await asyncio.to_thread(self._answer, question | {"from": member})
        number = next(self._numbers)
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        is_move, is_direct = question.get("kind") in KINDS, question.get("kind") in _DIRECT
        self._waiting[number] = member if is_direct else "", answer
        try:
            self._pass_on(
                {"about": "question", "from": self._node.name, "to": member, "id": number, "hops": 0} | question
            )
            return await asyncio.wait_for(answer, _PATIENCE_FOR_MOVES if is_move else _PATIENCE)
        except TimeoutError:
            raise NetworkError(f"{member} does not answer") from None
        finally:
            del self._waiting[number]

    def hear(self, peer: str, message: Message) -> None:
        """A question or an answer came; one that is neither is passed over."""
        hops = message.get("hops")
        is_direct = message.get("kind") in _DIRECT
        if self._node.council.key_of(peer) is None or not isinstance(hops, int) or not 0 <= hops < _MOST_HOPS:
            if is_direct:
                log.warning("what %s asks for is refused: it is no member of the network", peer)
            return
        if is_direct and (message.get("from"), message.get("to")) != (peer, self._node.name):
            log.warning("what %s passes on for %s is refused: a hub asks itself", peer, message.get("from"))
            return
        if message.get("to") != self._node.name:
            self._pass_on(message | {"hops": hops + 1})
        elif message["about"] == "answer":
            expected, waiting = self._waiting.get(message.get("id"), ("", None))  # type: ignore[arg-type]  # no key then
            if expected and expected != peer:
                log.warning("%s answers for %s, which was asked by itself; that is not taken", peer, expected)
            elif waiting is not None and not waiting.done() and isinstance(message.get("answer"), dict):
                waiting.set_result(message["answer"])
        else:
            task = asyncio.get_running_loop().create_task(self._reply(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _reply(self, message: Message) -> None:
        try:
            found = await asyncio.to_thread(self._answer, message)
        except (TriplewireError, KeyError, TypeError) as error:
            log.warning("a question of %s cannot be answered: %s", message.get("from"), error)
            return
        to = str(message.get("from"))
        self._pass_on(
            {"about": "answer", "from": self._node.name, "to": to, "id": message.get("id"), "hops": 0, "answer": found}
        )

    def _answer(self, question: Message) -> Message:
        if question.get("kind") in KINDS:
            return self._old.answer(str(question["from"]), question)
        if question.get("kind") == _PASSAGES:
            return passages_of(self._node, str(question["from"]), (str(question["origin"]), str(question["uri"])))
        return status_of(self._node)

    def _pass_on(self, message: Message) -> None:
        table = self._node.council.table
        to: Any = message.get("to")
        if table is None or not isinstance(to, str):
            return
        if message.get("kind") in _DIRECT and to not in self._node.channels:
            return  # nobody else is to hear what is asked
        self._send(to if to in self._node.channels or self._node.council.is_decider else table.decider, message)
