"""Prints one run while it is active: deltas as they arrive, each message once, everything else as notes."""

import json
from typing import Any

from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.results import AgentRunResult, MessageCompleted, MessageDelta
from parlour_sdk.testing import FakeRun

from .terminal import Screen

MAX_NOTE_CHARACTERS = 200


class RunPrinter:
    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._fragments = ""
        self._messages = 0

    def print_result(self, result: AgentRunResult) -> None:
        data = result.data
        match result.type:
            case "message.delta":
                self._stream(plain_text(MessageDelta.model_validate(data).chunk.content))
            case "message.completed":
                self._message(MessageCompleted.model_validate(data).message)
            case "tool.call.started":
                self._screen.note(f"tool {data['tool_name']} {_short(data.get('parameters'))}")
            case "tool.call.completed":
                self._screen.note(f"tool {data['tool_name']}: {data.get('error') or _short(data.get('result'))}")
            case "artifact.created":
                self._screen.note(f"{data['artifact_type']} {data.get('name') or ''}".rstrip())
            case "action.requested":
                self._screen.note(f"asks for {data['action']} {_short(data.get('target'))}")

    def print_end(self, run: FakeRun) -> None:
        """Prints how the run ended, and the message that the Host makes of leftover deltas."""
        for message in run.messages[self._messages :]:
            self._message(message)
        for warning in run.warnings:
            self._screen.note(f"passed over: {warning}")
        if run.silent:
            self._screen.note("it chose to say nothing")
        elif run.status == "cancelled":
            self._screen.note("cancelled")
        elif run.status != "completed":
            self._screen.note(f"failed ({run.code}): {run.error}")

    def _stream(self, text: str) -> None:
        self._fragments += text
        self._screen.stream(text)

    def _message(self, message: Message) -> None:
        text = plain_text(message.content)
        if text != self._fragments:
            self._screen.line(text)
        elif text:
            self._screen.stream("" if text.endswith("\n") else "\n")
        self._fragments = ""
        self._messages += 1


def _short(value: Any) -> str:
    text = "" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_NOTE_CHARACTERS else f"{text[: MAX_NOTE_CHARACTERS - 1]}…"
