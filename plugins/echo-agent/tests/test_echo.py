"""Tests the echo agent: it repeats the message word by word and adds messages that arrive while it holds."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.testing.simulation.loop import SeededLoop
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.plugin import load_runners, read_plugin
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.results import PAYLOADS
from parlour_sdk.results import Result

FOLDER = Path(__file__).parents[1]
RUNNER = load_runners(read_plugin(FOLDER))["default"]


class FakeHost:
    """Keeps state in a dictionary and delivers messages at their time."""

    def __init__(self, **said: float) -> None:
        self.state: dict[tuple[str, str], Any] = {}
        self.said = said
        self.pulls: list[float] = []

    async def call(self, action: str, data: Any, timeout: float | None = None) -> Any:
        match action:
            case "state_get":
                key = (data["scope"], data["key"])
                return {"found": key in self.state, "value": self.state.get(key)}
            case "state_set":
                self.state[data["scope"], data["key"]] = data["value"]
                return {}
            case "steering_pull":
                return {"items": [self._item(text) for text in self._due()]}
            case _:
                raise AssertionError(f"nobody told it to call {action}")

    def _due(self) -> list[str]:
        now = asyncio.get_running_loop().time()
        self.pulls.append(now)
        due = [text for text, time in self.said.items() if time <= now]
        for text in due:
            del self.said[text]
        return due

    def _item(self, text: str) -> dict[str, Any]:
        event = {"event_id": text, "event_type": "message.received", "source": "api"}
        return {"claimed_run_id": "run", "runner_id": "r", "event": event, "input": {"text": text}}


class Run:
    """Collects the yielded results and their times, on virtual time."""

    def __init__(self, given_input: dict[str, Any], config: dict[str, Any], host: FakeHost) -> None:
        self.results: list[Result] = []
        self.times: list[float] = []
        loop = SeededLoop(random.Random(0), 0.0)
        try:
            loop.run_until_complete(self._consume(context(given_input, config), AgentRunAPI(host, "run")))
        finally:
            loop.close()

    async def _consume(self, ctx: AgentRunContext, api: AgentRunAPI) -> None:
        async for result in RUNNER.run(ctx, api):
            PAYLOADS[result.type].model_validate(result.data)
            self.results.append(result)
            self.times.append(asyncio.get_running_loop().time())

    @property
    def deltas(self) -> list[str]:
        return [each.data["chunk"]["content"] for each in self.results if each.type == "message.delta"]

    @property
    def message(self) -> str:
        [whole] = [each.data["message"]["content"] for each in self.results if each.type == "message.completed"]
        return str(whole)


def context(given_input: dict[str, Any], config: dict[str, Any]) -> AgentRunContext:
    return AgentRunContext.model_validate(
        {
            "run_id": "run",
            "trigger": {"type": "message.received", "source": "api"},
            "event": {"event_id": "e", "event_type": "message.received", "source": "api"},
            "input": given_input,
            "delivery": {"surface": "api"},
            "resources": {},
            "context": {},
            "state": {},
            "runtime": {"trace_id": "run", "attempt": 1},
            "config": config,
        }
    )


def echo(text: str, host: FakeHost | None = None, **config: Any) -> Run:
    return Run({"text": text}, config, host or FakeHost())


def test_it_streams_word_by_word_then_sends_the_whole_message_and_ends() -> None:
    run = echo("one two three")
    assert run.deltas == ["one", " two", " three"]
    assert run.message == "one two three"
    assert run.results[-1] == Result("run.completed", {"finish_reason": "stop"})


@given(st.text() | st.text(alphabet=" \n\tab\u2003\u001c"))
def test_the_joined_deltas_are_the_final_message(text: str) -> None:
    run = echo(text)
    if text.strip():
        assert "".join(run.deltas) == run.message == text
    else:
        assert run.results == [Result("run.completed", {"finish_reason": "silent"})]


@pytest.mark.parametrize(
    "given_input", [{"text": ""}, {"text": " \n"}, {}, {"contents": [{"type": "image", "url": "u"}]}]
)
def test_an_input_without_words_is_answered_with_silence(given_input: dict[str, Any]) -> None:
    assert Run(given_input, {}, FakeHost()).results == [Result("run.completed", {"finish_reason": "silent"})]


def test_contents_are_read_when_there_is_no_text() -> None:
    contents = [{"type": "text", "text": "from "}, {"type": "text", "text": "parts"}]
    assert Run({"contents": contents}, {}, FakeHost()).message == "from parts"


def test_the_delay_passes_between_words() -> None:
    run = echo("one two three", delay_ms=500)
    assert run.times[:3] == pytest.approx([0, 0.5, 1.0])


def test_without_a_delay_no_time_passes() -> None:
    assert echo("one two three").times[-1] == 0


def test_messages_during_the_hold_are_added_to_the_answer() -> None:
    host = FakeHost(second=0.3, third=0.6)
    run = echo("first", host, hold_ms=1000)
    assert run.message == "first\nsecond\nthird"
    assert "".join(run.deltas) == run.message
    assert run.times[-1] == pytest.approx(1.0, abs=0.01)


def test_a_message_in_the_last_moment_of_the_hold_is_added() -> None:
    assert echo("first", FakeHost(last=0.999), hold_ms=1000).message == "first\nlast"


def test_a_message_after_the_hold_is_left_to_the_next_run() -> None:
    assert echo("first", FakeHost(late=5.0), hold_ms=1000).message == "first"


def test_it_pulls_nothing_when_it_does_not_hold() -> None:
    host = FakeHost(second=0.0)
    echo("first", host)
    assert host.pulls == []


def test_it_counts_the_messages_of_its_conversation_if_it_is_configured_to_remember() -> None:
    host = FakeHost()
    assert [echo("hi", host, remember=True).message for _ in range(3)] == ["1 hi", "2 hi", "3 hi"]
    assert list(host.state) == [("conversation", "echo.seen")]


def test_the_form_has_the_settings_that_the_runner_reads() -> None:
    manifest = read_plugin(FOLDER).runner_manifests()["default"]
    assert [item["name"] for item in manifest["config_schema"]] == ["delay_ms", "hold_ms", "remember"]
