"""Estimates tokens without a tokenizer; Chinese, Japanese and Korean count by character.

Estimates err on the high side. `TokenRatio` corrects them by what a provider counted for an earlier prompt.
"""

import json
from collections.abc import Iterable

from parlour_sdk import tokens
from parlour_sdk.protocol.content import MediaElement, TextElement
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.text_files import MAX_INLINE_BYTES, is_document, is_inline_text

from ..values import dataclass

MESSAGE_TOKENS = 4
IMAGE_TOKENS = 1000
MEDIA_TOKENS = 40
"""Tokens of the note that replaces other media."""
BYTES_PER_TOKEN = 3
MIN_SAMPLE_TOKENS = 200
MIN_RATIO, MAX_RATIO = 0.5, 4.0
MAX_ESTIMATED_TOOLS = 1000
_estimated_tools: dict[int, tuple[ToolDefinition, int]] = {}


def estimate_text(text: str) -> int:
    """Estimates a text; only an empty one has no tokens."""
    return tokens.estimated(text)


def estimate_message(message: Message) -> int:
    """Estimates a message with its media and tool calls."""
    content = message.content
    estimate = MESSAGE_TOKENS + (
        estimate_text(content) if isinstance(content, str) else sum(map(_estimate_element, content))
    )
    for call in message.tool_calls or ():
        estimate += MESSAGE_TOKENS + estimate_text(call.name) + estimate_text(_json(call.arguments))
    return estimate


def estimate_messages(messages: Iterable[Message]) -> int:
    return sum(map(estimate_message, messages))


def estimate_tools(tools: Iterable[ToolDefinition]) -> int:
    """Estimates definitions of tools. Those that were estimated lately are not estimated again."""
    return sum(map(_tool_tokens, tools))


def _tool_tokens(tool: ToolDefinition) -> int:
    known = _estimated_tools.get(id(tool))
    if known is not None and known[0] is tool:
        return known[1]
    text = f"{tool.name} {tool.description} {_json(tool.parameters_schema)}"
    if len(_estimated_tools) >= MAX_ESTIMATED_TOOLS:
        _estimated_tools.clear()
    _estimated_tools[id(tool)] = tool, MESSAGE_TOKENS + estimate_text(text)
    return _estimated_tools[id(tool)][1]


@dataclass(frozen=True, slots=True)
class TokenRatio:
    """The ratio of real tokens to estimated ones."""

    ratio: float = 1.0

    @classmethod
    def from_usage(cls, counted: int, estimated: int) -> "TokenRatio":
        """Computes the ratio; a short prompt, or a provider that counts nothing, predicts nothing and gives 1."""
        if estimated < MIN_SAMPLE_TOKENS or counted <= 0:
            return cls()
        return cls(min(MAX_RATIO, max(MIN_RATIO, counted / estimated)))

    def to_estimated(self, tokens: int) -> int:
        """Converts real tokens to estimated ones."""
        return int(tokens / self.ratio)

    def to_real(self, estimated: int) -> int:
        """Converts estimated tokens to real ones."""
        return int(estimated * self.ratio)


def _estimate_element(element: object) -> int:
    match element:
        case TextElement():
            return estimate_text(element.text)
        case MediaElement(type="image"):
            return IMAGE_TOKENS
        case MediaElement(text_bytes=int(limit)):
            return min(MAX_INLINE_BYTES, max(0, limit)) // BYTES_PER_TOKEN + MEDIA_TOKENS
        case MediaElement() if is_inline_text(element):
            return (element.size_bytes or 0) // BYTES_PER_TOKEN + MEDIA_TOKENS
        case MediaElement() if is_document(element):
            return MAX_INLINE_BYTES // BYTES_PER_TOKEN + MEDIA_TOKENS
        case _:
            return MEDIA_TOKENS


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
