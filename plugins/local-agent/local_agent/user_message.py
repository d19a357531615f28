"""A user's message in the form for a model: one text with quotes and mentions written out, and the media."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from parlour_sdk.protocol.content import (
    AgentInput,
    ContentElement,
    JsonElement,
    MediaElement,
    MentionElement,
    QuoteElement,
    TextElement,
)
from parlour_sdk.protocol.messages import Message


@dataclass(frozen=True, slots=True)
class UserMessage:
    text: str = ""
    media: tuple[MediaElement, ...] = ()
    speaker: str | None = None
    """Name of the sender in a group; None in a private chat."""
    passages: str = ""
    """Passages of the knowledge bases about the message."""

    @property
    def is_empty(self) -> bool:
        return not self.text.strip() and not self.media

    def to_message(self) -> Message:
        """Returns the message for the model; sender and passages are part of its text."""
        named = f"{self.speaker}: {self.text}" if self.speaker else self.text
        text = f"{self.passages}\n\n{named}" if self.passages else named
        if not self.media:
            return Message(role="user", content=text)
        words: list[ContentElement] = [TextElement(text=text)] if text else []
        return Message(role="user", content=[*words, *self.media])


def from_input(given: AgentInput, speaker: str | None = None) -> UserMessage:
    if not given.contents and not given.attachments:
        return UserMessage(given.text or "", speaker=speaker)
    said = from_contents(given.contents, speaker)
    if given.text and not any(isinstance(each, TextElement) for each in given.contents):
        said = replace(said, text="\n".join(part for part in (said.text, given.text) if part))
    shown = {each.artifact_id for each in said.media}
    files = [
        MediaElement(
            type="image" if (each.mime_type or "").startswith("image/") else "file",
            name=each.name,
            mime_type=each.mime_type,
            size_bytes=each.size_bytes,
            artifact_id=each.artifact_id,
        )
        for each in given.attachments
        if each.artifact_id not in shown
    ]
    return replace(said, media=(*said.media, *files))


def from_contents(contents: Iterable[ContentElement], speaker: str | None = None) -> UserMessage:
    words: list[str] = []
    media: list[MediaElement] = []
    for element in contents:
        match element:
            case TextElement():
                words.append(element.text)
            case MediaElement():
                media.append(element)
            case MentionElement():
                words.append(f"@{'everyone' if element.everyone else element.name or element.user_id} ")
            case JsonElement():
                words.append(json.dumps(element.value, ensure_ascii=False))
            case QuoteElement():
                quoted = from_contents(element.contents)
                words.append(_quote(element.name or element.sender, quoted.text))
                media += quoted.media
    return UserMessage("".join(words), tuple(media), speaker)


def _quote(sender: str | None, text: str) -> str:
    lines = "\n".join(f"> {line}" for line in text.splitlines())
    head = f"> {sender} wrote:\n" if sender else ""
    return f"{head}{lines}\n\n" if head or lines else ""
