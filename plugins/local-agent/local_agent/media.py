"""Gives pictures, sounds and files only to models that take them in; to the others a note says what there was."""

from collections.abc import Collection, Sequence

from parlour_sdk.protocol.content import ContentElement, MediaElement, TextElement
from parlour_sdk.protocol.messages import Message

ABILITIES = {"image": "vision", "audio": "audio", "video": "video", "file": "files"}


def for_model(messages: Sequence[Message], abilities: Collection[str]) -> list[Message]:
    return [each if isinstance(each.content, str) else _adapted(each, abilities) for each in messages]


def note(element: MediaElement) -> str:
    size = f"{element.size_bytes} bytes" if element.size_bytes is not None else None
    place = f"artifact {element.artifact_id}" if element.artifact_id else element.url
    facts = ", ".join(fact for fact in (element.name, element.mime_type, size, place) if fact)
    return f"[{element.type}: {facts}]" if facts else f"[{element.type}]"


def _adapted(message: Message, abilities: Collection[str]) -> Message:
    elements = [_element(each, abilities) for each in message.content if not isinstance(each, str)]
    if all(isinstance(each, TextElement) for each in elements):
        text = "\n".join(each.text for each in elements if isinstance(each, TextElement))
        return message.model_copy(update={"content": text})
    return message.model_copy(update={"content": elements})


def _element(element: ContentElement, abilities: Collection[str]) -> ContentElement:
    if isinstance(element, MediaElement) and ABILITIES[element.type] not in abilities:
        return TextElement(text=note(element))
    return element
