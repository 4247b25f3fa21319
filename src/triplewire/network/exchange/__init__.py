"""Questions and answers over a link: one node asks, the other keeps the question until it has news (M8, M10).

In come questions of this node's own and the messages of others; out go messages, each with the number of its question.
The same code carries edges and hubs of a backbone in a simulation (`simulation.stations`) and between processes
(`channels.ends`). It does no IO and reads no clock: what the answer to a question is, another part finds out.
"""

from triplewire.network.exchange.messages import Answer, Asked, Declined, Question, Replied, is_due
from triplewire.network.exchange.nodes import ExchangeNode, ExchangeState

__all__ = ["Answer", "Asked", "Declined", "ExchangeNode", "ExchangeState", "Question", "Replied", "is_due"]
