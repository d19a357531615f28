"""Passes pictures, sounds and files only to models that accept them; others receive a text note instead."""

from collections.abc import Collection, Sequence

from parlour_sdk.protocol.content import ContentElement, MediaElement, TextElement
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.protocol.messages import Message
from parlour_sdk.text_files import MAX_INLINE_BYTES, is_document, is_inline_text, is_pdf

ABILITIES = {"image": "vision", "audio": "audio", "video": "video", "file": "files"}
MAX_MEDIA = 16
"""Maximum of media in one request; older ones are replaced by a note."""
MAX_DOCUMENTS = 4
"""Maximum of documents in one request whose text is given; older ones are replaced by a note."""
REFUSAL_CODES = ("not_found", "payload_too_large", "unauthorized", "invalid_argument")
"""Errors after which a request with media is repeated once without them; services use the last one for any of these."""


def adapt_to_model(messages: Sequence[Message], abilities: Collection[str]) -> list[Message]:
    """Replaces media that the model does not accept, and all but the latest of many, by notes."""
    remaining, documents = MAX_MEDIA, MAX_DOCUMENTS
    adapted: list[Message] = []
    for message in reversed(messages):
        if not isinstance(message.content, str):
            elements = _usable_elements(message.content, abilities, remaining, documents)
            remaining -= sum(isinstance(each, MediaElement) for each in elements)
            documents -= sum(map(_is_given_as_text, elements))
            message = message.model_copy(update={"content": _as_text(elements)})
        adapted.append(message)
    return adapted[::-1]


def was_refused(error: AgentAPIException, messages: Sequence[Message], abilities: Collection[str]) -> bool:
    """Returns whether the call failed because of its media: a file of an old message may be deleted or too large."""
    return error.kind in REFUSAL_CODES and any(
        isinstance(element, MediaElement) and not is_inline_text(element) and not _is_given_as_text(element)
        for each in adapt_to_model(messages, abilities)
        if not isinstance(each.content, str)
        for element in each.content
    )


def text_abilities(abilities: Sequence[str]) -> list[str]:
    """Returns the abilities that have nothing to do with media."""
    return [each for each in abilities if each not in ABILITIES.values()]


def describe(element: MediaElement) -> str:
    """Returns the note that stands for a picture, sound or file: `[file: a.pdf, 14 bytes, artifact 7]`."""
    size = f"{element.size_bytes} bytes" if element.size_bytes is not None else None
    location = f"artifact {element.artifact_id}" if element.artifact_id else element.url
    details = ", ".join(detail for detail in (element.name, element.mime_type, size, location) if detail)
    return f"[{element.type}: {details}]" if details else f"[{element.type}]"


def has_only_documents(messages: Sequence[Message], abilities: Collection[str]) -> bool:
    """Returns whether all media that the model would get are documents, so that their text can replace them."""
    return all(
        is_document(element)
        for each in adapt_to_model(messages, abilities)
        if not isinstance(each.content, str)
        for element in each.content
        if isinstance(element, MediaElement) and not is_inline_text(element)
    )


def _is_given_as_text(element: ContentElement) -> bool:
    return isinstance(element, MediaElement) and element.text_bytes is not None and is_document(element)


def _usable_elements(
    content: Sequence[ContentElement], abilities: Collection[str], remaining: int, documents: int
) -> list[ContentElement]:
    elements: list[ContentElement] = []
    for element in content:
        if isinstance(element, MediaElement) and is_document(element) and documents > 0:
            is_native = is_pdf(element) and ABILITIES["file"] in abilities and element.text_bytes is None
            if not is_native or remaining <= 0:
                # the Host puts the text of the document in its place
                element = element.model_copy(update={"text_bytes": element.text_bytes or MAX_INLINE_BYTES})
                documents -= 1
            remaining -= is_native
            elements.append(element)
        elif isinstance(element, MediaElement) and is_inline_text(element):
            elements.append(element)  # the Host puts its text in its place
        elif isinstance(element, MediaElement) and (ABILITIES[element.type] not in abilities or remaining <= 0):
            elements.append(TextElement(text=describe(element)))
        else:
            remaining -= isinstance(element, MediaElement)
            elements.append(element)
    return elements


def _as_text(content: list[ContentElement]) -> str | list[ContentElement]:
    """Joins content that has only text elements into a plain text."""
    texts = [each.text for each in content if isinstance(each, TextElement)]
    return "\n".join(texts) if len(texts) == len(content) else content
