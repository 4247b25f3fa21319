"""The tables of members that a live network can have, by the kind of the network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triplewire.network.hierarchy import UnitMembership
from triplewire.network.hypercube import Membership
from triplewire.network.membership import MemberTable

_TABLES: Mapping[str, type[MemberTable]] = {each.network: each for each in (Membership, UnitMembership)}


def table_of(network: str) -> type[MemberTable]:
    """The tables of a kind of network."""
    return _TABLES[network]


def read_table(told: dict[str, Any]) -> MemberTable:
    """The table that JSON tells; without a kind it is that of a hypercube. See `MemberTable.read`."""
    return table_of(told.get("network", Membership.network)).read(told)
