"""Sends requests outside a run to a plugin's components, as the Host would, and returns their answers."""

import base64
import logging
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from parlour_sdk.plugin import LoadedPlugin
from parlour_sdk.protocol.component_specs import KnowledgeEngineSpec
from parlour_sdk.protocol.components import CommandReply, EventOutcome
from parlour_sdk.protocol.events import Actor, Conversation
from parlour_sdk.protocol.knowledge import (
    IngestOutcome,
    KnowledgeChunk,
    KnowledgeFile,
    KnowledgeResult,
    ParsedFile,
)
from parlour_sdk.protocol.pages import PageAnswer, PageRole
from parlour_sdk.protocol.platform_events import PlatformEvent
from parlour_sdk.protocol.tools import ToolOutcome

from .components import accept_file_format, load_component, pick
from .config import fill_in_defaults
from .events import BOT, USER
from .in_memory_connection import InMemoryConnection

File = KnowledgeFile | Path | str | bytes
"""A file in the Host's form, its path, its text, or its bytes."""


class HandlerFailed(Exception):
    """Raised when a handler fails. A real Host would log the failure and continue with the other handlers."""

    def __init__(self, handlers: list[str], event_type: str) -> None:
        super().__init__(f"{', '.join(handlers)} failed on {event_type}")


class ExceptionCapture(logging.Handler):
    """Captures the first exception that the plugin's code logs; it is visible nowhere else."""

    def __init__(self) -> None:
        super().__init__()
        self.first: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self.first is None and record.exc_info:
            self.first = record.exc_info[1]

    def __enter__(self) -> "ExceptionCapture":
        logging.getLogger("parlour.worker").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("parlour.worker").removeHandler(self)


class ComponentClient(ABC):
    """The requests of a FakeHost other than runs.

    `component` is an instance, a class, a decorated function or a plugin.
    """

    conversation_id: str

    @abstractmethod
    def connection(self, loaded: LoadedPlugin) -> InMemoryConnection: ...

    async def emit(
        self,
        component: Any,
        event: PlatformEvent,
        *,
        variables: dict[str, Any] | None = None,
        observing: bool = False,
        rehearsal: bool = False,
    ) -> EventOutcome:
        """Delivers an event and returns the outcome. Raises HandlerFailed from the exception that a handler raised."""
        request = {
            "event": event.model_dump(mode="json"),
            "bot": {"id": event.bot_id, "name": event.bot_id, "adapter": event.adapter_name},
            "conversation_id": self.conversation_id,
            "variables": variables or {},
            "observing": observing,
            "rehearsal": rehearsal,
        }
        with ExceptionCapture() as raised:
            outcome = EventOutcome.model_validate(await self._request(load_component(component), "emit_event", request))
        if outcome.failed:
            raise HandlerFailed(outcome.failed, event.type) from raised.first
        return outcome

    async def call_tool(
        self, component: Any, parameters: dict[str, Any] | None = None, *, name: str | None = None
    ) -> ToolOutcome:
        plugin = load_component(component)
        request = {"tool_name": pick(plugin.tools, name, "tool"), "parameters": parameters or {}, **self._sender()}
        return ToolOutcome.model_validate(await self._request(plugin, "call_tool", request))

    async def command(self, component: Any, text: str = "", *, name: str | None = None) -> list[CommandReply]:
        """Returns the command's replies; `text` is what the user types after its name."""
        plugin = load_component(component)
        request = {
            "command": pick(plugin.commands, name, "command"),
            "arguments": text.split(),
            "text": text,
            "bot": {"id": BOT, "name": BOT, "adapter": "fake"},
            **self._sender(),
        }
        async with self.connection(plugin) as line:
            return [CommandReply.model_validate(part) async for part in line.stream("run_command", request)]

    async def ingest(
        self, engine: Any, file: File, *, kb_id: str = "kb-1", config: dict[str, Any] | None = None
    ) -> IngestOutcome:
        plugin = load_component(engine)
        request = {"kb_id": kb_id, "file": _to_file(file), "config": _engine_config(plugin, config)}
        return IngestOutcome.model_validate(await self._request(plugin, "kb_ingest", request))

    async def retrieve(
        self,
        engine: Any,
        query: str,
        *,
        kb_id: str = "kb-1",
        top_k: int = 5,
        filters: dict[str, Any] | None = None,
        config: dict[str, Any] | None = None,
    ) -> list[KnowledgeChunk]:
        plugin = load_component(engine)
        request = {"kb_id": kb_id, "query": query, "top_k": top_k, "filters": filters}
        request["config"] = _engine_config(plugin, config)
        return KnowledgeResult.model_validate(await self._request(plugin, "kb_retrieve", request)).chunks

    async def delete(
        self, engine: Any, file_id: str | None = None, *, kb_id: str = "kb-1", config: dict[str, Any] | None = None
    ) -> None:
        """Deletes a file, or the whole knowledge base if `file_id` is None."""
        plugin = load_component(engine)
        request = {"kb_id": kb_id, "file_id": file_id, "config": _engine_config(plugin, config)}
        await self._request(plugin, "kb_delete", request)

    async def parse(self, parser: Any, file: File, *, config: dict[str, Any] | None = None) -> ParsedFile:
        file_data = _to_file(file)
        plugin = accept_file_format(load_component(parser), file_data["name"])
        return ParsedFile.model_validate(
            await self._request(plugin, "parse_file", {"file": file_data, "config": config or {}})
        )

    async def call_page(
        self,
        page: Any,
        action: str,
        data: Any = None,
        *,
        role: PageRole = "admin",
        viewer: str = "user:1",
        name: str | None = None,
    ) -> PageAnswer:
        """Calls the plugin as a page does that a user with this role looks at."""
        plugin = load_component(page)
        request = {
            "page": pick(plugin.pages, name, "page"),
            "action": action,
            "data": data,
            "viewer": {"id": viewer, "name": viewer, "role": role},
        }
        return PageAnswer.model_validate(await self._request(plugin, "call_page", request))

    async def _request(self, plugin: LoadedPlugin, action: str, data: dict[str, Any]) -> Any:
        async with self.connection(plugin) as line:
            return await line.call(action, data)

    def _sender(self) -> dict[str, Any]:
        conversation = Conversation(conversation_id=self.conversation_id, bot_id=BOT, sender_id=USER.id)
        actor = Actor(actor_type="user", actor_id=USER.id, actor_name=USER.nickname)
        return {"conversation": conversation.model_dump(), "actor": actor.model_dump()}


def _engine_config(plugin: LoadedPlugin, config: dict[str, Any] | None) -> dict[str, Any]:
    """Fills in the defaults of the engine's form, as the Host does. Raises ValueError if the form rejects a value."""
    name = next(iter(plugin.knowledge_engines), "")
    spec = KnowledgeEngineSpec.model_validate(plugin.spec("KnowledgeEngine", name))
    return fill_in_defaults(spec.config_schema, config or {}, "knowledge engine")


def _to_file(file: File) -> dict[str, Any]:
    match file:
        case KnowledgeFile():
            fields = file
        case Path():
            fields = KnowledgeFile(file_id=file.name, name=file.name, content_base64=_encoded(file.read_bytes()))
        case bytes():
            fields = KnowledgeFile(file_id="file-1", name="file-1", content_base64=_encoded(file))
        case text:
            fields = KnowledgeFile(file_id="file-1", name="file-1.txt", mime_type="text/plain", text=text)
    return fields.model_dump(mode="json")


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()
