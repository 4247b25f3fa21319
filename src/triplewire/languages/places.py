"""Places: where in a text something was written, for the errors that point there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from triplewire.errors import QuerySyntaxError, UnsupportedQuery

if TYPE_CHECKING:
    from lark import Token


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A line and a column of a text, both from 1; it makes the errors that point there."""

    language: str
    line: int
    column: int

    @classmethod
    def of(cls, language: str, token: Token) -> TextPlace:
        """Where a token begins."""
        return cls(language, token.line or 1, token.column or 1)

    @classmethod
    def at(cls, language: str, text: str, offset: int) -> TextPlace:
        """Where a text has come after so many characters."""
        return cls(language, text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))

    def wrong(self, reason: str, hint: str | None = None, expected: tuple[str, ...] = ()) -> QuerySyntaxError:
        """The error for what is not a sentence of the language."""
        return QuerySyntaxError(
            reason, language=self.language, line=self.line, column=self.column, expected=expected, hint=hint
        )

    def refused(self, reason: str, hint: str | None = None) -> UnsupportedQuery:
        """The error for what is valid and not served."""
        return UnsupportedQuery(reason, language=self.language, line=self.line, column=self.column, hint=hint)
