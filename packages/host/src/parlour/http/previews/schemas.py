"""Request and response schemas of previews."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from parlour.core.model.ids import ConversationId, EventId

ChatType = Literal["private", "group"]
ChatId = Annotated[str, Field(min_length=1, max_length=255)]
SAMPLE_CHAT = "preview"


class PersonBody(BaseModel):
    """The person who is said to write. Only rules see the id and the role."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(default="preview", min_length=1, max_length=255)
    name: str = Field(default="", max_length=255)
    role: str = Field(default="", max_length=64, description="Role in the group, such as admin")


class PreviewBody(BaseModel):
    """A message as if it were written on the platform. Repeated with its event_id, it is the same message."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "text": "Hello!",
                    "chat_type": "group",
                    "chat_id": "42",
                    "mentions_bot": True,
                    "person": {"id": "7", "name": "Ann", "role": "admin"},
                }
            ]
        },
    )

    text: str = Field(min_length=1, max_length=100_000)
    event_id: EventId | None = Field(default=None, min_length=1, max_length=255)
    chat_type: ChatType = "private"
    chat_id: ChatId = SAMPLE_CHAT
    mentions_bot: bool = Field(default=False, description="In a group: whether the message mentions the bot")
    person: PersonBody = PersonBody()


class PreviewConversation(TypedDict):
    conversation_id: ConversationId | None
    """The conversation that keeps the history of this preview; null before the first message."""
