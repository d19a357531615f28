"""Serves a plugin over an in-memory wire to a Host that records its requests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from parlour_sdk.plugin import LoadedPlugin
from parlour_sdk.protocol.manifest import PluginManifest, PluginMetadata
from parlour_sdk.service import PluginService
from parlour_sdk.wire import Peer, memory_pair

MANIFEST = PluginManifest(
    apiVersion="parlour/v1", kind="Plugin", metadata=PluginMetadata(author="acme", name="hello", version="0.1.0")
)
BOT = {"id": "bot-1", "name": "Robin", "adapter": "telegram"}


def loaded(**kinds: Any) -> LoadedPlugin:
    """Returns a plugin with these components and specs: `loaded(tools={"t": Tool()}, specs={("Tool", "t"): {...}})`."""
    specs = kinds.pop("specs", {})
    summaries = tuple({"kind": kind, "name": name, "spec": spec} for (kind, name), spec in specs.items())
    return replace(LoadedPlugin(MANIFEST, components=summaries), **kinds)


class Host:
    """Answers each action with the answer of the test. An exception is raised."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, Any]] = []
        self.answers: dict[str, Any] = {"reply_message": {"message_id": "m-9"}}

    def dispatch(self, action: str, data: Any) -> Any:
        return self._answer(action, data)

    async def _answer(self, action: str, data: Any) -> Any:
        self.requests.append((action, data))
        answer = self.answers.get(action, {})
        if isinstance(answer, Exception):
            raise answer
        return answer


class Connection:
    def __init__(self, host: Host, peer: Peer, service: PluginService) -> None:
        self.host = host
        self.peer = peer
        self.service = service

    async def emit(self, event: dict[str, Any], **more: Any) -> Any:
        return await self.peer.call("emit_event", {"event": event, "bot": BOT, "conversation_id": "c-1", **more})

    async def call_tool(self, tool: str, parameters: Any = None, **more: Any) -> Any:
        return await self.peer.call("call_tool", {"tool_name": tool, "parameters": parameters or {}, **more})

    async def command(self, name: str, *arguments: str, **more: Any) -> list[Any]:
        request = {"command": name, "arguments": list(arguments), "text": " ".join(arguments), **more}
        return [reply async for reply in self.peer.stream("run_command", request)]


@asynccontextmanager
async def serving(plugin: LoadedPlugin) -> AsyncIterator[Connection]:
    one, other = memory_pair()
    host, service = Host(), PluginService(plugin)
    peer, service.peer = Peer(one, host), Peer(other, service)
    peer.start()
    service.peer.start()
    try:
        yield Connection(host, peer, service)
    finally:
        await peer.aclose()
        await service.peer.aclose()


def joined(**more: Any) -> dict[str, Any]:
    member = {"user": {"id": "u-1", "nickname": "Ada"}, "group_id": "g-1"}
    common = {"type": "group.member_joined", "event_id": "e-1", "timestamp": 1, "bot_id": "bot-1"}
    return {**common, "group": {"id": "g-1", "name": "Hall"}, "member": member, **more}


def received(text: str = "hi", **more: Any) -> dict[str, Any]:
    common = {"type": "message.received", "event_id": "e-2", "timestamp": 1, "bot_id": "bot-1", "message_id": "m-1"}
    chat = {"chat_type": "group", "chat_id": "g-1", "sender": {"id": "u-1"}}
    return {**common, **chat, "message_chain": [{"type": "Plain", "text": text}], **more}
