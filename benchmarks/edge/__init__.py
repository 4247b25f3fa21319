"""`./run bench edge`: a hub with many edges, each with many rules.

`workload` generates documents, rules and changes from a seed, and says which content must move; `measure` gives the
same batches to the hub alone, to its edges, and to what they are compared with: every document to every edge
(`flood`), and every question to the hub (`remote`). `run` prints what was promised.
"""
