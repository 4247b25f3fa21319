"""Changes on their way into a hub: how they are spelled, where they are kept until a batch takes them, what is refused.

What comes in: changes, read or as they were sent. What goes out: the same changes, in order, each once, to an engine
that applies them; and those that were refused, each alone, with the reason. Nothing here knows what a change means.

    entries     a change as an entry of a log, and back       logs     the log of a store, and who reads it
    settlement  many changes, and the bad ones among them     journal  a log in files, beside a store that is a file
    pairs       how a store and its journal know each other
"""
