"""What a chat client may send."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from parlour_sdk.protocol.content import ContentElement


class ChatQuery(BaseModel):
    """`after` resumes: what came since that `seq` is sent again. With `said`, what is said here or in another tab is
    told by frames of that type. `locale` is the person's language, in which the Host's own notices come."""

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
    """`id` is the client's idempotency key: the same id again yields the same event."""

    type: Literal["message"]
    id: str | None = Field(default=None, min_length=1, max_length=255)
    text: str | None = None
    contents: list[ContentElement] = []


class CancelFrame(ClientFrame):
    type: Literal["cancel"]


class ApproveFrame(ClientFrame):
    """A decision about an action that was put before the people of this chat."""

    type: Literal["approve"]
    approval_id: str = Field(min_length=1, max_length=64)
    decision: Literal["approve", "deny"]
    reason: str = Field(default="", max_length=1000)


class PingFrame(ClientFrame):
    type: Literal["ping"]


class DisconnectFrame(ClientFrame):
    type: Literal["disconnect"]


AnyFrame = Annotated[
    MessageFrame | CancelFrame | ApproveFrame | PingFrame | DisconnectFrame, Field(discriminator="type")
]
CLIENT_FRAMES: TypeAdapter[AnyFrame] = TypeAdapter(AnyFrame)
