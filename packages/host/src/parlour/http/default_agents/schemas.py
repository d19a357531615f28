"""Request and response schemas of default agents."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from parlour.core.model.default_scope import ScopeKind
from parlour.core.model.ids import NO_BOT, AgentId, BotId

from ..responses import Id, TimestampMs


class DefaultAgentBody(BaseModel):
    """A thread is named by `bot_id`, `chat` and `thread_id`, a conversation by `bot_id` and `chat`, a channel by
    `platform` and `chat`, an actor by `platform` and `actor_id`, the workspace by nothing.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "scope": "conversation",
                    "bot_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41",
                    "chat": "group:42",
                    "agent_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e42",
                }
            ]
        },
    )

    scope: ScopeKind
    platform: str = Field(default="", max_length=100)
    bot_id: BotId = Field(default=NO_BOT, max_length=64)
    chat: str = Field(default="", max_length=500)
    """The chat as GET /conversations shows it; for a channel without the leading account."""
    thread_id: str = Field(default="", max_length=500)
    actor_id: str = Field(default="", max_length=500)
    agent_id: AgentId = Field(min_length=1, max_length=64)
    replaces: str = Field(default="", max_length=64)
    """Id of the agent that is the default there now. If it is empty, no agent is replaced."""


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
