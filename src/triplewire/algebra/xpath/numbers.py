"""Numbers as libxml2 reads them, which decides: whole ones and decimals by themselves, and then their sum.

This is not always the float that is nearest to what is written (17.35 is 17 + 0.35). Up to fifteen digits every step of
it is known, and so is the outcome. Longer numbers, and those with exponents, which XPath 1.0 does not have, are known
only nearly.
"""

from __future__ import annotations

import re

MOST_DIGITS = 15
"""Numbers of so many digits are known exactly."""
NEAR = 1e-12
"""The others are off by less than this, in proportion."""

_NUMBER = re.compile(r"[ \t\r\n]*(-?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)((?:[eE][-+]?[0-9]+)?)(?:[eE][-+]?)?[ \t\r\n]*\Z")


def number_of(text: str) -> tuple[float, bool] | None:
    """The number that a text is, and whether it is known exactly; None if it is none.

    >>> number_of(" 17.35 "), number_of("1e3"), number_of("1,5")
    ((17.35, True), (1000.0, False), None)
    """
    found = _NUMBER.match(text)
    if found is None:
        return None
    sign, written, exponent = found.groups()
    if exponent or len(written) > MOST_DIGITS + 1:
        return float(sign + written + exponent), False
    whole, _, decimals = written.partition(".")
    number = int(whole or "0") + int(decimals or "0") / 10 ** len(decimals)
    return (-number if sign else number), len(whole) + len(decimals) <= MOST_DIGITS
