"""`./run bench mdv`: the experiments of the MDV paper (its section 4) on this machine, as its figures 11 to 15."""
