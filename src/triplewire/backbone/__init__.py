"""The backbone: hubs that hold the same documents, schema and taxonomy, each document with one home (M10).

`BackboneHub` is a hub that asks the others what is new (`members` has what it remembers of that), tells them what it
knows (`answers`), takes over what it is told (`replicas`), and passes changes on to the homes of their documents. Hubs
that run elsewhere are asked over a channel (`links`), which either of both has dialled (`calls`).
"""

from triplewire.backbone.hub import BackboneHub
from triplewire.backbone.status import BackboneStatus, HomeConflict, MemberStatus, Replicated

__all__ = ["BackboneHub", "BackboneStatus", "HomeConflict", "MemberStatus", "Replicated"]
