"""Reads what the probe plugin recorded in its process, and lets it make calls."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from .driver import Json, holds

PROBE_PLUGIN = "parlour/probe"
WAIT_SECONDS = 30.0
POLL_SECONDS = 0.02
Value = TypeVar("Value")


async def eventually(look: Callable[[], Value], what: str, seconds: float = WAIT_SECONDS) -> Value:
    """Returns the value of `look` as soon as it is true. Another process does not report its changes, so it polls."""
    until = time.monotonic() + seconds
    while not (seen := await asyncio.to_thread(look)):
        assert time.monotonic() < until, f"not within {seconds:g} s: {what}"
        await asyncio.sleep(POLL_SECONDS)
    return seen


@dataclass(frozen=True)
class ApiCall:
    """A call of a plugin: the row that it shows, the method of the SDK, and the known part of the answer."""

    row: str
    method: str
    arguments: Json = field(default_factory=dict)
    expected: Any = None


def api_call(row: str, method: str, expected: Any = None, /, **arguments: Any) -> ApiCall:
    """Returns a call of a method with these arguments."""
    return ApiCall(row, method, arguments, expected)


def action_call(name: str, expected: Any = None, /, **params: Any) -> ApiCall:
    """Returns a call of one of the platform's own actions."""
    return ApiCall(name, "platform.call", {"action": name, "params": params}, expected)


class RecordFile:
    """Reads the lines that were added to a file since the last time."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._position = 0
        self.records: list[Json] = []

    def refresh(self) -> list[Json]:
        """Returns all records so far."""
        if self._file.exists():
            with self._file.open("rb") as file:
                file.seek(self._position)
                added = file.read()
            whole = added[: added.rfind(b"\n") + 1]
            self._position += len(whole)
            self.records += [json.loads(line) for line in whole.splitlines()]
        return self.records


class Probe:
    def __init__(self, folder: Path, bot_id: str, say: Callable[[str], Awaitable[None]]) -> None:
        self.bot_id = bot_id
        self.shown: set[str] = set()
        """Rows whose calls were answered as expected."""
        self._say = say
        self._events = RecordFile(folder / "events.jsonl")
        self._answers = RecordFile(folder / "answers.jsonl")

    def events(self) -> list[Json]:
        """Returns the bot's events that the plugin received, without repeats."""
        own = [each for each in self._events.refresh() if each.get("bot_id") == self.bot_id]
        return list({each["event_id"]: each for each in own}.values())

    async def calls(self, *calls: ApiCall) -> list[Any]:
        """Makes the calls in their order and returns their answers."""
        before = len(self._answers.refresh())
        wanted = [{"api": each.method, "arguments": self._arguments(each)} for each in calls]
        await self._say(json.dumps(wanted))
        outcomes = await eventually(lambda: self._complete(before, len(calls)), "the probe made its calls")
        for call, outcome in zip(calls, outcomes, strict=True):
            assert "answer" in outcome, (call.row, outcome)
            assert holds(outcome["answer"], call.expected), (call.row, outcome)
            self.shown.add(call.row)
        return [outcome["answer"] for outcome in outcomes]

    def _arguments(self, call: ApiCall) -> Json:
        return call.arguments if call.method == "reply" else {"bot_id": self.bot_id, **call.arguments}

    def _complete(self, before: int, number: int) -> list[Json]:
        answers = self._answers.refresh()[before:]
        return answers if len(answers) >= number else []
