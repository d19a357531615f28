"""Request schema of an injected event."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from parlour.core.model.ids import AgentId, BotId, ConversationId, EventId
from parlour_sdk.protocol.content import AgentInput

from ..validation_errors import register_pattern

EVENT_TYPE = register_pattern(r"^[a-z0-9_.]+$", "write it in small letters, as message.received")
Name = Field(default=None, min_length=1, max_length=255)


class ActorBody(BaseModel):
    """The sender. Unless the key's scope is `platform`, its id becomes `key:<key id>:<actor_id>` and a role in
    `metadata` is ignored.
    """

    model_config = ConfigDict(extra="forbid")

    actor_type: str = Field(default="user", min_length=1, max_length=64)
    actor_id: str = Field(min_length=1, max_length=255)
    actor_name: str = Field(default="", max_length=255)
    metadata: dict[str, Any] = {}


class SubjectBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    subject_type: str = Field(min_length=1, max_length=64)
    subject_id: str = Field(default="", max_length=255)
    data: dict[str, Any] = {}


class EventBody(BaseModel):
    """`conversation_id` is the caller's own name for the chat; `event_id` its idempotency key."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "agent_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41",
                    "conversation_id": "my chat",
                    "input": {"text": "Hello!"},
                }
            ]
        },
    )

    event_type: str = Field(default="message.received", min_length=1, max_length=128, pattern=EVENT_TYPE)
    event_id: EventId | None = Name
    bot_id: BotId | None = Name
    agent_id: AgentId | None = Name
    conversation_id: ConversationId | None = Name
    thread_id: str | None = Name
    actor: ActorBody | None = None
    subject: SubjectBody | None = None
    input: AgentInput = AgentInput()
    data: dict[str, Any] = {}


class EventQuery(BaseModel):
    wait: Literal["result"] | None = Field(default=None, description="Answer when the event is settled")
    timeout: float = Field(default=60, gt=0, le=600, description="Seconds to wait")
