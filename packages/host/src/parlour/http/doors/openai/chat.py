"""Writes turns as chat completions: whole, or in chunks."""

from collections.abc import AsyncGenerator
from typing import Any

from ...errors import Problem
from ..answers import SEPARATOR, answer_text, file_lines, token_usage
from ..failures import problem_of_turn
from ..streaming import KEEP_ALIVE, UpdateStream, sse_data
from ..turns import Turn
from ..updates import MessageEnd, TextDelta, TurnEnd
from .errors import error_body

_FINISH_REASONS = {"length": "length", "content_filter": "content_filter"}


class ChatWriter:
    """Writes one turn. The same turn has the same id whenever it is written."""

    def __init__(self, turn: Turn, model: str, created: int, address: str) -> None:
        self._head = {"id": f"chatcmpl-{turn.seq}", "created": created, "model": model}
        self._address = address

    def completion(self, end: TurnEnd) -> dict[str, Any]:
        """Returns the answer of a turn; raises Problem if it has none."""
        if end.failed:
            raise problem_of_turn(end)
        texts = [answer_text(end.messages), *(file_lines(message, self._address) for message in end.messages)]
        message = {"role": "assistant", "content": SEPARATOR.join(filter(None, texts)), "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": _finish_reason(end), "logprobs": None}
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": _usage(end)}

    async def chunks(self, stream: UpdateStream, include_usage: bool) -> AsyncGenerator[bytes, None]:
        """Yields the events of a streamed completion."""
        yield self._chunk({"role": "assistant", "content": ""})
        separated = True
        async for update in stream.updates():
            match update:
                case None:
                    yield KEEP_ALIVE
                case TextDelta():
                    yield self._chunk({"content": update.text if separated else SEPARATOR + update.text})
                    separated = True
                case MessageEnd():
                    separated = False
                    if links := file_lines(update.message, self._address):
                        yield self._chunk({"content": SEPARATOR + links})
                case TurnEnd() if update.failed:
                    yield sse_data(error_body(problem_of_turn(update)))
                    return
                case TurnEnd():
                    yield self._chunk({}, _finish_reason(update))
                    if include_usage:
                        yield sse_data({**self._head, **_CHUNK, "choices": [], "usage": _usage(update)})
        yield b"data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return sse_data({**self._head, **_CHUNK, "choices": [choice]})


_CHUNK = {"object": "chat.completion.chunk"}


def model_missing(name: str) -> Problem:
    message = f"the model '{name[:200]}' does not exist or is not published; GET /v1/models lists them"
    return Problem(404, "model_not_found", message, {"param": "model"})


def _finish_reason(end: TurnEnd) -> str:
    reason = end.run["status_reason"] if end.run is not None else ""
    return _FINISH_REASONS.get(reason, "stop")


def _usage(end: TurnEnd) -> dict[str, int]:
    prompt, completion = token_usage(end)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
