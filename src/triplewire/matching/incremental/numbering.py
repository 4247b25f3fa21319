"""Numbers of terms that need no table: each is a digest of the term's text.

A job that numbers terms on many machines would have to sort and join them for numbers in a row. A digest is known
where the text is. Two texts may have one number, if hardly ever (a hundred million terms: one chance in two
thousand), so the job that makes a table of texts looks for that and, if it is so, begins again with another salt.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b


@dataclass(frozen=True, slots=True)
class Numbering:
    """A way to number texts: `salt` tells ways apart; `bits` is how long numbers are, at most 63."""

    salt: int = 0
    bits: int = 63

    def number(self, text: str) -> int:
        """The number of a text; never 0, which is no term."""
        digest = blake2b(text.encode(), digest_size=8, salt=self.salt.to_bytes(8, "little")).digest()
        return int.from_bytes(digest, "little") >> (64 - self.bits) or 1

    def next(self) -> Numbering:
        """Another way to number them."""
        return Numbering(self.salt + 1, self.bits)


FIRST = Numbering()
"""The way that is tried first."""


class Numbers(dict[str, int]):
    """The numbers of texts, each digested once."""

    def __init__(self, numbering: Numbering) -> None:
        super().__init__()
        self._digest = numbering.number

    def __missing__(self, text: str) -> int:
        number = self[text] = self._digest(text)
        return number
