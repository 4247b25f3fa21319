"""A short story on an open-data catalogue: publish, match, explain.

What comes in: the files beside this module (documents, a taxonomy of themes, subscriptions). What goes out: text on a
console. It uses only the public names of the library, so that it is also an example of how to call them; the crowd of
the last scene, whose patterns are built by hand, is the exception.
"""
