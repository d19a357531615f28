"""Serves a loaded plugin: dispatches each action of the Host to the service of its kind, after initialization."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from parlour_sdk.plugin.loaded_plugin import LoadedPlugin
from parlour_sdk.wire import Peer, WireError

from .runs import Envelope, RunService, envelope

if TYPE_CHECKING:
    from parlour_sdk.api import PluginAPI

    from .commands import CommandService
    from .events import ListenerService
    from .knowledge import KnowledgeService
    from .pages import PageService
    from .tools import ToolService

CallHandler: TypeAlias = Callable[[Any], Coroutine[Any, Any, Any]]
StreamHandler: TypeAlias = Callable[[Any], AsyncGenerator[Any, None]]


class PluginService:
    """Dispatches requests: `service.peer = Peer(transport, service)`, then `await service.initialize()`.

    Services for kinds of components that the plugin does not have are never imported.
    """

    def __init__(self, plugin: LoadedPlugin, envelope: Envelope = envelope) -> None:
        self.loaded = plugin
        self.peer: Peer
        self.stopping = asyncio.Event()
        self._envelope = envelope
        self._initialized = asyncio.Event()
        if plugin.main is None:
            self._initialized.set()

    @cached_property
    def api(self) -> "PluginAPI":
        """The plugin's API outside a run."""
        from parlour_sdk.api import PluginAPI

        return PluginAPI(self.peer)

    async def initialize(self) -> None:
        """Initializes the plugin's main class; requests that arrive before it is done wait for it."""
        if self.loaded.main is not None:
            await self.loaded.main.initialize(self.api)
        self._initialized.set()

    async def close(self) -> None:
        if self.loaded.main is not None and self._initialized.is_set():
            await self.loaded.main.close()

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        match action:
            case "run_agent":
                return self._stream(self._runs.run_agent, data)
            case "list_components":
                return self._answer(self._list_components, data)
            case "list_agent_runners":
                return self._answer(self._list_agent_runners, data)
            case "check_runner":
                return self._answer(self._runs.check_runner, data)
            case "emit_event":
                return self._answer(self._events.emit_event, data)
            case "call_tool":
                return self._answer(self._tools.call_tool, data)
            case "run_command":
                return self._stream(self._commands.run_command, data)
            case "kb_ingest":
                return self._answer(self._knowledge.ingest, data)
            case "kb_retrieve":
                return self._answer(self._knowledge.retrieve, data)
            case "kb_delete":
                return self._answer(self._knowledge.delete, data)
            case "parse_file":
                return self._answer(self._knowledge.parse_file, data)
            case "read_page":
                return self._answer(self._pages.read_page, data)
            case "call_page":
                return self._answer(self._pages.call_page, data)
            case "shutdown":
                return self._shutdown()
            case _:
                raise WireError("not_supported", f"this plugin serves no action '{action}'")

    async def _answer(self, work: CallHandler, data: Any) -> Any:
        await self._initialized.wait()
        return await work(data)

    def _stream(self, work: StreamHandler, data: Any) -> AsyncGenerator[Any, None]:
        return work(data) if self._initialized.is_set() else self._stream_later(work, data)

    async def _stream_later(self, work: StreamHandler, data: Any) -> AsyncGenerator[Any, None]:
        await self._initialized.wait()
        async with aclosing(work(data)) as parts:
            async for part in parts:
                yield part

    async def _list_components(self, data: Any) -> dict[str, Any]:
        return {"components": list(self.loaded.components)}

    async def _list_agent_runners(self, data: Any) -> dict[str, Any]:
        metadata = self.loaded.manifest.metadata
        head = {"plugin_author": metadata.author, "plugin_name": metadata.name}
        manifests = self.loaded.runner_manifests.items()
        return {"runners": [{**head, "runner_name": name, "manifest": fields} for name, fields in manifests]}

    async def _shutdown(self) -> dict[str, Any]:
        self.stopping.set()
        return {}

    @cached_property
    def _runs(self) -> RunService:
        return RunService(self.loaded.runners, self.peer, self._envelope)

    @cached_property
    def _events(self) -> "ListenerService":
        from .events import ListenerService

        return ListenerService(self.loaded, self.api)

    @cached_property
    def _tools(self) -> "ToolService":
        from .tools import ToolService

        return ToolService(self.loaded, self.api)

    @cached_property
    def _commands(self) -> "CommandService":
        from .commands import CommandService

        return CommandService(self.loaded, self.api)

    @cached_property
    def _knowledge(self) -> "KnowledgeService":
        from .knowledge import KnowledgeService

        return KnowledgeService(self.loaded, self.api)

    @cached_property
    def _pages(self) -> "PageService":
        from .pages import PageService

        return PageService(self.loaded, self.api)
