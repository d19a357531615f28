"""Serves tool calls: checks the parameters first, and converts the result into content for a model."""

import logging
from typing import Any

from parlour_sdk.api import AgentAPIException, PluginAPI
from parlour_sdk.components.parameters import find_problems
from parlour_sdk.components.tool import Tool, ToolContext, ToolError, to_outcome
from parlour_sdk.plugin.loaded_plugin import LoadedPlugin
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.tools import ToolInvocation, ToolOutcome
from parlour_sdk.wire import WireError

from .requests import COMPONENT_FAILURES, failure_message, parse_request, to_json_dict

logger = logging.getLogger("parlour.worker")


class ToolService:
    def __init__(self, plugin: LoadedPlugin, api: PluginAPI) -> None:
        self._plugin = plugin
        self._api = api

    async def call_tool(self, data: Any) -> dict[str, Any]:
        request = parse_request(ToolInvocation, data, "call_tool")
        tool = self._plugin.tools.get(request.tool_name)
        if tool is None:
            raise WireError("not_found", f"this plugin has no tool '{request.tool_name}'")
        schema = self._plugin.spec("Tool", request.tool_name).get("parameters", {})
        problems = find_problems(request.parameters, schema)
        if problems:
            return to_json_dict(_refusal(f"the tool was not called: {'; '.join(problems)}"))
        return to_json_dict(await self._call(tool, request))

    async def _call(self, tool: Tool, request: ToolInvocation) -> ToolOutcome:
        context = ToolContext(self._api, request.tool_name, request.run_id, request.conversation, request.actor)
        try:
            return to_outcome(await tool.call(request.parameters, context))
        except ToolError as error:
            return _refusal(str(error))
        except AgentAPIException as error:
            logger.warning("tool %s failed: %s", request.tool_name, error)
            return _refusal(error.error.message)
        except COMPONENT_FAILURES as error:
            logger.exception("tool %s failed in the plugin's code", request.tool_name)
            return _refusal(failure_message(f"the tool '{request.tool_name}'", error))


def _refusal(text: str) -> ToolOutcome:
    return ToolOutcome(content=[TextElement(text=text)], is_error=True)
