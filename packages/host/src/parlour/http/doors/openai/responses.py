"""Writes turns as responses: whole, or as events that a client can read again from any of them on.

The number of an event depends on the turn alone and not on how its text was cut into parts while it was streamed: an
event counts one, a part of a text as many as it has characters.
"""

from collections.abc import AsyncGenerator, Mapping
from typing import Any

from ..answers import file_lines, token_usage
from ..failures import problem_of_turn
from ..frames import message_text
from ..streaming import KEEP_ALIVE, UpdateStream, sse_data
from ..turns import Turn
from ..updates import MessageEnd, TextDelta, TurnEnd
from .errors import error_body

Json = dict[str, Any]


def response_id(seq: int) -> str:
    return f"resp_{seq}"


def parse_response_id(name: str) -> int:
    """Returns the number of the event; 0 if this is no id of a response."""
    digits = name.removeprefix("resp_")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else 0


class ResponseWriter:
    """Writes one turn as a response."""

    def __init__(self, turn: Turn, model: str, created: int, address: str, previous: str | None = None) -> None:
        self._seq = turn.seq
        self._address = address
        self._base: Json = {
            "id": response_id(turn.seq),
            "object": "response",
            "created_at": created,
            "model": model,
            "previous_response_id": previous,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": False,
            "temperature": None,
            "top_p": None,
            "tool_choice": "none",
            "tools": [],
            "text": {"format": {"type": "text"}},
            "incomplete_details": None,
            "store": True,
        }

    def unfinished(self) -> Json:
        return {**self._base, "status": "in_progress", "error": None, "output": [], "usage": None}

    def finished(self, end: TurnEnd) -> Json:
        """Returns the response of a turn that has ended, also of one that failed."""
        output = [self._item(index, message) for index, message in enumerate(end.messages)]
        if not end.failed:
            return {**self._base, "status": "completed", "error": None, "output": output, "usage": _usage(end)}
        if end.code == "cancelled":
            return {**self._base, "status": "cancelled", "error": None, "output": output, "usage": _usage(end)}
        error = error_body(problem_of_turn(end))["error"]
        failure = {"code": error["code"], "message": error["message"]}
        return {**self._base, "status": "failed", "error": failure, "output": output, "usage": _usage(end)}

    async def events(self, stream: UpdateStream, after: int) -> AsyncGenerator[bytes, None]:
        """Yields the events of the turn whose number is above `after`; -1 for all."""
        numbers = _EventNumbers(after)
        for kind in ("response.created", "response.in_progress"):
            yield numbers.event(kind, {"response": self.unfinished()})
        item = -1
        text = ""
        async for update in stream.updates():
            match update:
                case None:
                    yield KEEP_ALIVE
                case TextDelta():
                    if update.index != item:
                        if item >= 0 and text:
                            yield self._item_end(numbers, item, text)
                        item, text = update.index, ""
                        yield self._item_begin(numbers, item)
                    text += update.text
                    yield numbers.delta(self._place(item), update.text)
                case MessageEnd():
                    if update.index != item:
                        item = update.index
                        yield self._item_begin(numbers, item)
                    links = file_lines(update.message, self._address)
                    whole = "\n\n".join(filter(None, (message_text(update.message), links)))
                    if len(whole) > len(text):
                        yield numbers.delta(self._place(item), whole[len(text) :])
                    yield self._item_end(numbers, item, whole)
                    text = ""
                case TurnEnd():
                    response = self.finished(update)
                    kind = {"completed": "response.completed", "cancelled": "response.incomplete"}.get(
                        response["status"], "response.failed"
                    )
                    if response["status"] == "cancelled":
                        response = {**response, "status": "incomplete", "incomplete_details": {"reason": "cancelled"}}
                    yield numbers.event(kind, {"response": response})

    def _place(self, index: int) -> Json:
        return {"item_id": f"msg_{self._seq}_{index}", "output_index": index, "content_index": 0}

    def _item_begin(self, numbers: "_EventNumbers", index: int) -> bytes:
        item = {"id": f"msg_{self._seq}_{index}", "type": "message", "role": "assistant", "content": []}
        added = {"output_index": index, "item": {**item, "status": "in_progress"}}
        part = {**self._place(index), "part": _part("")}
        return numbers.event("response.output_item.added", added) + numbers.event("response.content_part.added", part)

    def _item_end(self, numbers: "_EventNumbers", index: int, text: str) -> bytes:
        place = self._place(index)
        item = self._output_item(index, text)
        return (
            numbers.event("response.output_text.done", {**place, "text": text, "logprobs": []})
            + numbers.event("response.content_part.done", {**place, "part": _part(text)})
            + numbers.event("response.output_item.done", {"output_index": index, "item": item})
        )

    def _item(self, index: int, message: Mapping[str, Any]) -> Json:
        links = file_lines(message, self._address)
        return self._output_item(index, "\n\n".join(filter(None, (message_text(message), links))))

    def _output_item(self, index: int, text: str) -> Json:
        return {
            "id": f"msg_{self._seq}_{index}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [_part(text)],
        }


class _EventNumbers:
    """Numbers the events of a response, and leaves out those that the client has."""

    def __init__(self, after: int) -> None:
        self._after = after
        self._next = 0

    def event(self, kind: str, fields: Json) -> bytes:
        number, self._next = self._next, self._next + 1
        if number <= self._after:
            return b""
        return sse_data({"type": kind, "sequence_number": number, **fields}, kind)

    def delta(self, place: Json, text: str) -> bytes:
        """Returns the part of a text that the client lacks. The number of a part is that of its last character."""
        missing = text[max(0, self._after + 1 - self._next) :]
        self._next += len(text)
        if not missing:
            return b""
        kind = "response.output_text.delta"
        fields = {"delta": missing, "logprobs": []}
        return sse_data({"type": kind, "sequence_number": self._next - 1, **place, **fields}, kind)


def _part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _usage(end: TurnEnd) -> Json:
    given, made = token_usage(end)
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + made,
    }
