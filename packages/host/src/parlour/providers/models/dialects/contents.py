"""Converts message parts that services do not support into text, and media into the content or address that they
accept.
"""

from parlour.core.encoding import dumps
from parlour_sdk.protocol.content import (
    ContentElement,
    JsonElement,
    MediaElement,
    MentionElement,
    QuoteElement,
    TextElement,
)


def to_text(element: ContentElement) -> str:
    match element:
        case TextElement():
            return element.text
        case JsonElement():
            return dumps(element.value)
        case MentionElement():
            return f"@{element.name or element.user_id}"
        case QuoteElement():
            said = "".join(to_text(each) for each in element.contents).replace("\n", "\n> ")
            return f"> {element.sender + ': ' if element.sender else ''}{said}\n"
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
