"""Response schemas of chat connections, broadcasts and sessions."""

from typing_extensions import TypedDict

from ..responses import Id, TimestampMs


class ConnectionResponse(TypedDict):
    session: str
    owner: str
    """Whose session it is: `user:` or `key:` and an id."""
    since: TimestampMs


class BroadcastResponse(TypedDict):
    connections: int
    """How many saw it."""


class SessionResponse(TypedDict):
    """A session of yours with the agent, in its present conversation."""

    session: str
    conversation_id: Id
    items: int
    """How much was said."""
    title: str | None
    """How the first message of its begins; null while nothing was said."""
    created_at: TimestampMs
    updated_at: TimestampMs
