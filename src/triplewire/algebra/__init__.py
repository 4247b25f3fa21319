"""Patterns and what they mean.

What comes in: patterns that the languages compile, triples, a taxonomy. What goes out: rows (`evaluate`), the normal
form of a pattern (`normalize`), the bytes that an index reads of it (`canonical`), whether one covers another
(`covers`), what is wrong with it (`lint`), and why it matches or does not (`explain`). It never does IO, never keeps
state, and is never the fast path: `matching` is that, and is tested against `evaluate`.
"""
