"""One reliable link between two nodes: what is sent arrives, once and in order, or the other side is told all anew.

In come bodies to send and frames from the other side; out go frames, and bodies to apply. It does no IO, reads no clock
and draws no random number: the program that runs it hands in the time, carries the frames, and keeps `LinkState`
durably.
"""

from triplewire.network.link.frames import Arrivals, Frame, Heartbeat, Hello, LogEntry, Position
from triplewire.network.link.link import Deliver, Link, LinkLag, Output, Refuse, Resync, Send, Timing
from triplewire.network.link.state import LinkState

__all__ = [
    "Arrivals",
    "Deliver",
    "Frame",
    "Heartbeat",
    "Hello",
    "Link",
    "LinkLag",
    "LinkState",
    "LogEntry",
    "Output",
    "Position",
    "Refuse",
    "Resync",
    "Send",
    "Timing",
]
