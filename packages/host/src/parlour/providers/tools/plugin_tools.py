"""Provides the tools of plugins, named `author/plugin.tool`.

A tool runs in its plugin's process with that plugin's permissions, whatever run calls it: the call contains who asked,
but none of the caller's permissions.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from parlour.core.model.ids import PluginId
from parlour.core.model.ports import PluginCaller, PluginCallFailed, PluginDisconnected, PluginUnavailable
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour.core.plugin_hooks.components import ComponentRegistry, RegisteredComponent
from parlour_sdk.protocol.component_specs import ToolSpec
from parlour_sdk.protocol.events import Actor, Conversation
from parlour_sdk.protocol.tools import ToolInvocation, ToolOutcome

from .source import OfferedTool


class PluginTools:
    """Source of the tools of all plugins."""

    def __init__(self, components: ComponentRegistry, plugins: PluginCaller, seconds: float) -> None:
        self._components = components
        self._plugins = plugins
        self._seconds = seconds
        self._seen: list[RegisteredComponent[ToolSpec]] = []
        self._offers: tuple[OfferedTool, ...] = ()

    def tools(self) -> Sequence[OfferedTool]:
        tools = self._components.tools()
        if tools is not self._seen:
            self._seen, self._offers = tools, tuple(_offer(tool) for tool in tools)
        return self._offers

    async def call(self, asking: CallContext, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        plugin_id, _, name = tool_name.partition(".")
        try:
            answer = await self._plugins.call(
                PluginId(plugin_id), "call_tool", _request(asking, name, parameters), self._seconds
            )
            return ToolOutcome.model_validate(answer)
        except PluginUnavailable as error:
            words = f"the tool '{tool_name}' was not called: {error}"
            raise ProviderFailed("runtime_error", words, retryable=True) from error
        except PluginCallFailed as error:
            how = "gave more than can be passed on" if error.code == "payload_too_large" else "failed"
            raise ProviderFailed(error.code, f"the tool '{tool_name}' {how}: {error}") from error
        except PluginDisconnected as error:
            words = f"the plugin of the tool '{tool_name}' went away during the call; whether it acted is not known"
            raise ProviderFailed("runtime_error", words) from error
        except ValidationError as error:
            raise ProviderFailed("runtime_error", f"the tool '{tool_name}' gave what is no answer") from error


def _offer(tool: RegisteredComponent[ToolSpec]) -> OfferedTool:
    described = tool.description or {}
    return OfferedTool(
        f"{tool.plugin_id}.{tool.name}",
        "plugin",
        f"the plugin {tool.plugin_id}",
        described.get("en_US") or next(iter(described.values()), ""),
        tool.spec.parameters,
        tool.spec.read_only,
    )


def _request(asking: CallContext, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    invocation = ToolInvocation(
        tool_name=name,
        parameters=parameters,
        run_id=asking.run_id or None,
        conversation=Conversation(conversation_id=asking.conversation_id) if asking.conversation_id else None,
        actor=Actor(actor_type=asking.actor_type, actor_id=asking.actor_id or None) if asking.actor_type else None,
    )
    return invocation.model_dump(mode="json", exclude_none=True)
