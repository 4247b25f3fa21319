"""Polling: a list of feeds in, asked now and then over HTTP, and what changed published to a hub (G4).

In come addresses (typed, or from OPML) and answers of servers; out go documents for a `Hub`, and a state for each feed
that is kept in the hub's store and survives restarts: its validators, when to ask next, how often it failed.

The way of the data: `roster` (the list, in the store; `opml` in and out), `schedule` (who is asked when: pure, no
clock, no IO), `fetching` (one question, over HTTP, and not too many at once), `poller` (rounds of all this). Which
machines may be asked says `triplewire.outbound`: none of a private network unless that is allowed. It never reads more
than a limit, never waits longer than a limit, and sends no cookies.
"""

from triplewire.polling.fetching import PollingManners
from triplewire.polling.poller import Poller, PollResult
from triplewire.polling.schedule import Followed, PollPace

__all__ = ["Followed", "PollPace", "PollResult", "Poller", "PollingManners"]
