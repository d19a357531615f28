"""Remembers the tool calls of a turn: they are kept, shortened, in the metadata of its answer, and read with it."""

import json
from collections.abc import Sequence
from typing import Any

from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.messages import Message, ToolCall

from .cited_passages import remembered_passages
from .excerpts import head_and_tail

TOOLS_KEY = "tools"
"""Key in the metadata of an answer: the calls before it, each with its result."""
MAX_REMEMBERED_CALLS = 20
MAX_RESULT_CHARACTERS = 2000
MAX_ARGUMENTS_CHARACTERS = 1000


class ToolMemory:
    """Collects the calls since the last answer of a run."""

    def __init__(self) -> None:
        self._calls: list[dict[str, Any]] = []

    def add(self, calls: Sequence[ToolCall], messages: Sequence[Message]) -> None:
        """Adds the calls of one round, with the messages that answer them."""
        answers = {each.tool_call_id: each for each in messages if each.role == "tool"}
        round_number = self._calls[-1]["round"] + 1 if self._calls else 0
        for call in calls:
            if (answer := answers.get(call.id)) is not None:
                self._calls.append({"round": round_number, **_record(call, answer)})

    def take(self) -> list[dict[str, Any]]:
        """Returns the newest calls for the metadata of an answer, and forgets them."""
        calls, self._calls = self._calls[-MAX_REMEMBERED_CALLS:], []
        return calls


def remembered_messages(metadata: Any) -> list[Message]:
    """Returns the cited passages, calls and results in an answer's metadata as messages, without malformed ones."""
    calls = metadata.get(TOOLS_KEY) if isinstance(metadata, dict) else None
    rounds: dict[int, list[tuple[ToolCall, Message]]] = {}
    for each in calls if isinstance(calls, list) else ():
        match each:
            case {"round": int(number), "id": str(call_id), "name": str(name), "result": str(result)}:
                call = ToolCall(id=call_id, name=name, arguments=each.get("arguments"))
                failed = {"is_error": True} if each.get("is_error") else None
                answer = Message(role="tool", tool_call_id=call_id, name=name, content=result, metadata=failed)
                rounds.setdefault(number, []).append((call, answer))
    calls_and_results = [
        message
        for pairs in rounds.values()
        for message in (
            Message(role="assistant", content="", tool_calls=[call for call, _ in pairs]),
            *(answer for _, answer in pairs),
        )
    ]
    return [*remembered_passages(metadata), *calls_and_results]


def without_tool_messages(messages: Sequence[Message]) -> list[Message]:
    """Returns the messages for a model that gets no tools: earlier calls and their results become texts."""
    plain: list[Message] = []
    for message in messages:
        if message.role == "tool":
            text = f"[result of {message.name or 'a tool'}: {plain_text(message.content)}]"
            plain.append(Message(role="user", content=text))
        elif message.tool_calls:
            names = ", ".join(call.name for call in message.tool_calls)
            said = f"{plain_text(message.content)}\n" if message.content else ""
            plain.append(Message(role="assistant", content=f"{said}[called {names}]"))
        else:
            plain.append(message)
    return plain


def _record(call: ToolCall, answer: Message) -> dict[str, Any]:
    arguments = call.arguments
    encoded = json.dumps(arguments, ensure_ascii=False, default=str)
    if len(encoded) > MAX_ARGUMENTS_CHARACTERS:
        arguments = {"shortened": head_and_tail(encoded, MAX_ARGUMENTS_CHARACTERS)}
    failed = (answer.metadata or {}).get("is_error") is True
    result = head_and_tail(plain_text(answer.content), MAX_RESULT_CHARACTERS)
    return {
        "id": call.id,
        "name": call.name,
        "arguments": arguments,
        "result": result,
        **({"is_error": True} if failed else {}),
    }
