"""Response schemas of chat connections, broadcasts and sessions."""

from typing_extensions import TypedDict

from ..responses import Id, Moment


class ConnectionShown(TypedDict):
    session: str
    owner: str
    """Whose session it is: `user:` or `key:` and an id."""
    since: Moment


class Broadcast(TypedDict):
    connections: int
    """How many saw it."""


class SessionShown(TypedDict):
    """A session of yours with the agent, in its present conversation."""

    session: str
    conversation_id: Id
    items: int
    """How much was said."""
    title: str | None
    """How the first message of its begins; null while nothing was said."""
    created_at: Moment
    updated_at: Moment
