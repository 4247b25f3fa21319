"""The compiled pass over a document's XML, and what it is made of.

What comes in: canonical XML as bytes, and tables of what is waited for, as arrays. What goes out: which states its
elements are in (`tags`), by the names that they have in their namespaces (`names`), and which of its values an entry
may wait for (`values`), or for a piece of (`pieces`). It knows no expression and makes no object.
"""
