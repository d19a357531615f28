"""What a message is made of: text, media, quotes, mentions, and references to artifacts."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from .base import Listed, Tolerant, require_one
from .limits import NESTED_QUOTES


class ArtifactRef(Tolerant):
    """Names a file, medium or large result that the Host keeps."""

    artifact_id: str
    artifact_type: str
    """What it is for: `image`, `file`, `tool_result` and so on."""
    mime_type: str | None = None
    name: str | None = None
    size_bytes: int | None = None
    sha256: str | None = None
    summary: str | None = None
    """What is in it, in a few words."""
    expires_at: int | None = None


class TextElement(Tolerant):
    """Plain text."""

    type: Literal["text"] = "text"
    text: str


class MediaElement(Tolerant):
    """Bytes that live somewhere: exactly one of url, content_base64 and artifact_id says where."""

    ONE_OF: ClassVar = ("url", "content_base64", "artifact_id")

    type: Literal["image", "audio", "video", "file"]
    name: str | None = None
    mime_type: str | None = None
    size_bytes: int | None = None
    url: str | None = None
    content_base64: str | None = None
    """At most 32 KiB decoded; more is an artifact."""
    artifact_id: str | None = None
    text_bytes: int | None = None
    """In a prompt: the model gets at most so many bytes of the text of this artifact, and not the file."""

    @model_validator(mode="after")
    def _one_source(self) -> "MediaElement":
        require_one(self, self.ONE_OF)
        return self


class JsonElement(Tolerant):
    """Structured data."""

    type: Literal["json"] = "json"
    value: Any = None


class QuoteElement(Tolerant):
    """The message that this one answers. Quotes nest at most 8 deep."""

    type: Literal["quote"] = "quote"
    message_id: str | None = None
    sender: str | None = None
    """The id of its author."""
    name: str | None = None
    """The name of its author."""
    contents: "Listed[ContentElement]" = []

    @model_validator(mode="after")
    def _not_too_deep(self) -> "QuoteElement":
        if _depth(self) > NESTED_QUOTES:
            raise ValueError(f"quotes nest at most {NESTED_QUOTES} deep")
        return self


class MentionElement(Tolerant):
    """Somebody is addressed by name."""

    type: Literal["mention"] = "mention"
    user_id: str
    name: str | None = None
    everyone: bool = False
    """All of the chat, whoever `user_id` names."""


ContentElement = Annotated[
    TextElement | MediaElement | JsonElement | QuoteElement | MentionElement, Field(discriminator="type")
]
Content = Annotated[
    Annotated[str, Tag("text")] | Annotated[Listed[ContentElement], Tag("elements")],
    Discriminator(lambda value: "elements" if isinstance(value, list) else "text"),
]
"""A text, or a list of elements. The discriminator makes errors name the invalid element instead of the list."""


class AgentInput(Tolerant):
    """What was said to the agent; empty for an event that says nothing."""

    text: str | None = None
    contents: Listed[ContentElement] = []
    attachments: Listed[ArtifactRef] = []


def plain_text(content: "str | list[ContentElement] | None") -> str:
    """Returns the text of the content."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(element.text for element in content if isinstance(element, TextElement))


def says_something(content: "str | list[ContentElement] | None") -> bool:
    """Returns whether the content has anything visible; white space and invisible characters don't count."""
    if isinstance(content, list) and any(not isinstance(element, TextElement) for element in content):
        return True
    return any(each.isprintable() and not each.isspace() for each in plain_text(content))


def _depth(quote: QuoteElement) -> int:
    return 1 + max((_depth(each) for each in quote.contents if isinstance(each, QuoteElement)), default=0)
