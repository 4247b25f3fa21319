"""What is said in an exchange: a question, its answer, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from triplewire.wire.backbones import MemberAnswer, MemberQuestion, PassedChanges, PassedTold
from triplewire.wire.edges import EdgeAnswer, EdgeQuestion

Question = EdgeQuestion | MemberQuestion | PassedChanges
"""Changes that are passed on are one, too: what becomes of them is the answer."""
Answer = EdgeAnswer | MemberAnswer | PassedTold


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, with a number that only its asker gives.

    `account` is the one that an edge of a simulation has; between processes it is the one that the channel proves.
    """

    kind = "question"
    number: int
    question: Question
    account: str | None = None


@dataclass(frozen=True, slots=True)
class Replied:
    """The answer to the question of a number."""

    kind = "answer"
    number: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class Declined:
    """Why the question of a number is not answered: a problem as `wire.problems` spells it."""

    kind = "declined"
    number: int
    problem: Mapping[str, Any] = field(default_factory=dict)


def is_due(question: Question, answer: Answer) -> bool:
    """Whether an answer is to be told at once; one that is not waits until it is, if the question allows that."""
    if not question.wait or answer.is_news:
        return True
    if not isinstance(question, EdgeQuestion) or not isinstance(answer, EdgeAnswer):
        return False
    return bool(question.follow or question.unfollow or answer.position != question.position)
