"""A budget: how far a question about patterns is followed before its answer is `not decided`.

One question (is this conjunction a contradiction? does that one cover it?) has a budget of its own, so that it cannot
take long. A caller with many of them has one for all: a short text can have hundreds of alternatives, and tens of
thousands of pairs of them.
"""

from __future__ import annotations

from typing import Final

STEPS: Final = 50_000
"""The steps of one question."""
_ASKING: Final = 50
"""What a question costs before its first step, in steps of about two microseconds."""


class TooHard(Exception):
    """The budget is spent, and nothing is proved."""


class Budget:
    """Steps that are left, of this budget and of the one that it is part of."""

    def __init__(self, steps: int = STEPS, whole: Budget | None = None) -> None:
        self._steps, self._whole = steps, whole

    @property
    def is_spent(self) -> bool:
        """Whether something was not decided for lack of steps."""
        return self._steps < 0

    def spend(self, steps: int) -> None:
        """Take some steps; TooHard when there were too many."""
        self._steps -= steps
        if self._whole is not None:
            self._whole.spend(steps)
        if self._steps < 0:
            raise TooHard

    def for_one(self) -> Budget:
        """The budget of one question out of this; TooHard if there is nothing left for it."""
        self.spend(_ASKING)
        return Budget(STEPS, self)
