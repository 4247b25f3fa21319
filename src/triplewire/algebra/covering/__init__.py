"""Covering: which patterns have all the answers of others, and which can have none.

What comes in: patterns and a taxonomy. What goes out: `covers`, a yes that is always right (`containment`);
`contradiction`, the reason for which a conjunction can never match (`contradictions`). The way: `mappings` finds one
pattern's triples among the other's, `solver` decides whether the conditions that are left can fail; it goes through
choices (`demands`), families of the taxonomy (`families`) and sorts of terms (`sorts`), reads each condition as a fact
(`facts`) and settles the facts of one case (`cases`, `lines`), as far as a budget goes. It never looks at triples: what
it says holds for all of them.
"""

from triplewire.algebra.covering.containment import covers
from triplewire.algebra.covering.contradictions import Contradiction, contradiction, satisfiable
from triplewire.algebra.covering.solver import Budget

__all__ = ["Budget", "Contradiction", "contradiction", "covers", "satisfiable"]
