"""The whole graph at once: every row of many queries over triples that are all there, in shares.

What comes in: queries, and a graph that does not change, as sorted arrays. `queries` takes the queries apart and
chooses for each conjunction the one atom at which it is seeded: all of the graph is there, so one will do, and the
rarest costs least. `plan` is what a worker needs of that, as flat files. `finding` goes from a share of the seeds to
rows, by the gathering and the index that serve changes; shares may be cut anywhere, and their rows together are all
rows. What goes out: rows, each with the documents behind it, and the queries that went over a limit. It does no IO but
for opening and saving these files, and knows nothing of who shares the work out.
"""
