"""The finder of rows: from seeds, which are triples that fit a query's atoms, to the rows that use them.

    gather    the triples that could stand in a row together with a seed (`matching.incremental`)
    page      these triples as a document, in which terms are known by their numbers (`matching.pages`)
    find      the index finds what the document answers
    rows      what it finds, by query; where a limit was too low, the share is halved, or its queries have failed

What comes in: seeds, one state of the triples, and the queries of a provider. There are two providers: the standing
queries of a hub, which wait at each of their atoms because any of them may change; and a `plan` for a whole graph, in
which each conjunction is seeded at one atom only, since all of the graph is there, and the rarest costs least
(`queries` takes queries apart and chooses). What goes out of the `finder`: `rows`, the queries that went over a limit,
and the fans that were put off. `spelling` says what of documents a plan needs, and spells its rows. Shares of
the seeds may be cut anywhere, and their rows together are all rows. It does no IO but for opening and saving plans, and
knows nothing of how the work is shared out.
"""
