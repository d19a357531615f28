"""Serves tool calls: checks the parameters first, and converts the result into content for a model."""

import logging
from typing import Any

from parlour_sdk.api import AgentAPIException, PluginAPI
from parlour_sdk.components.parameters import problems
from parlour_sdk.components.tool import Tool, ToolContext, ToolError, outcome_of
from parlour_sdk.plugin.loaded import LoadedPlugin
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.tools import ToolInvocation, ToolOutcome
from parlour_sdk.wire import WireError

from .asking import FAILURES, asked, sentence, told

logger = logging.getLogger("parlour.worker")


class Tools:
    def __init__(self, loaded: LoadedPlugin, api: PluginAPI) -> None:
        self._loaded = loaded
        self._api = api

    async def call_tool(self, data: Any) -> dict[str, Any]:
        request = asked(ToolInvocation, data, "call_tool")
        tool = self._loaded.tools.get(request.tool_name)
        if tool is None:
            raise WireError("not_found", f"this plugin has no tool '{request.tool_name}'")
        schema = self._loaded.spec("Tool", request.tool_name).get("parameters", {})
        wrong = problems(request.parameters, schema)
        if wrong:
            return told(_refusal(f"the tool was not called: {'; '.join(wrong)}"))
        return told(await self._call(tool, request))

    async def _call(self, tool: Tool, request: ToolInvocation) -> ToolOutcome:
        context = ToolContext(self._api, request.tool_name, request.run_id, request.conversation, request.actor)
        try:
            return outcome_of(await tool.call(request.parameters, context))
        except ToolError as error:
            return _refusal(str(error))
        except AgentAPIException as error:
            logger.warning("tool %s failed: %s", request.tool_name, error)
            return _refusal(error.error.message)
        except FAILURES as error:
            logger.exception("tool %s failed in the plugin's code", request.tool_name)
            return _refusal(sentence(f"the tool '{request.tool_name}'", error))


def _refusal(text: str) -> ToolOutcome:
    return ToolOutcome(content=[TextElement(text=text)], is_error=True)
