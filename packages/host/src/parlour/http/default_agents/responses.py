"""Response schema of a default agent."""

from typing import Literal

from typing_extensions import TypedDict

from ..responses import Id, TimestampMs


class DefaultAgentResponse(TypedDict):
    """What its scope does not need is null."""

    default_id: Id
    scope: Literal["thread", "conversation", "channel", "actor", "workspace"]
    platform: str | None
    bot_id: Id | None
    bot_name: str | None
    chat: str | None
    """As its platform names it, such as `group:42`."""
    thread_id: str | None
    actor_id: str | None
    agent_id: Id
    agent_name: str
    agent_enabled: bool
    created_at: TimestampMs
    updated_at: TimestampMs
