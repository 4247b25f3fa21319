"""The network map: which way frames go where not every two hubs can speak to each other (N7).

Each hub has a router, with links to those that it can speak to. In come what neighbours know of links, how well they
answer, and frames for hubs elsewhere; out go changes of the map, and frames one step further on the shortest path.
Links that have failed, or are suspected to have, are avoided; a path is back when its links are. Any topology of hubs
can stand on it, and any graph of links be below it, cyclic or not. No IO, no clock, no chance.
"""

from triplewire.network.maps.carriage import RoutedFrame
from triplewire.network.maps.paths import EndReport, LinkEnd, PathTree, path_tree
from triplewire.network.maps.routers import MapRouter, RouterState, area_of, router_name

__all__ = [
    "EndReport",
    "LinkEnd",
    "MapRouter",
    "PathTree",
    "RoutedFrame",
    "RouterState",
    "area_of",
    "path_tree",
    "router_name",
]
