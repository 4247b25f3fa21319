"""The incremental matcher: from changed triples to the triples that could complete an answer with them.

What comes in: conjunctions, taken apart into shapes, constants and atoms; seeds (triples that fit atoms); lookups into
one state of the metadata. What goes out: a set of triples that holds every solution that uses a seed, small enough to
be matched as one document. It never does IO (a graph answers the `lookups`), never reads a clock, and decides no
answer: it may gather too much, never too little.

`patterns`, `shapes` and `atoms` are what queries are taken apart into. `gather` begins with seeds, or with fixed
variables; from there partial matches advance in `groups`, as `plans` say (`neighbourhood`), and what would be too much
takes `detours` or waits in `fans`. `answers` keeps what lookups have said; `flat` answers them for a whole graph, from
sorted columns of terms with numbers of their own.
"""

from triplewire.matching.incremental.atoms import atoms_of, enumerating
from triplewire.matching.incremental.gather import Question, Seed, gather, solve, thinned
from triplewire.matching.incremental.lookups import Key, Lookups, Triple
from triplewire.matching.incremental.neighbourhood import HIGH, MOST_TRIPLES
from triplewire.matching.incremental.patterns import dump_pattern, load_pattern
from triplewire.matching.incremental.shapes import Shape, shape_of, unanchored

__all__ = [
    "HIGH",
    "MOST_TRIPLES",
    "Key",
    "Lookups",
    "Question",
    "Seed",
    "Shape",
    "Triple",
    "atoms_of",
    "dump_pattern",
    "enumerating",
    "gather",
    "load_pattern",
    "shape_of",
    "solve",
    "thinned",
    "unanchored",
]
