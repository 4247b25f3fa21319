"""Membership: which hubs form a network, which place of its topology is whose, and who stands at it now.

A table is a value with a stamp; decisions about members are functions of the table before. What all topologies share is
here; what a place is, which ones are beside it, and who stands in at one, each topology says by itself. No IO.
"""

from triplewire.network.membership.tables import Member, MemberTable, Seat, read_place, spelled_place

__all__ = ["Member", "MemberTable", "Seat", "read_place", "spelled_place"]
