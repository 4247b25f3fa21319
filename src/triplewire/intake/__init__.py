"""Changes on their way into a hub: how they are spelled, where they are kept until a batch takes them, what is refused.

What comes in: changes, read or as they were sent. What goes out: the same changes, in order, each once, to an engine
that applies them; and those that were refused, each alone, with the reason. Nothing here knows what a change means.

    entries     a change as an entry of a log, and back       logs     where changes are added, the end of a log
    settlement  many changes, and the bad ones among them     backlog  what waits, for an applier
    pairs       how a store and its journal know each other   journal  a log in files, beside a store that is a file
"""
