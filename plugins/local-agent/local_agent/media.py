"""Passes pictures, sounds and files only to models that accept them; others receive a text note instead."""

from collections.abc import Collection, Sequence

from parlour_sdk.api import AgentAPIException
from parlour_sdk.protocol.content import ContentElement, MediaElement, TextElement
from parlour_sdk.protocol.messages import Message

ABILITIES = {"image": "vision", "audio": "audio", "video": "video", "file": "files"}
MAX_MEDIA = 16
"""Maximum of media in one request; older ones are replaced by a note."""
REFUSAL_CODES = ("not_found", "payload_too_large", "unauthorized")


def adapt_to_model(messages: Sequence[Message], abilities: Collection[str]) -> list[Message]:
    left = MAX_MEDIA
    adapted: list[Message] = []
    for message in reversed(messages):
        if not isinstance(message.content, str):
            given = _given(message.content, abilities, left)
            left -= sum(isinstance(each, MediaElement) for each in given)
            message = message.model_copy(update={"content": _plain(given)})
        adapted.append(message)
    return adapted[::-1]


def was_refused(error: AgentAPIException, messages: Sequence[Message], abilities: Collection[str]) -> bool:
    """Returns whether the call failed because of its media: a file of an old message may be deleted or too large."""
    return error.kind in REFUSAL_CODES and any(
        not isinstance(each.content, str) for each in adapt_to_model(messages, abilities)
    )


def text_abilities(abilities: Sequence[str]) -> list[str]:
    return [each for each in abilities if each not in ABILITIES.values()]


def describe(element: MediaElement) -> str:
    size = f"{element.size_bytes} bytes" if element.size_bytes is not None else None
    place = f"artifact {element.artifact_id}" if element.artifact_id else element.url
    facts = ", ".join(fact for fact in (element.name, element.mime_type, size, place) if fact)
    return f"[{element.type}: {facts}]" if facts else f"[{element.type}]"


def _given(content: Sequence[ContentElement], abilities: Collection[str], left: int) -> list[ContentElement]:
    given: list[ContentElement] = []
    for element in content:
        if isinstance(element, MediaElement) and (ABILITIES[element.type] not in abilities or left <= 0):
            given.append(TextElement(text=describe(element)))
        else:
            left -= isinstance(element, MediaElement)
            given.append(element)
    return given


def _plain(content: list[ContentElement]) -> str | list[ContentElement]:
    """Joins content that has only text elements into a plain text."""
    words = [each.text for each in content if isinstance(each, TextElement)]
    return "\n".join(words) if len(words) == len(content) else content
