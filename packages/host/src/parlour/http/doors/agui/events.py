"""Writes the updates of a turn as AG-UI events."""

from collections.abc import AsyncGenerator, Iterator
from typing import Any

from ...errors import Problem
from ..answers import SEPARATOR, file_lines
from ..failures import problem_of_turn
from ..streaming import KEEP_ALIVE, UpdateStream, sse_data
from ..updates import ApprovalRequested, MessageEnd, ReasoningDelta, TextDelta, ToolUpdate, TurnEnd, TurnUpdate
from .inputs import AgUiRun

Json = dict[str, Any]
IGNORED = "parlour:ignored"
"""Custom event that names the fields of the request that have no effect."""
APPROVAL = "parlour:approval"
"""Custom event with the action that waits for a person's decision."""


def run_error(problem: Problem) -> Json:
    return {"type": "RUN_ERROR", "message": problem.message, "code": problem.code}


class EventWriter:
    """Writes one turn. The same turn has the same ids whenever it is written."""

    def __init__(self, seq: int, run: AgUiRun, address: str) -> None:
        self._seq = seq
        self._run = run
        self._address = address
        self._message_id = ""
        """Id of the message that is open; empty if none is."""
        self._has_text = False
        self._reasoning_id = ""
        self._reasonings = 0
        self._tools: set[str] = set()

    async def events(self, stream: UpdateStream) -> AsyncGenerator[bytes, None]:
        ids = {"threadId": self._run.thread_id, "runId": self._run.run_id}
        yield sse_data({"type": "RUN_STARTED", **ids})
        if self._run.ignored:
            yield sse_data(_custom(IGNORED, {"fields": list(self._run.ignored)}))
        async for update in stream.updates():
            if update is None:
                yield KEEP_ALIVE
                continue
            for event in self._events(update):
                yield sse_data(event)
            if isinstance(update, TurnEnd):
                end = run_error(problem_of_turn(update)) if update.failed else {"type": "RUN_FINISHED", **ids}
                yield sse_data(end)

    def _events(self, update: TurnUpdate) -> Iterator[Json]:
        match update:
            case ReasoningDelta():
                yield from self._reasoning(update.text)
                return
            case TextDelta():
                yield from self._end_reasoning()
                yield from self._begin_message(update.index)
                yield from self._text(update.text)
            case MessageEnd():
                yield from self._end_reasoning()
                links = file_lines(update.message, self._address)
                if links:
                    yield from self._begin_message(update.index)
                    yield from self._text(f"{SEPARATOR if self._has_text else ''}{links}")
                yield from self._end_message()
            case ToolUpdate():
                yield from self._end_reasoning()
                yield from self._tool(update)
            case ApprovalRequested():
                yield _custom(APPROVAL, dict(update.approval))
            case TurnEnd():
                yield from self._end_reasoning()
                yield from self._end_message()

    def _begin_message(self, index: int) -> Iterator[Json]:
        message_id = f"msg_{self._seq}_{index}"
        if message_id == self._message_id:
            return
        yield from self._end_message()
        self._message_id, self._has_text = message_id, False
        yield {"type": "TEXT_MESSAGE_START", "messageId": message_id, "role": "assistant"}

    def _text(self, text: str) -> Iterator[Json]:
        if text:
            self._has_text = True
            yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": self._message_id, "delta": text}

    def _end_message(self) -> Iterator[Json]:
        if self._message_id:
            yield {"type": "TEXT_MESSAGE_END", "messageId": self._message_id}
        self._message_id, self._has_text = "", False

    def _reasoning(self, text: str) -> Iterator[Json]:
        if not text:
            return
        if not self._reasoning_id:
            self._reasonings += 1
            self._reasoning_id = f"reasoning_{self._seq}_{self._reasonings}"
            yield {"type": "REASONING_START", "messageId": self._reasoning_id}
            yield {"type": "REASONING_MESSAGE_START", "messageId": self._reasoning_id, "role": "reasoning"}
        yield {"type": "REASONING_MESSAGE_CONTENT", "messageId": self._reasoning_id, "delta": text}

    def _end_reasoning(self) -> Iterator[Json]:
        if self._reasoning_id:
            yield {"type": "REASONING_MESSAGE_END", "messageId": self._reasoning_id}
            yield {"type": "REASONING_END", "messageId": self._reasoning_id}
        self._reasoning_id = ""

    def _tool(self, update: ToolUpdate) -> Iterator[Json]:
        """Yields the beginning of a call once, and its result. Arguments and results stay with the agent."""
        call_id = update.tool_call_id
        if call_id not in self._tools:
            self._tools.add(call_id)
            yield {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": update.tool_name}
            yield {"type": "TOOL_CALL_END", "toolCallId": call_id}
        if update.status != "started":
            result = {"messageId": f"tool_{self._seq}_{call_id}", "toolCallId": call_id, "content": update.status}
            yield {"type": "TOOL_CALL_RESULT", **result, "role": "tool"}


def _custom(name: str, value: Json) -> Json:
    return {"type": "CUSTOM", "name": name, "value": value}
