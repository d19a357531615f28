"""What the endpoints of the cluster answer."""

from typing import Literal

from typing_extensions import TypedDict

from ..responses import Id, TimestampMs

HostHealth = Literal["healthy", "unreachable", "late", "draining", "drained", "ended"]
"""`unreachable`: the other Hosts have no address of it. `late`: its lease is over, and the others take its work.
`draining`, `drained`: it gives its work away, or has none left. `ended`: it left or was fenced."""


class HostResponse(TypedDict):
    """A Host of the cluster. One that was fenced is listed for a day."""

    host_id: Id
    name: str
    version: str
    address: str | None
    """Where the other Hosts reach it."""
    state: Literal["live", "draining", "fenced"]
    health: HostHealth
    """How it is doing, in one word that the page explains."""
    started_at: TimestampMs
    fenced_at: TimestampMs | None
    lease_until: TimestampMs | None
    """When its lease ends unless it is renewed, by the clock of the database; null if it was fenced."""
    parts: list[str]
    """What it owns: bots, shares of the conversations without a bot, and duties."""
    answers_this: bool
    """True for the Host that answers this request."""


class PartResponse(TypedDict):
    """A part of the work: a bot, a share of the conversations without a bot, or a duty."""

    part: str
    host_id: Id | None
    """Its owner; null while it is free."""
    epoch: int
    """How often the owner has changed."""
    wanted_by: Id | None
    """The Host that asks for it."""
    moved_at: TimestampMs
