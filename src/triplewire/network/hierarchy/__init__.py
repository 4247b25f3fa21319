"""The hierarchy: brokers in clusters, clusters in super-clusters, and so on; each unit has a controller (N2).

A controller knows its sub-units and the unit that it is in, and nothing else. Interests climb, and are kept at each
level as coming from the immediate sub-unit; they descend only to where something for them is advertised. So what a
broker publishes meets what is asked for in the smallest unit that has both. No IO, no clock, no chance.
"""

from triplewire.network.hierarchy.answers import (
    AnswerCache,
    AnswerCount,
    AnswersGone,
    FoundAdvertisement,
    FoundDocuments,
    QueryAnswered,
    QueryAsked,
    Sought,
    StoredPublication,
)
from triplewire.network.hierarchy.membership import BrokerMember, UnitMembership, units_named
from triplewire.network.hierarchy.queries import BrokerHub, BrokerState, QueryBook, QueryingHub
from triplewire.network.hierarchy.standbys import (
    ControllerHub,
    StandbyNode,
    StandbyState,
    StateCopied,
    StepTaken,
    controller_of,
    shared_state,
    standby_of,
)
from triplewire.network.hierarchy.units import (
    MOST_LEVELS,
    MOST_SUB_UNITS,
    Path,
    TreeTopology,
    brokers_of,
    check_clusters,
    controllers,
    path_of,
    unit_name,
    vectors,
)

__all__ = [
    "MOST_LEVELS",
    "MOST_SUB_UNITS",
    "AnswerCache",
    "AnswerCount",
    "AnswersGone",
    "BrokerHub",
    "BrokerMember",
    "BrokerState",
    "ControllerHub",
    "FoundAdvertisement",
    "FoundDocuments",
    "Path",
    "QueryAnswered",
    "QueryAsked",
    "QueryBook",
    "QueryingHub",
    "Sought",
    "StandbyNode",
    "StandbyState",
    "StateCopied",
    "StepTaken",
    "StoredPublication",
    "TreeTopology",
    "UnitMembership",
    "brokers_of",
    "check_clusters",
    "controller_of",
    "controllers",
    "path_of",
    "shared_state",
    "standby_of",
    "unit_name",
    "units_named",
    "vectors",
]
