"""Serves tools that are functions of a test, or constant answers."""

import inspect
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from parlour_sdk.components.tool import ToolError, to_outcome
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.protocol.listing import ListTools, ToolList
from parlour_sdk.protocol.resources import ToolResource
from parlour_sdk.protocol.tools import CallTool, GetTool, ToolDetail, ToolOutcome, ToolSource

from ...values import dataclass
from ..gate import Handler
from ..script import Failure
from ..sessions import Caller


@dataclass(frozen=True, slots=True)
class FakeTool:
    """A tool and its description. `answer` is a function that receives the parameters by name, or a constant answer."""

    answer: Any = ""
    description: str | None = None
    parameters_schema: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    read_only: bool = False
    source: ToolSource = "native"


class Tools:
    def __init__(self, tools: Mapping[str, Any]) -> None:
        self._tools: dict[str, FakeTool] = {}
        for name, tool in tools.items():
            self.add(name, tool)

    def add(self, name: str, tool: Any) -> None:
        if not isinstance(tool, FakeTool):
            tool = FakeTool(tool, inspect.getdoc(tool) if inspect.isroutine(tool) else None, _schema(tool))
        self._tools[name] = tool

    def has(self, name: str) -> bool:
        return name in self._tools

    def handlers(self) -> dict[str, Handler]:
        return {"get_tool_detail": self._detail, "call_tool": self._call, "list_tools": self._list}

    def resources(self) -> list[ToolResource]:
        return [
            ToolResource(tool_name=name, description=tool.description, source=tool.source)
            for name, tool in self._tools.items()
        ]

    async def _detail(self, caller: Caller, request: GetTool) -> ToolDetail:
        return self._to_detail(request.tool_name)

    async def _list(self, caller: Caller, request: ListTools) -> ToolList:
        return ToolList(tools=[self._to_detail(name) for name in self._tools])

    async def _call(self, caller: Caller, request: CallTool) -> ToolOutcome:
        tool = self._require_tool(request.tool_name)
        if caller.session is not None:
            caller.session.add_usage(tool_calls=1)
        try:
            return to_outcome(await _answer(tool.answer, request))
        except ToolError as error:
            return _failed(str(error))
        except (AgentAPIException, AssertionError):
            raise
        except Exception as error:  # noqa: BLE001 - the test's function fails like a plugin's tool
            if caller.session is not None:
                caller.session.warnings.append(f"the tool '{request.tool_name}' raised {error!r}")
            return _failed(f"the tool '{request.tool_name}' failed with {type(error).__name__}")

    def _to_detail(self, name: str) -> ToolDetail:
        tool = self._require_tool(name)
        return ToolDetail(
            tool_name=name,
            description=tool.description,
            parameters_schema=tool.parameters_schema,
            read_only=tool.read_only,
            source=tool.source,
        )

    def _require_tool(self, name: str) -> FakeTool:
        if name not in self._tools:
            raise Failure("not_found", f"there is no tool '{name}'").exception()
        return self._tools[name]


async def _answer(answer: Any, request: CallTool) -> Any:
    if isinstance(answer, Failure):
        raise answer.exception()
    if not callable(answer):
        return answer
    result = answer(**request.parameters)
    return await result if inspect.isawaitable(result) else result


def _schema(tool: Any) -> dict[str, Any]:
    """Builds a schema with the parameter names of a function; a test that needs more passes a FakeTool."""
    if not inspect.isroutine(tool):
        return {"type": "object", "properties": {}}
    parameters = inspect.signature(tool).parameters.values()
    required = [each.name for each in parameters if each.default is inspect.Parameter.empty]
    return {"type": "object", "properties": {each.name: {} for each in parameters}, "required": required}


def _failed(text: str) -> ToolOutcome:
    return ToolOutcome(content=[TextElement(text=text)], is_error=True)
