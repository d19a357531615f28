"""Schemas of the frames that a chat client may send, and of the chat socket's query."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from parlour.core.model.ids import ApprovalId
from parlour_sdk.protocol.content import ContentElement


class ChatQuery(BaseModel):
    """Query parameters of the chat socket.

    `after` resumes: frames since that `seq` are sent again. `said` requests a frame of that type for each user message
    of this or another tab. `locale` is the user's language, in which notices of the Host are sent.
    """

    session: str = Field(default="default", min_length=1, max_length=200)
    after: int | None = Field(default=None, ge=0)
    said: bool = False
    locale: str = Field(default="", max_length=35)


class BroadcastBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    message: str = Field(min_length=1, max_length=10_000)


class ClientFrame(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MessageFrame(ClientFrame):
    """A user's message. `id` is the client's idempotency key: repeating it yields the same event."""

    type: Literal["message"]
    id: str | None = Field(default=None, min_length=1, max_length=255)
    text: str | None = None
    contents: list[ContentElement] = []


class CancelFrame(ClientFrame):
    type: Literal["cancel"]


class ApproveFrame(ClientFrame):
    """A decision about an approval that was requested in this chat."""

    type: Literal["approve"]
    approval_id: ApprovalId = Field(min_length=1, max_length=64)
    decision: Literal["approve", "always", "deny"]
    reason: str = Field(default="", max_length=1000)


class PingFrame(ClientFrame):
    type: Literal["ping"]


class DisconnectFrame(ClientFrame):
    type: Literal["disconnect"]


AnyFrame = Annotated[
    MessageFrame | CancelFrame | ApproveFrame | PingFrame | DisconnectFrame, Field(discriminator="type")
]
CLIENT_FRAMES: TypeAdapter[AnyFrame] = TypeAdapter(AnyFrame)
