"""Request and response schemas of an inbound webhook."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from parlour.core.model.ids import NO_AGENT, NO_BOT, AgentId, BotId, EventId
from parlour.core.model.inbound_webhook import SignatureScheme

from ..responses import Id


class WebhookBody(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "Pushes", "scheme": "github", "agent_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41"}]
        },
    )

    name: str = Field(min_length=1, max_length=200)
    scheme: SignatureScheme = "standard"
    agent_id: AgentId = Field(default=NO_AGENT, max_length=64)
    bot_id: BotId = Field(default=NO_BOT, max_length=64)
    enabled: bool = True
    secret: str | None = Field(default=None, min_length=16, max_length=200)
    """Signing secret. None creates one for a new webhook, and keeps the stored one otherwise."""


class WebhookResponse(TypedDict):
    webhook_id: Id
    name: str
    scheme: Literal["standard", "github"]
    agent_id: AgentId
    bot_id: BotId
    enabled: bool
    path: Annotated[str, Field(description="Where the other program calls")]
    url: Annotated[str | None, Field(description="The same below `http.public_url`; null where that is not set")]


class NewWebhook(WebhookResponse):
    secret: str
    """Shown this once."""


class WebhookCallResponse(TypedDict):
    event_id: EventId
    seq: int
    duplicate: bool
    """Whether this call had come before."""
