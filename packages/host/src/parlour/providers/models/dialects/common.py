"""Converts what all dialects share: parts of messages, tool names and tool arguments."""

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from parlour.core.encoding import dumps, loads
from parlour_sdk.protocol.content import (
    ContentElement,
    JsonElement,
    MediaElement,
    MentionElement,
    QuoteElement,
    TextElement,
)

MAX_NAME_LENGTH = 64
"""Maximum length of a tool's name that services accept."""
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


def to_text(element: ContentElement) -> str:
    """Converts a part of a message to text, for services that do not support it."""
    match element:
        case TextElement():
            return element.text
        case JsonElement():
            return dumps(element.value)
        case MentionElement():
            return f"@{element.name or element.user_id}"
        case QuoteElement():
            quoted = "".join(to_text(each) for each in element.contents).replace("\n", "\n> ")
            return f"> {element.sender + ': ' if element.sender else ''}{quoted}\n"
        case MediaElement():
            return f"[{element.type}: {element.name or element.mime_type or 'without a name'}]"


def content_text(content: "str | list[ContentElement]") -> str:
    return content if isinstance(content, str) else "".join(map(to_text, content))


def mime_type(media: MediaElement) -> str:
    usual = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4"}
    return media.mime_type or usual.get(media.type, "application/octet-stream")


def data_address(media: MediaElement) -> str:
    """Returns the address of a medium, which may be a data URL with its content."""
    return media.url or f"data:{mime_type(media)};base64,{media.content_base64}"


class ToolNames:
    """Tool names of one request, mapped to those that services accept: letters, digits, _ and -, at most 64.

    The Host's names have no such limits.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._wire: dict[str, str] = {}
        self._original: dict[str, str] = {}
        for name in names:
            self.wire(name)

    def wire(self, name: str) -> str:
        """Returns the wire name: always the same for one name, and different for different names."""
        existing = self._wire.get(name)
        if existing is not None:
            return existing
        cleaned = _OTHER.sub("_", name)[:MAX_NAME_LENGTH]
        if not cleaned or cleaned in self._original:
            cleaned = f"{cleaned[: MAX_NAME_LENGTH - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
        self._wire[name], self._original[cleaned] = cleaned, name
        return cleaned

    def own(self, name: str) -> str:
        """Returns the Host's name; an unknown name stays as the model made it up."""
        return self._original.get(name, name)


def parse_arguments(text: str) -> Any:
    """Parses arguments. Invalid JSON stays a string: running the tool then reports it to the model."""
    if not text.strip():
        return {}
    try:
        return loads(text)
    except ValueError:
        return text


def serialize_arguments(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else dumps({} if arguments is None else arguments)


def valid_arguments(arguments: Any) -> str:
    """Serializes arguments for a request: a JSON object always, as strict services refuse anything else."""
    return dumps(as_object(arguments))


def as_object(arguments: Any) -> dict[str, Any]:
    """Returns the arguments as an object; what a model wrote in another form is left out, as services refuse it."""
    value = parse_arguments(arguments) if isinstance(arguments, str) else arguments
    return value if isinstance(value, dict) else {}
