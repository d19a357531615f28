"""The tools that the agent brings itself: it reads files that a note names, and searches the earlier conversation."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from parlour_sdk.agents.template_variables import zone
from parlour_sdk.agents.tools import GrantedTool
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.content import MediaElement, TextElement
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.protocol.tools import ToolOutcome
from parlour_sdk.text_files import is_document

READ_TOOL = "artifact.read"
SEARCH_TOOL = "history.search"
PIECE_BYTES = 24_000
MAX_FOUND = 10
MAX_FOUND_CHARACTERS = 1000


def own_tools(ctx: AgentRunContext, api: AgentRunAPI) -> Sequence[GrantedTool]:
    """Returns the tools that the run's permissions allow; a granted tool of the same name goes before."""
    available, tools = ctx.context.available_apis, list[GrantedTool]()
    if available.artifact_read:
        tools.append(GrantedTool(READ_DEFINITION, partial(_read, api)))
    if available.history_search and ctx.context.has_history_before:
        tools.append(GrantedTool(SEARCH_DEFINITION, partial(_search, ctx, api)))
    return tools


READ_DEFINITION = ToolDefinition(
    name=READ_TOOL,
    description=f"Reads a file that a note names as artifact, also a document, as text: {PIECE_BYTES} bytes at once.",
    parameters_schema={
        "type": "object",
        "properties": {
            "artifact_id": {"type": "string"},
            "offset": {
                "type": "integer",
                "description": "Where to begin, in bytes; the end of a piece names the next.",
            },
        },
        "required": ["artifact_id"],
    },
)
SEARCH_DEFINITION = ToolDefinition(
    name=SEARCH_TOOL,
    description="Searches the earlier messages of this conversation by words, also those that a summary left out.",
    parameters_schema={
        "type": "object",
        "properties": {"query": {"type": "string", "description": "Words that the message has"}},
        "required": ["query"],
    },
)


async def _read(api: AgentRunAPI, parameters: dict[str, Any]) -> ToolOutcome:
    artifact_id, offset = parameters.get("artifact_id"), parameters.get("offset") or 0
    if not isinstance(artifact_id, str) or not isinstance(offset, int) or offset < 0:
        return _outcome("artifact_id is a text, and offset a number from 0", is_error=True)
    chunk = await api.artifacts.read(artifact_id, offset, PIECE_BYTES)
    text = _decoded(chunk.content)
    if text is None or is_document(MediaElement(type="file", mime_type=chunk.mime_type, artifact_id=artifact_id)):
        chunk = await api.artifacts.read(artifact_id, offset, PIECE_BYTES, as_text=True)
        text = chunk.content.decode(errors="ignore")
    end = offset + len(text.encode())
    more = f"\n[next offset {end} of {chunk.size_bytes}]" if chunk.has_more else ""
    return _outcome(f"{text}{more}")


async def _search(ctx: AgentRunContext, api: AgentRunAPI, parameters: dict[str, Any]) -> ToolOutcome:
    query = parameters.get("query")
    if not isinstance(query, str) or not query.strip():
        return _outcome("query: words to search for are missing", is_error=True)
    found = await api.history.search(query, top_k=MAX_FOUND)
    lines: list[str] = []
    for item in sorted(found.items, key=lambda each: each.seq or 0):
        if item.role not in ("user", "assistant") or not item.content:
            continue
        time = datetime.fromtimestamp((item.created_at or 0) / 1000, zone(ctx.runtime.timezone))
        sender = "you" if item.role == "assistant" else item.metadata.get("actor_name") or "user"
        content = " ".join(item.content[:MAX_FOUND_CHARACTERS].split())
        lines.append(f"[{time:%Y-%m-%d %H:%M} {sender}] {content}")
    return _outcome("\n".join(lines) or "Nothing was found. Try other words.")


def _decoded(content: bytes) -> str | None:
    """Decodes a piece without an incomplete last character; None if it is not text."""
    for missing in range(min(4, len(content) + 1)):
        try:
            return content[: len(content) - missing].decode()
        except UnicodeDecodeError:
            continue
    return None


def _outcome(text: str, is_error: bool = False) -> ToolOutcome:
    return ToolOutcome(content=[TextElement(text=text)], is_error=is_error)
