"""Patterns and what they mean.

What comes in: patterns that the languages compile, triples, a taxonomy. What goes out: rows (`evaluate`), the normal
form of a pattern (`normalize`), the bytes that an index reads of it (`canonical`), whether one covers another
(`covers`), what is wrong with it (`lint`), and why it matches or does not (`explain`). It never does IO, never keeps
state, and is never the fast path: `matching` is that, and is tested against `evaluate`.

`pattern` is the algebra, `expressions` says what its conditions mean, by the `values` of terms; a `taxonomy` has
classes and what is below them, `content` what a resource holds. The normal form is made by `conditions`, `core`,
`labels` and `substitution`. `covering` decides what covers what, `encoding` and `wording` spell expressions for an
index and for people, `outline` whole patterns, and `xpath` is all of this for XML.
"""
