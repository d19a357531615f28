"""Makes a tool's result fit for storage and for a model: removes control characters and limits its size."""

import base64
import binascii
import re
from typing import Any

from pydantic_core import to_json

from parlour_sdk.protocol.content import ContentElement, JsonElement, MediaElement, TextElement
from parlour_sdk.protocol.tools import ToolOutcome

MAX_RESULT_BYTES = 4 * 1024 * 1024
"""Maximum size in bytes of one result."""
MAX_RESULT_ELEMENTS = 1000
BINARY_SHARE = 10
"""Reciprocal of the share of control characters above which a text counts as binary: one in ten."""

_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def sanitize_outcome(outcome: ToolOutcome) -> ToolOutcome:
    sanitizer = _ResultSanitizer()
    content = [sanitizer.sanitize(element) for element in outcome.content[:MAX_RESULT_ELEMENTS]]
    truncated = sanitizer.cut or len(outcome.content) > MAX_RESULT_ELEMENTS
    if truncated:
        content.append(
            TextElement(text=f"\n[the tool answered with more than is taken, {MAX_RESULT_BYTES} bytes; cut]")
        )
    return outcome.model_copy(update={"content": content, "truncated": outcome.truncated or truncated})


def sanitize_text(text: str) -> str:
    """Removes control characters; a mostly binary text is replaced by a note."""
    shorter, removed = _UNREADABLE.subn("", text)
    if removed * BINARY_SHARE > len(text):
        return f"[{len(text)} characters of binary data, which is not text]"
    return shorter


class _ResultSanitizer:
    def __init__(self) -> None:
        self._left = MAX_RESULT_BYTES
        self.cut = False

    def sanitize(self, element: ContentElement) -> ContentElement:
        match element:
            case TextElement():
                return TextElement(text=self._fitting(sanitize_text(element.text)))
            case JsonElement():
                return self._value(_without_controls(element.value))
            case MediaElement(content_base64=str(content)):
                return self._media(element, content)
            case _:
                return element

    def _fitting(self, text: str) -> str:
        encoded = text.encode()
        truncated = encoded[: self._left]
        self._left -= len(truncated)
        if len(truncated) == len(encoded):
            return text
        self.cut = True
        return truncated.decode(errors="ignore")

    def _value(self, value: Any) -> ContentElement:
        """Adds a JSON value; one that does not fit is replaced by the beginning of its text."""
        text = to_json(value)
        if len(text) > self._left:
            return TextElement(text=self._fitting(text.decode()))
        self._left -= len(text)
        return JsonElement(value=value)

    def _media(self, element: MediaElement, content: str) -> ContentElement:
        try:
            size = len(base64.b64decode(content, validate=True))
        except (binascii.Error, ValueError):
            return TextElement(text=f"[a file of type {element.type} that is not base64 was left out]")
        if len(content) > self._left:
            return TextElement(text=f"[a file of type {element.type} with {size} bytes was left out: it is too large]")
        self._left -= len(content)
        return element


def _without_controls(value: Any) -> Any:
    match value:
        case str():
            return _UNREADABLE.sub("", value)
        case list():
            return [_without_controls(each) for each in value]
        case dict():
            return {_UNREADABLE.sub("", name): _without_controls(each) for name, each in value.items()}
        case _:
            return value
