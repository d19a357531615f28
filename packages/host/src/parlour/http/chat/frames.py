"""What a chat client may send."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from parlour_sdk.protocol.content import ContentElement


class ChatQuery(BaseModel):
    """`after` resumes: what came since that `seq` is sent again."""

    session: str = Field(default="default", min_length=1, max_length=200)
    after: int | None = Field(default=None, ge=0)


class ClientFrame(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MessageFrame(ClientFrame):
    """`id` is the client's idempotency key: the same id again yields the same event."""

    type: Literal["message"]
    id: str | None = Field(default=None, min_length=1, max_length=255)
    text: str | None = None
    contents: list[ContentElement] = []


class CancelFrame(ClientFrame):
    type: Literal["cancel"]


class PingFrame(ClientFrame):
    type: Literal["ping"]


class DisconnectFrame(ClientFrame):
    type: Literal["disconnect"]


AnyFrame = Annotated[MessageFrame | CancelFrame | PingFrame | DisconnectFrame, Field(discriminator="type")]
CLIENT_FRAMES: TypeAdapter[AnyFrame] = TypeAdapter(AnyFrame)
