"""A Host for unit tests: runs any component of a plugin with scripted services, without process or network."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from warnings import warn

from parlour_sdk.components import Tool
from parlour_sdk.plugin import LoadedPlugin
from parlour_sdk.plugin.errors import unknown_tool
from parlour_sdk.plugin.forms import TOOL_SELECTOR, tool_names, unknown_tools
from parlour_sdk.protocol.events import Actor, AgentEvent
from parlour_sdk.protocol.history import HEARD, TranscriptItem
from parlour_sdk.protocol.listing import BotCapabilities
from parlour_sdk.protocol.manifest import Capabilities, Permissions, PluginPermissions
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.platform_events import PlatformEvent

from .client import ComponentClient
from .components import PluginWarning, load_component, pick
from .event_fixture import UserInput, create_event_fixture
from .events import BOT
from .gate import FakeGate, PluginEndpoint
from .host_resources import HostResources
from .in_memory_connection import InMemoryConnection
from .policy import AccessOverrides
from .records import HostRecords, ReadableIds
from .run import FakeRun, ObservedRunner
from .run_setup import RunOptions, RunSetup, SteeringPlan
from .script import Failure
from .served.actions import Approvals
from .served.catalog import HostCatalog
from .served.ledger import Ledger
from .served.platform import Platform, SentMessage, bot_with_all_apis
from .served.processes import Processes
from .served.steering import Steering
from .served.tools import FakeTool
from .sessions import RecordedCall

STATE_SCOPES = ("conversation", "actor", "subject", "binding")
TIMEOUT_SECONDS = 10.0


class FakeHost(ComponentClient):
    """Keeps history, state and other records from one run to the next; all runs share one conversation by default.

    A run is granted what its manifest asks for, as far as the Host was given it here; a runner without a manifest is
    granted everything. `permissions`, `capabilities` and `plugin_permissions` replace those of a manifest.
    """

    def __init__(
        self,
        *,
        models: Mapping[str, Any] | None = None,
        tools: Mapping[str, Any] | None = None,
        knowledge: Mapping[str, Any] | None = None,
        skills: Mapping[str, Any] | None = None,
        files: Mapping[str, Any] | None = None,
        programs: Mapping[str, Sequence[str]] | None = None,
        history: Sequence[tuple[str, str]] = (),
        state: Mapping[str, Mapping[str, Any]] | None = None,
        storage: Mapping[str, Mapping[str, bytes]] | None = None,
        artifacts: Mapping[str, bytes] | None = None,
        approvals: Approvals = "done",
        bots: Sequence[BotCapabilities] | None = None,
        answers: Mapping[str, Any] | None = None,
        permissions: Permissions | Mapping[str, Any] | None = None,
        capabilities: Capabilities | Mapping[str, bool] | None = None,
        plugin_permissions: PluginPermissions | Mapping[str, Any] | None = None,
        plugin_config: Mapping[str, Any] | None = None,
        state_scopes: Sequence[str] = STATE_SCOPES,
        other_conversations: bool = False,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        self._ids = ReadableIds()
        self.processes = Processes(programs or {})
        self.conversation_id = self._ids.new("conversation")
        new_id = self._ids.new
        self._resources = HostResources(
            models or {}, self._wrap_tools(tools or {}), knowledge or {}, skills or {}, files or {}
        )
        self._records = HostRecords.from_arguments(new_id, state, storage, artifacts, approvals)
        self._policy = AccessOverrides.from_arguments(
            permissions, capabilities, plugin_permissions, state_scopes, other_conversations
        )
        self._run_setup = RunSetup(self._resources, self._records, self._ids, self._policy)
        self._platform = Platform(bots or [bot_with_all_apis(BOT)], new_id)
        self._steering = Steering(self._run_setup.record_steering)
        self.ledger = Ledger(new_id, self._run_setup.build_claimed_context)
        self._timeout = timeout
        self._plugin_config = dict(plugin_config or {})
        self._gate = FakeGate(self._handlers(), answers or {})
        for role, text in history:
            self.say(role, text)

    async def run(self, component: Any, said: UserInput = "", **given: Any) -> FakeRun:
        """Executes one run to its end; takes the arguments of `start`."""
        async with self.start(component, said, **given) as run:
            pass
        return run

    def start(
        self,
        component: Any,
        said: UserInput = "",
        *,
        runner: str | None = None,
        event: PlatformEvent | AgentEvent | None = None,
        actor: Actor | None = None,
        config: Mapping[str, Any] | None = None,
        steering: SteeringPlan = (),
        attempt: int = 1,
        timeout: float | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> FakeRun:
        """Starts a run that the test can follow: `async with host.start(...) as run`.

        `steering` has the messages that the user sends during the run: before the first pull, or by the number of the
        pull that returns them. `timeout` is in seconds, 0 for none. `context` replaces fields of the runner's context.
        """
        plugin = self._with_own_tools(load_component(component))
        name = pick(plugin.runners, runner, "runner")
        self._warn_of_unknown_tools(plugin, name, config or {})
        seconds = self._timeout if timeout is None else timeout
        session, run_context = self._run_setup.open_run(
            self._policy.manifest(plugin, name),
            create_event_fixture(said, event, actor, self._ids),
            self.conversation_id,
            RunOptions(config or {}, steering, attempt, seconds, context or {}),
        )
        self._gate.register(session)
        watched = replace(plugin, runners={**plugin.runners, name: ObservedRunner(plugin.runners[name], session)})
        return FakeRun(run_context, session, self._records, self.connection(watched), self._steering, seconds or None)

    def say(self, role: str, text: str, actor: Actor | None = None, *, heard: bool = False) -> None:
        """Adds an earlier message of `user` or `assistant` to the history.

        `heard` marks a message of a group that was not addressed to the bot.
        """
        message, item_type = Message.model_validate({"role": role, "content": text}), HEARD if heard else "message"
        self._records.transcript.add(
            self.conversation_id, message, self._ids.new("event"), actor=actor, item_type=item_type
        )

    def new_conversation(self) -> str:
        """Starts a new conversation for the following runs and returns its id."""
        self.conversation_id = self._ids.new("conversation")
        return self.conversation_id

    def fail(
        self, action: str, code: str, message: str = "the test wants it so", *, retryable: bool = False, times: int = 1
    ) -> None:
        """Makes the next calls of this wire action (`call_tool`, `send_message`) fail with an error."""
        self._gate.fail(action, Failure(code, message, retryable), times)

    @property
    def calls(self) -> list[RecordedCall]:
        """All calls to the Host, inside runs and outside."""
        return self._gate.calls

    @property
    def sent(self) -> list[SentMessage]:
        """Messages that components sent or replied with, outside runs."""
        return self._platform.sent

    @property
    def history(self) -> list[TranscriptItem]:
        """The conversation so far."""
        return self._records.transcript.for_conversation(self.conversation_id)

    @property
    def storage(self) -> dict[str, dict[str, bytes]]:
        return self._records.storage.areas

    def connection(self, loaded: LoadedPlugin) -> InMemoryConnection:
        return InMemoryConnection(loaded, PluginEndpoint(self._gate, self._policy.plugin_grant(loaded)))

    def _handlers(self) -> dict[str, Any]:
        catalog = HostCatalog(self.new_conversation, self._plugin_config)
        groups = (self._resources, self._records, self._platform, self._steering, self.ledger, self.processes, catalog)
        return {name: handler for each in groups for name, handler in each.handlers().items()}

    def _wrap_tools(self, tools: Mapping[str, Any]) -> dict[str, Any]:
        """Wraps Tool components among the tools, so that they are called as a Host would call them."""
        return {name: self._tool(tool, None) if isinstance(tool, Tool) else tool for name, tool in tools.items()}

    def _with_own_tools(self, plugin: LoadedPlugin) -> LoadedPlugin:
        """Adds the plugin's own tools, so that its runner can be granted them."""
        for name in plugin.tools:
            for each in (name, f"{plugin.identity}.{name}"):  # a real Host knows only the second
                if not self._resources.tools.has(each):
                    self._resources.tools.add(each, self._tool(plugin, name))
        return plugin

    def _warn_of_unknown_tools(self, plugin: LoadedPlugin, runner: str, config: Mapping[str, Any]) -> None:
        """Warns about selected tools that a Host would not find under this id."""
        form = self._policy.manifest(plugin, runner).config_schema
        for item in (each for each in form if each.type == TOOL_SELECTOR):
            selected, tools = config.get(item.name) or (), self._resources.tools
            ids = [each for each in selected if each in plugin.tools or not tools.has(each)]
            for tool_id in unknown_tools(plugin.identity, plugin.tools, ids):
                known_tools = tool_names(plugin.identity, plugin.tools)
                warn(unknown_tool("config", item.name, tool_id, known_tools), PluginWarning, stacklevel=4)

    def _tool(self, component: Any, name: str | None) -> FakeTool:
        async def call(**parameters: Any) -> Any:
            return await self.call_tool(component, parameters, name=name)

        spec = component.spec("Tool", name) if isinstance(component, LoadedPlugin) and name else {}
        schema = spec.get("parameters", {"type": "object", "properties": {}})
        return FakeTool(call, parameters_schema=schema, read_only=spec.get("read_only", False), source="plugin")
