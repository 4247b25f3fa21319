"""Matching: what `algebra.evaluate` says, fast, for many patterns at once.

What comes in: patterns in normal form with ids, documents. What goes out: for each document, the subscriptions that it
matches and their rows. The `index` is a set of flat arrays (`image`, `layout`, `tables`, `strings`), changed
by the `registry`, read by the compiled `kernel` (`warm` compiles it), which works in memory of its own; what it leaves
open (regular expressions, numbers beyond exact floating point) is checked in Python on the few rows that it finds
(`matches`). `findings` spells these out, `explanation` says how a subscription is evaluated, and `xml` matches XPath.
For answers whose triples come from several documents, `incremental` gathers what could complete them, and `finder` has
rows found in that, as `pages` of numbered terms. It never does IO but for saving and loading the index, and never reads
a clock.
"""

from triplewire.matching.index import Index
from triplewire.matching.matches import Match, Matches

__all__ = ["Index", "Match", "Matches"]
