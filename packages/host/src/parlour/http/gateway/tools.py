"""The tools of the gateway. Each is a call of the run's plugin: the gate checks and audits it like any other."""

import asyncio
import base64
import itertools
import json
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from parlour.core.actions.gate import Gate
from parlour.core.errors import CallRejected
from parlour.core.runs.session import RunSession
from parlour_sdk.values import dataclass

MAX_ANSWER_CHARACTERS = 256 * 1024
CALL_SECONDS = 55.0
"""Longest call. Clients give up soon after."""
VIA = "gateway"
"""How the audit names the way of these calls."""
STATE_PREFIX = "harness."
STATE_SCOPES = ("conversation", "actor")
MAX_IMAGE_BYTES = 1024 * 1024
_TEXT: dict[str, Any] = {"type": "string"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": 50}
_SCOPE: dict[str, Any] = {"type": "string", "enum": list(STATE_SCOPES)}
Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class GatewayTool:
    """One tool: its schema, and the API of a run without which it is not offered."""

    description: str
    properties: dict[str, Any]
    required: tuple[str, ...]
    api: str = ""
    permission: tuple[str, str] | None = None
    reads_only: bool = True


TOOLS: dict[str, GatewayTool] = {
    "context": GatewayTool("The event that you answer: chat, sender and time.", {}, ()),
    "history_page": GatewayTool(
        "Earlier messages of this chat, newest last.", {"before": _TEXT, "limit": _COUNT}, (), "history_page"
    ),
    "history_search": GatewayTool(
        "Searches the messages of this chat.", {"query": _TEXT, "limit": _COUNT}, ("query",), "history_search"
    ),
    "list_knowledge": GatewayTool(
        "The knowledge bases that you may search.", {}, (), permission=("knowledge_bases", "list")
    ),
    "retrieve_knowledge": GatewayTool(
        "Searches a knowledge base.",
        {"kb_id": _TEXT, "query": _TEXT, "top_k": {"type": "integer", "minimum": 1, "maximum": 10}},
        ("kb_id", "query"),
        permission=("knowledge_bases", "retrieve"),
    ),
    "list_tools": GatewayTool("The tools of the operator that you may call.", {}, (), permission=("tools", "call")),
    "get_tool": GatewayTool(
        "Description and schema of one of these tools.", {"name": _TEXT}, ("name",), permission=("tools", "detail")
    ),
    "call_tool": GatewayTool(
        "Calls one of these tools. A person may have to allow the call.",
        {"name": _TEXT, "arguments": {"type": "object"}},
        ("name",),
        permission=("tools", "call"),
        reads_only=False,
    ),
    "artifact_read": GatewayTool(
        "Reads a file of this chat by its artifact id.",
        {"id": _TEXT, "offset": {"type": "integer", "minimum": 0}, "length": {"type": "integer", "maximum": 65536}},
        ("id",),
        "artifact_read",
    ),
    "artifact_create": GatewayTool(
        "Stores a file and returns its artifact id.",
        {"name": _TEXT, "mime_type": _TEXT, "text": _TEXT, "base64": _TEXT},
        ("name",),
        "artifact_create",
        reads_only=False,
    ),
    "state_get": GatewayTool("Reads a value that you stored.", {"key": _TEXT, "scope": _SCOPE}, ("key",), "state"),
    "state_set": GatewayTool(
        "Stores a value for later messages of this chat or this sender.",
        {"key": _TEXT, "value": {}, "scope": _SCOPE},
        ("key", "value"),
        "state",
        reads_only=False,
    ),
    "state_list": GatewayTool("The keys that you stored.", {"scope": _SCOPE}, (), "state"),
}


class GatewayTools:
    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._numbers = itertools.count(1)
        self._calls: dict[str, Callable[[RunSession, Arguments], Awaitable[Any]]] = {
            name: getattr(self, f"_{name}") for name in TOOLS
        }

    def list(self, session: RunSession) -> list[types.Tool]:
        """Returns the tools for which the run has the permissions."""
        return [definition(name, tool) for name, tool in TOOLS.items() if _is_offered(session, tool)]

    async def call(self, session: RunSession, name: str, arguments: Arguments) -> types.CallToolResult:
        """Calls a tool. What goes wrong is a result for the model; only an unknown tool is an error of the protocol."""
        tool = TOOLS.get(name)
        if tool is None or not _is_offered(session, tool):
            raise MCPError(-32602, f"there is no tool '{name[:80]}'")
        if missing := [each for each in tool.required if each not in arguments]:
            return failure(f"invalid_argument: {missing[0]} is missing")
        try:
            async with asyncio.timeout(CALL_SECONDS):
                answer = await self._calls[name](session, arguments)
        except TimeoutError:
            return failure(f"deadline_exceeded: it took longer than {CALL_SECONDS:g} s")
        except CallRejected as refusal:
            return failure(f"{refusal.code}: {refusal.message}")
        if isinstance(answer, types.CallToolResult):
            return answer
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        cut = "" if len(text) <= MAX_ANSWER_CHARACTERS else "\n(the rest is left out)"
        return types.CallToolResult(content=[types.TextContent(type="text", text=text[:MAX_ANSWER_CHARACTERS] + cut)])

    async def _ask(self, session: RunSession, action: str, **values: Any) -> BaseModel:
        """Makes a call of the Host in the name of the run's plugin."""
        call_id = f"{session.run_id}:gateway:{next(self._numbers)}"
        data = {"call_id": call_id, "run_id": session.run_id, **values}
        if session.remote is not None:
            data["lease"] = session.remote.lease_token
        return await self._gate.call_typed(session.executor, action, data, VIA)

    async def _context(self, session: RunSession, arguments: Arguments) -> Any:
        event = session.event.envelope
        return {
            "event_type": event.event_type,
            "text": event.text,
            "sender": {"id": event.actor.id, "name": event.actor.name},
            "chat": event.chat,
            "time": event.event_time,
            "granted": {kind: sorted(names) for kind, names in session.grant.resources.items() if names},
        }

    async def _history_page(self, session: RunSession, arguments: Arguments) -> Any:
        limit, before = arguments.get("limit", 20), arguments.get("before")
        page: Any = await self._ask(session, "history_page", limit=limit, before_cursor=before, include_artifacts=True)
        return {"items": [_item(each) for each in page.items], "before": page.prev_cursor, "more": page.has_more}

    async def _history_search(self, session: RunSession, arguments: Arguments) -> Any:
        limit = min(int(arguments.get("limit") or 10), 20)
        found: Any = await self._ask(session, "history_search", query=arguments["query"], top_k=limit)
        return {"items": [_item(each) for each in found.items]}

    async def _list_knowledge(self, session: RunSession, arguments: Arguments) -> Any:
        return (await self._ask(session, "list_knowledge")).model_dump(mode="json", exclude_none=True)

    async def _retrieve_knowledge(self, session: RunSession, arguments: Arguments) -> Any:
        values = {name: arguments[name] for name in ("kb_id", "query", "top_k") if name in arguments}
        found: Any = await self._ask(session, "retrieve_knowledge", **values)
        return {
            "chunks": [
                {"text": each.content, "score": each.score, "source": each.source.model_dump(exclude_none=True)}
                for each in found.chunks
            ]
        }

    async def _list_tools(self, session: RunSession, arguments: Arguments) -> Any:
        return sorted(session.grant.resources.get("tools", {}))

    async def _get_tool(self, session: RunSession, arguments: Arguments) -> Any:
        detail = await self._ask(session, "get_tool_detail", tool_name=arguments["name"])
        return detail.model_dump(mode="json", exclude_none=True)

    async def _call_tool(self, session: RunSession, arguments: Arguments) -> Any:
        parameters = arguments.get("arguments") or {}
        outcome: Any = await self._ask(session, "call_tool", tool_name=arguments["name"], parameters=parameters)
        content = [each.model_dump(mode="json", exclude_none=True) for each in outcome.content]
        texts = [each["text"] if each.get("type") == "text" else json.dumps(each) for each in content]
        text = "\n".join(texts)[:MAX_ANSWER_CHARACTERS]
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=outcome.is_error)

    async def _artifact_read(self, session: RunSession, arguments: Arguments) -> Any:
        length = min(int(arguments.get("length") or 65536), 65536)
        offset = int(arguments.get("offset") or 0)
        chunk: Any = await self._ask(
            session, "artifact_read", artifact_id=arguments["id"], offset=offset, length=length
        )
        try:
            text: dict[str, Any] = {"text": chunk.content.decode()}
        except UnicodeDecodeError:
            text = {"base64": chunk.content_base64}
        return {**text, "mime_type": chunk.mime_type, "size": chunk.size_bytes, "more": chunk.has_more}

    async def _artifact_create(self, session: RunSession, arguments: Arguments) -> Any:
        if ("text" in arguments) == ("base64" in arguments):
            raise CallRejected("invalid_argument", "give either text or base64")
        encoded = arguments.get("base64")
        if encoded is None:
            encoded = base64.b64encode(str(arguments["text"]).encode()).decode()
        made: Any = await self._ask(
            session,
            "artifact_create",
            artifact_type="file",
            name=arguments["name"],
            mime_type=arguments.get("mime_type"),
            content_base64=encoded,
        )
        return {"artifact_id": made.artifact.artifact_id}

    async def _state_get(self, session: RunSession, arguments: Arguments) -> Any:
        values = {"scope": _scope(arguments), "key": _key(arguments)}
        return (await self._ask(session, "state_get", **values)).model_dump(mode="json")

    async def _state_set(self, session: RunSession, arguments: Arguments) -> Any:
        values = {"scope": _scope(arguments), "key": _key(arguments), "value": arguments["value"]}
        await self._ask(session, "state_set", **values)
        return "stored"

    async def _state_list(self, session: RunSession, arguments: Arguments) -> Any:
        keys: Any = await self._ask(session, "state_list", scope=_scope(arguments), prefix=STATE_PREFIX)
        return [each.removeprefix(STATE_PREFIX) for each in keys.keys]


def _is_offered(session: RunSession, tool: GatewayTool) -> bool:
    grant = session.grant
    return (not tool.api or tool.api in grant.apis) and (tool.permission is None or grant.has(tool.permission))


def definition(name: str, tool: GatewayTool) -> types.Tool:
    """Returns a tool as clients see it."""
    schema = {
        "type": "object",
        "properties": tool.properties,
        "required": list(tool.required),
        "additionalProperties": False,
    }
    hints = types.ToolAnnotations(read_only_hint=tool.reads_only, destructive_hint=not tool.reads_only)
    return types.Tool(name=name, description=tool.description, input_schema=schema, annotations=hints)


def _item(item: Any) -> dict[str, Any]:
    found = {"role": item.role, "time": item.created_at, "text": (item.content or "")[:4096]}
    files = [each.artifact_id for each in item.artifact_refs]
    return {**found, "artifacts": files} if files else found


def _scope(arguments: Arguments) -> str:
    scope = arguments.get("scope", "conversation")
    if scope not in STATE_SCOPES:
        raise CallRejected("invalid_argument", f"scope: use one of {', '.join(STATE_SCOPES)}")
    return str(scope)


def _key(arguments: Arguments) -> str:
    return f"{STATE_PREFIX}{arguments['key']}"


def failure(text: str) -> types.CallToolResult:
    """Returns a result that tells the model what went wrong."""
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)
