"""What a message is made of: text, media, quotes, mentions, and references to artifacts."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from .base import Tolerant


class ArtifactRef(Tolerant):
    artifact_id: str
    artifact_type: str
    mime_type: str | None = None
    name: str | None = None
    size_bytes: int | None = None
    sha256: str | None = None
    summary: str | None = None
    expires_at: int | None = None


class TextElement(Tolerant):
    type: Literal["text"] = "text"
    text: str


class MediaElement(Tolerant):
    """Bytes that live somewhere: exactly one of url, content_base64 and artifact_id says where."""

    type: Literal["image", "audio", "video", "file"]
    name: str | None = None
    mime_type: str | None = None
    size_bytes: int | None = None
    url: str | None = None
    content_base64: str | None = None
    artifact_id: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "MediaElement":
        if sum(source is not None for source in (self.url, self.content_base64, self.artifact_id)) != 1:
            raise ValueError("give exactly one of url, content_base64 and artifact_id")
        return self


class JsonElement(Tolerant):
    type: Literal["json"] = "json"
    value: Any


class QuoteElement(Tolerant):
    type: Literal["quote"] = "quote"
    message_id: str | None = None
    sender: str | None = None
    contents: "list[ContentElement]" = []


class MentionElement(Tolerant):
    type: Literal["mention"] = "mention"
    user_id: str
    name: str | None = None
    everyone: bool = False


ContentElement = Annotated[
    TextElement | MediaElement | JsonElement | QuoteElement | MentionElement, Field(discriminator="type")
]


class AgentInput(Tolerant):
    text: str | None = None
    contents: list[ContentElement] = []
    attachments: list[ArtifactRef] = []


def plain_text(content: "str | list[ContentElement] | None") -> str:
    """The readable part of some content."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(element.text for element in content if isinstance(element, TextElement))
