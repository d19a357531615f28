"""Converts the results of an MCP server into outcomes of the Host's tools."""

from collections.abc import Sequence
from typing import Any, Literal

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    ReadResourceResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic_core import from_json, to_json

from parlour_sdk.protocol.content import ContentElement, JsonElement, MediaElement, TextElement
from parlour_sdk.protocol.limits import RESULT_BYTES
from parlour_sdk.protocol.tools import ToolOutcome


def tool_outcome(result: CallToolResult) -> ToolOutcome:
    """Converts a tool result. Its structured content is kept beside the text, unless the text says the same."""
    elements = _merge_texts([_element(block) for block in result.content])
    if result.structured_content is not None and not _is_said(result.structured_content, result.content):
        elements.append(_value(result.structured_content))
    return ToolOutcome(content=elements, is_error=result.is_error)


def resource_outcome(result: ReadResourceResult) -> ToolOutcome:
    return ToolOutcome(content=_merge_texts([_contents(each) for each in result.contents]))


def prompt_outcome(result: GetPromptResult) -> ToolOutcome:
    """Converts a prompt into its messages with their roles, in order, in the form of an agent's instructions."""
    messages = [{"role": each.role, "content": _block_text(each.content)} for each in result.messages]
    return ToolOutcome(content=[_value({"description": result.description or "", "messages": messages})])


def _is_said(value: Any, blocks: Sequence[ContentBlock]) -> bool:
    """Returns whether the texts are the structured content, as the protocol asks for.

    Servers wrap a value that is no object in one with the field `result`, and may send a block per entry of a list.
    """
    values = [_parsed(block.text) for block in blocks if isinstance(block, TextContent)]
    wrapped = value["result"] if isinstance(value, dict) and value.keys() == {"result"} else value
    return bool(values) and any(
        said in (value, wrapped) for said in (values[0] if len(values) == 1 else values, values)
    )


def _parsed(text: str) -> Any:
    try:
        return from_json(text)
    except ValueError:
        return text


def _block_text(block: ContentBlock) -> str:
    element = _element(block)
    return element.text if isinstance(element, TextElement) else f"[content of type {block.type}]"


def _contents(resource: TextResourceContents | BlobResourceContents) -> ContentElement:
    if isinstance(resource, TextResourceContents):
        return TextElement(text=resource.text)
    kind: Literal["image", "file"] = "image" if (resource.mime_type or "").startswith("image/") else "file"
    return MediaElement(type=kind, mime_type=resource.mime_type, content_base64=resource.blob)


def _value(value: Any) -> ContentElement:
    """Returns a JSON element, or its text if it is large, because thousands of values are more expensive to pass on."""
    text = to_json(value)
    return TextElement(text=text.decode()) if len(text) > RESULT_BYTES else JsonElement(value=value)


def _merge_texts(elements: list[ContentElement]) -> list[ContentElement]:
    """Joins adjacent texts, each on its own line."""
    merged: list[ContentElement] = []
    for element in elements:
        last = merged[-1] if merged else None
        if isinstance(element, TextElement) and isinstance(last, TextElement):
            merged[-1] = TextElement(text=f"{last.text}\n{element.text}")
        else:
            merged.append(element)
    return merged


def _element(block: ContentBlock) -> ContentElement:
    match block:
        case TextContent():
            return TextElement(text=block.text)
        case ImageContent():
            return MediaElement(type="image", mime_type=block.mime_type, content_base64=block.data)
        case AudioContent():
            return MediaElement(type="audio", mime_type=block.mime_type, content_base64=block.data)
        case ResourceLink():
            return TextElement(text=f"[{block.title or block.name}]({block.uri})")
        case EmbeddedResource():
            return _contents(block.resource)
