"""Response schemas of an inbound webhook."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from ..responses import Id


class WebhookResponse(TypedDict):
    webhook_id: Id
    name: str
    scheme: Literal["standard", "github"]
    agent_id: str
    bot_id: str
    enabled: bool
    path: Annotated[str, Field(description="Where the other program calls")]
    url: Annotated[str | None, Field(description="The same below `http.public_url`; null where that is not set")]


class NewWebhook(WebhookResponse):
    secret: str
    """Shown this once."""


class WebhookCallResponse(TypedDict):
    event_id: str
    seq: int
    duplicate: bool
    """Whether this call had come before."""
