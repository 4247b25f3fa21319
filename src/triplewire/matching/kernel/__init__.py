"""The compiled part of matching: from the bytes of documents to the records that match them.

Three stages for each document, each one function over flat arrays, so that a call costs next to nothing:

    reading   N-Triples bytes -> the document's terms and triples, as small numbers, chained by their places
    seeding   triples -> the records that wait for one of them (the candidates)
    running   candidates -> complete matches, by running each record's program over the document's triples

`match` runs them for a batch of documents, and `telling` gives the subscriptions of what matched. Subscriptions come
and go in one call each as well (`registering`): from their spelling (`requests`) to the records that wait
(`recording`), by what they have in common (`sharing`, `families`), in the order that costs least (`planning`), in their
tables (`placing`). `hashing`, `numbers`, `classes` and `addresses` serve all stages; `compiled` is how they are
compiled, and says so.

What comes in: the index's arrays, documents as bytes. What goes out: matches, as numbers. It never makes a Python
object, never calls back, and never trusts a hash: every equality of terms is checked on their bytes.
"""

from triplewire.matching.kernel.match import match

__all__ = ["match"]
