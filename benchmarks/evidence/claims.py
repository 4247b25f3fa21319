"""What the papers say of their figures, and how it is seen in what was measured here.

A claim is about orders and shapes, never about milliseconds of another machine. What is seen is told whether it agrees
or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmarks.gtopss.experiments import FIGURES, GraphFigure

Point = dict[str, Any]
Points = Sequence[Point]


class Seen(NamedTuple):
    """What is seen here, in words, and whether that is what the paper says."""

    text: str
    agrees: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper says of a figure; `see` looks at the points of that figure."""

    paper: str
    source: str
    """The name of the measurements that it is seen in."""
    figure: str
    picture: str
    says: str
    see: Callable[[Points], Seen]

    def of(self, points: Points) -> list[Point]:
        """The points of this figure."""
        return [point for point in points if str(point.get("figure", self.figure)) == self.figure]


# -- MDV, figures 11 to 15

MDV = "MDV: distributed metadata management"
_BATCHES = "A document costs less in a batch, down to a size from which on the cost is nearly constant."
_MDV_SAYS = {
    11: f"{_BATCHES} The size of the rule base does not matter.",
    12: f"{_BATCHES} It depends on the size of the rule base.",
    13: "Few documents in one batch are better; the cost depends on the size of the rule base.",
    14: f"{_BATCHES} It depends on the size of the rule base.",
    15: "The more rules match, the more a document costs, whatever the batch.",
}


def _mdv(figure: int) -> Callable[[Points], Seen]:
    def see(points: Points) -> Seen:
        ours = [point for point in points if point["alternative"] == "triplewire"]
        if figure == 15:
            alone = {point["percentage"]: point["microseconds"] for point in ours if point["batch"] == 1}
            least, most = min(alone), max(alone)
            text = f"{least:g} % cost {_ms(alone[least])} for a document alone, {most:g} % cost {_ms(alone[most])}."
            return Seen(text, alone[most] > alone[least])
        small, large = (by(point["subscriptions"] for point in ours) for by in (min, max))
        cost = {(point["subscriptions"], point["batch"]): point["microseconds"] for point in ours}
        most = max(batch for rules, batch in cost if rules == small)
        alone, together = cost[small, 1], cost[small, most]
        times = cost[large, 1] / alone
        text = (
            f"Alone a document costs {_ms(alone)}, in batches of {most:,} {_ms(together)}; with {large:,} rules instead"
            f" of {small:,} it costs {times:.1f} times as much alone."
        )
        is_flat = times < 2
        agrees = together > alone * 0.5 if figure == 13 else together < alone
        return Seen(text, agrees and (is_flat or figure != 11))

    return see


def _ms(microseconds: float) -> str:
    return f"{microseconds / 1000:,.3g} ms"


# -- XML brokering, figures 2 and 3

BROKER = "XML matching in a distributed broker"


def _xml_profiles(points: Points) -> Seen:
    most = max(point["place"] for point in points)
    at = {point["series"]: point["milliseconds"] for point in points if point["place"] == most}
    each, short, ours = at["one XPath each"], at["with the paper's destinations"], at["Triplewire"]
    text = (
        f"{most:,} profiles: one XPath each {each:,.3g} ms, with the paper's destinations {short:,.3g} ms,"
        f" the index {ours:,.3g} ms."
    )
    return Seen(text, short < each)


def _xml_events(points: Points) -> Seen:
    few, most = min(point["place"] for point in points), max(point["place"] for point in points)
    ours = {point["place"]: point["milliseconds"] for point in points if point["series"] == "Triplewire"}
    text = f"One query costs {ours[few]:,.3g} ms over {few:,} stored documents, and {ours[most]:,.3g} ms over {most:,}."
    return Seen(text, ours[most] > ours[few])


# -- G-ToPSS, figures 9 and 10

GTOPSS = "G-ToPSS: graph-based metadata filtering"


def _graph(figure: GraphFigure) -> Callable[[Points], Seen]:
    return {
        "9a": _linear,
        "9b": _growing,
        "9c": _shrinking,
        "9d": _growing_by_edges,
        "9e": _growing_by_edges,
        "9f": _growing,
        "10a": _far_from("isomorphism"),
        "10b": _far_from("naive"),
    }[figure.name]


def _curve(points: Points, series: str = "", alternative: str = "triplewire") -> list[tuple[float, float]]:
    return [
        (
            point["subscriptions"]
            if point["figure"][:-1] == "10" or point["figure"] in ("9a", "9b")
            else point["place"],
            point["value"],
        )
        for point in points
        if point["series"] == series and point["alternative"] == alternative
    ]


def _linear(points: Points) -> Seen:
    curve = _curve(points)
    each = [value / number for number, value in curve]
    text = f"{each[0]:,.0f} bytes a subscription with {curve[0][0]:,}, and {each[-1]:,.0f} with {curve[-1][0]:,}."
    return Seen(text, 0.5 < each[-1] / each[0] < 1.5)


def _growing(points: Points) -> Seen:
    (few, low), (many, high) = _curve(points)[0], _curve(points)[-1]
    text = f"{_ms(low)} for a document at {few:g}, and {_ms(high)} at {many:g}: {high / low:.1f} times as much."
    return Seen(text, high > low)


def _shrinking(points: Points) -> Seen:
    (few, low), (many, high) = _curve(points)[0], _curve(points)[-1]
    text = f"{low / 1e6:,.3g} MB with an overlap of {few:.0%}, and {high / 1e6:,.3g} MB with {many:.0%}."
    return Seen(text, high < low)


def _growing_by_edges(points: Points) -> Seen:
    times = {}
    for series in dict.fromkeys(point["series"] for point in points):
        curve = _curve(points, series)
        times[series.split(",")[0]] = curve[-1][1] / curve[0][1], curve[0][0], curve[-1][0]
    text = "; ".join(
        f"{high:g} {what} instead of {low:g} take {factor:.1f} times as much"
        for what, (factor, low, high) in times.items()
    )
    return Seen(text + ".", times["edges"][0] > 1)


def _far_from(other: str) -> Callable[[Points], Seen]:
    def see(points: Points) -> Seen:
        names = {"triplewire": "the index", "naive": "one after the other", "isomorphism": "VF2"}
        last = {name: _curve(points, alternative=name)[-1] for name in dict.fromkeys(p["alternative"] for p in points)}
        told = ", ".join(f"{names[name]} {_ms(value)}" for name, (_, value) in last.items())
        number = next(iter(last.values()))[0]
        return Seen(f"{number:,} subscriptions: {told}.", last["triplewire"][1] < last[other][1])

    return see


# -- the ring, figures 5(a) to (c)

RING = "Continuous queries over a structured overlay"


def _ends(points: Points) -> dict[tuple[str, str], Point]:
    return {(point["run"], point["algorithm"]): point for point in points}


def _ring_hops(points: Points) -> Seen:
    last = _ends(points)
    sqc, mqc = last["paper", "sqc"]["hops"], last["paper", "mqc"]["hops"]
    text = f"{sqc:,} hops in SQC, and {mqc / sqc:.1f} times that in MQC"
    if ("without links", "sqc") in last:
        without = [last["without links", algorithm]["hops"] / sqc for algorithm in ("sqc", "mqc")]
        text += f"; without learnt links {without[0]:.1f} and {without[1]:.1f} times"
    return Seen(text + ".", mqc > sqc)


def _ring_load(points: Points) -> Seen:
    last = _ends(points)
    sqc, mqc = last["paper", "sqc"], last["paper", "mqc"]
    first = next(point for point in points if (point["run"], point["algorithm"]) == ("paper", "mqc"))
    growth = (mqc["load"] / first["load"]) / (mqc["triples"] / first["triples"])
    times = mqc["load"] / sqc["load"]
    text = (
        f"{sqc['load']:,} in SQC, {times:.2f} times that in MQC, which grew {growth:.1f} times as fast as the triples."
    )
    return Seen(text, mqc["load"] > sqc["load"])


def _ring_nodes(points: Points) -> Seen:
    last = _ends(points)
    sqc, mqc = last["paper", "sqc"], last["paper", "mqc"]
    text = f"{mqc['at_work']} of {mqc['nodes']:,} nodes at work in MQC, and {sqc['at_work']} in SQC."
    return Seen(text, mqc["at_work"] > sqc["at_work"])


CLAIMS = (
    *(Claim(MDV, "mdv", str(figure), f"figure{figure}.png", says, _mdv(figure)) for figure, says in _MDV_SAYS.items()),
    Claim(
        BROKER,
        "xml",
        "2",
        "xml-figure2.png",
        "Without looking again at a destination that is reached already, matching profiles takes much less time.",
        _xml_profiles,
    ),
    Claim(BROKER, "xml", "3", "xml-figure3.png", "A query takes the longer, the more events are stored.", _xml_events),
    *(Claim(GTOPSS, "graphs", each.name, f"graph-figure{each.name}.png", each.says, _graph(each)) for each in FIGURES),
    Claim(
        RING,
        "ring",
        "5a",
        "figure5a.png",
        "SQC takes about a third of the hops of MQC; without learnt links both take about 4 times those of SQC.",
        _ring_hops,
    ),
    Claim(RING, "ring", "5b", "figure5b.png", "Load grows linearly; MQC has slightly more than SQC.", _ring_load),
    Claim(RING, "ring", "5c", "figure5c.png", "850 of 1,000 nodes are at work in MQC, and 250 in SQC.", _ring_nodes),
)
"""Of all papers with measurements; that on super-peers has none."""
