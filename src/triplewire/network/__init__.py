"""Many hubs: links between them, and what travels over these.

`link` is one reliable link; everything between hubs goes over one. It does no IO, reads no clock and draws no random
number, so that the same code runs between processes and in a simulation of virtual time.
"""
