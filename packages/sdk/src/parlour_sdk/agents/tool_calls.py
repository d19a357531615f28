"""Loads the tools of a run and executes the tool calls of an answer concurrently.

Errors are returned to the model, which may find another way.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from parlour_sdk import results
from parlour_sdk.api import AgentAPIException, AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.messages import Message, ToolCall
from parlour_sdk.results import Result

from . import tool_repeats
from .call_rate import CallPacer
from .errors import ends_run
from .tool_arguments import InvalidArguments, parse_arguments
from .tool_outputs import ToolOutput, ToolOutputReader
from .tool_repeats import RepeatedCalls
from .tools import GrantedTool, Toolbox, ToolDetails, load_tools
from .user_message import UserMessage

CALL_TIMEOUT_SECONDS = 120.0
MAX_TELEMETRY_CHARACTERS = 2000
"""Characters of a tool's output that are kept in the telemetry."""


class RunTools:
    """The tools of one run: loads them and executes their calls, within the rate of calls that the Host allows."""

    def __init__(
        self,
        ctx: AgentRunContext,
        api: AgentRunAPI,
        call_timeout: float | None = None,
        details: ToolDetails | None = None,
    ) -> None:
        self._ctx = ctx
        self._api = api
        self._outputs = ToolOutputReader(ctx, api)
        self._call_timeout = call_timeout
        self._pace = CallPacer()
        self._repeats = RepeatedCalls()
        self._details = details

    async def load(self, own: Sequence[GrantedTool] = ()) -> Toolbox:
        """Loads the granted tools, the agent's own, and the tool that activates a skill if there are skills."""
        return await load_tools(self._ctx, self._api, self._pace, own, self._details)

    @property
    def must_load(self) -> bool:
        """True if the Host has to be asked for the details of a tool."""
        return self._details is None or any(self._details.get(each) is None for each in self._ctx.resources.tools)

    @property
    def must_stop(self) -> bool:
        """True if the model repeats a call without end, so that it has to answer without more tools."""
        return self._repeats.must_stop

    async def reserve(self, calls: int) -> None:
        """Reserves a number of calls to the Host; waits only if there were too many before."""
        await self._pace.reserve(calls)

    def batch(self, toolbox: Toolbox, calls: Sequence[ToolCall]) -> "ToolCallBatch":
        """Prepares the tool calls of one answer; nothing is called yet."""
        counted = [(call, self._repeats.count(call)) for call in calls]
        return ToolCallBatch(self._ctx, toolbox, self._outputs, counted, self._call_timeout or CALL_TIMEOUT_SECONDS)


class ToolCallBatch:
    """Executes tool calls. `messages` has the answers in the order of the calls, after all results were read."""

    def __init__(
        self,
        ctx: AgentRunContext,
        toolbox: Toolbox,
        outputs: ToolOutputReader,
        calls: Sequence[tuple[ToolCall, int]],
        call_timeout: float,
    ) -> None:
        self._ctx = ctx
        self._toolbox = toolbox
        self._outputs = outputs
        self._calls = [call for call, _ in calls]
        self._counts = {call.id: count for call, count in calls}
        self._call_timeout = call_timeout
        self.messages: list[Message] = []

    async def results(self) -> AsyncGenerator[Result, None]:
        """Executes all calls concurrently; yields their start, and each end as it comes."""
        for call in self._calls:
            yield results.tool_started(call.id, call.name, call.arguments)
        tasks = {asyncio.ensure_future(self._execute(call)): call for call in self._calls}
        try:
            pending = set(tasks)
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    yield _completed(tasks[task], task.result())
        finally:
            await _stop(tasks)
        self.messages = _messages([(call, task.result()) for task, call in tasks.items()])

    def refuse(self, sentence: str) -> list[Message]:
        """Returns error answers to all calls without executing them."""
        return _messages([(call, ToolOutput(sentence, is_error=True)) for call in self._calls])

    async def _execute(self, call: ToolCall) -> ToolOutput:
        count = self._counts[call.id]
        if count >= tool_repeats.STOP_AT:
            return ToolOutput(tool_repeats.REFUSAL.format(count=count - 1), is_error=True)
        output = await self._call(call)
        if count < tool_repeats.WARN_AT:
            return output
        return replace(output, text=f"{output.text}\n{tool_repeats.WARNING.format(count=count)}")

    async def _call(self, call: ToolCall) -> ToolOutput:
        offered = self._toolbox.find(call.name)
        if offered is None:
            return ToolOutput(self._toolbox.unknown(call.name), is_error=True)
        try:
            parameters = parse_arguments(call.arguments)
            async with asyncio.timeout(None if offered.needs_approval else self._call_timeout):
                tool_outcome = await offered.call(parameters)
            return await self._outputs.read(offered.definition.name, tool_outcome)
        except InvalidArguments as error:
            return ToolOutput(str(error), is_error=True)
        except TimeoutError:
            return ToolOutput(f"The tool did not answer within {self._call_timeout:g} seconds.", is_error=True)
        except AgentAPIException as error:
            if ends_run(error, self._ctx):
                raise
            return ToolOutput(f"The tool gave no result: {error.message}", is_error=True)


def _completed(call: ToolCall, output: ToolOutput) -> Result:
    excerpt = output.text[:MAX_TELEMETRY_CHARACTERS]
    return results.tool_completed(
        call.id, call.name, None if output.is_error else excerpt, excerpt if output.is_error else None
    )


def _messages(outputs: Sequence[tuple[ToolCall, ToolOutput]]) -> list[Message]:
    """Builds the tool messages. Providers accept only text from a tool, so pictures follow in a separate message."""
    results = [
        Message(
            role="tool",
            tool_call_id=call.id,
            name=call.name,
            content=f"Error: {output.text}" if output.is_error else output.text,
            metadata={"is_error": True} if output.is_error else None,
        )
        for call, output in outputs
    ]
    pictures = tuple(picture for _, output in outputs for picture in output.pictures)
    picture_messages = [UserMessage("The pictures that the tools gave:", pictures).to_message()] if pictures else []
    return [*results, *picture_messages]


async def _stop(tasks: dict["asyncio.Task[ToolOutput]", ToolCall]) -> None:
    """Cancels the remaining calls if the run is cancelled or one of the calls ends it."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
